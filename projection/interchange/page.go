package interchange

import (
	"fmt"
	"html"
	"io"
	"iter"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// A Page holds the metadata at the top of an exported page. The functions that write a page escape Markdown
// and HTML; control characters in the texts are the caller's business.
type Page struct {
	Title, ID, Team    string
	CreatedAt, Updated string
	Task               string // of the team; empty: none
}

// Markdown writes a session as a Markdown document. Messages are Markdown already and are copied, except that
// HTML in them becomes text.
func Markdown(w io.Writer, p Page, entries iter.Seq2[projection.Entry, error]) error {
	task := ""
	if p.Task != "" {
		task = fmt.Sprintf("- task: %s\n", escapeMarkdown(p.Task))
	}
	_, err := fmt.Fprintf(w, "# %s\n\n- session: `%s`\n- team: %s\n- created: %s\n- last message: %s\n%s",
		escapeMarkdown(p.Title), p.ID, escapeMarkdown(p.Team), p.CreatedAt, p.Updated, task)
	if err != nil {
		return err
	}
	for entry, err := range entries {
		if err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "\n## %s\n\n_%s_\n\n%s\n",
			escapeMarkdown(speakerName(entry)), entry.Timestamp, escapeHTML(entry.Content))
		if err != nil {
			return err
		}
	}
	return nil
}

func speakerName(e projection.Entry) string {
	if e.Partial {
		return e.Speaker.DisplayName + " (unfinished)"
	}
	return e.Speaker.DisplayName
}

// escapeMarkdown returns text on one line and with every Markdown character escaped.
func escapeMarkdown(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if strings.ContainsRune("\\`*_{}[]<>()#+!|&~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// escapeHTML returns a message without HTML tags: '<' is an entity. Only fenced code at the beginning of a line
// is left as it is, since all Markdown readers agree on where it is. If the last fence is open, it is closed,
// so that the page does not continue in it.
func escapeHTML(message string) string {
	if !strings.ContainsAny(message, "<`~") {
		return message
	}
	message += "\n" // ends a closing fence in the last line
	var b strings.Builder
	done := 0
	open := ""
	for _, block := range markdown.Parse(message).Blocks {
		if block.Fence == "" || block.Start > 0 && message[block.Start-1] != '\n' {
			continue
		}
		b.WriteString(strings.ReplaceAll(message[done:block.Start], "<", "&lt;"))
		b.WriteString(message[block.Start:block.End])
		done = block.End
		if block.Open {
			open = block.Fence
		}
	}
	b.WriteString(strings.ReplaceAll(message[done:], "<", "&lt;"))
	if open != "" {
		return b.String() + open
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// HTML writes a session as a self-contained HTML page without scripts.
func HTML(w io.Writer, p Page, entries iter.Seq2[projection.Entry, error]) error {
	e := html.EscapeString
	task := ""
	if p.Task != "" {
		task = fmt.Sprintf("<p class=\"task\">Task: %s</p>\n", e(p.Task))
	}
	_, err := fmt.Fprintf(w, pageHead,
		e(p.Title), e(p.Title), e(p.ID), e(p.Team), e(p.CreatedAt), e(p.Updated), task)
	if err != nil {
		return err
	}
	for entry, err := range entries {
		if err != nil {
			return err
		}
		class := "ai"
		if entry.Speaker.Type == projection.TypeHuman {
			class = "human"
		}
		_, err := fmt.Fprintf(w, pageArticle,
			class, entry.Seq, e(speakerName(entry)), e(entry.Timestamp), e(entry.Content))
		if err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, "</body>\n</html>\n")
	return err
}

// pageHead is the beginning of a page. Its content security policy allows the inline style and nothing else, in
// case text is mistaken for markup.
const pageHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
body { max-width: 48rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
body { color: #222; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1rem; margin: 0; }
time, dl { color: #666; font-weight: normal; font-size: .85rem; }
dt { float: left; clear: left; width: 7rem; } dd { margin: 0 0 0 7rem; }
article { margin: 1rem 0; padding: .5rem 1rem; border-left: .25rem solid #ccc; } article.human { border-color: #36c; }
article div { white-space: pre-wrap; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #111; } article { border-color: #555; } }
</style>
</head>
<body>
<h1>%s</h1>
<dl><dt>session</dt><dd>%s</dd><dt>team</dt><dd>%s</dd>
<dt>created</dt><dd>%s</dd><dt>last message</dt><dd>%s</dd></dl>
%s`

const pageArticle = `<article class="%s" id="event-%d">
<h2>%s <time>%s</time></h2>
<div>%s</div>
</article>
`
