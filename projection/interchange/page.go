package interchange

import (
	"fmt"
	"html"
	"io"
	"iter"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
)

// Page is what a page says of a session beside its messages. Its texts, and those
// of the messages, are taken as they are: whoever fills it in makes them harmless
// to a terminal; what would act in a page is written so that it does not.
type Page struct {
	Title, ID, Team    string
	CreatedAt, Updated string
	Task               string // "": none
}

// Markdown writes a session as a page of Markdown. What agents and people wrote
// is Markdown, too, and stays it; tags of HTML in it are text.
func Markdown(w io.Writer, p Page, entries iter.Seq2[projection.Entry, error]) error {
	fmt.Fprintf(w, "# %s\n\n", inline(p.Title))
	fmt.Fprintf(w, "- session: `%s`\n- team: %s\n- created: %s\n- last message: %s\n", p.ID, inline(p.Team), p.CreatedAt, p.Updated)
	if p.Task != "" {
		fmt.Fprintf(w, "- task: %s\n", inline(p.Task))
	}
	for entry, err := range entries {
		if err != nil {
			return err
		}
		_, err := fmt.Fprintf(w, "\n## %s\n\n_%s_\n\n%s\n", inline(speakerName(entry)), entry.Timestamp, block(entry.Content))
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

// inline is text on one line in which nothing is Markdown.
func inline(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if strings.ContainsRune("\\`*_{}[]<>()#+!|&~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// block is Markdown in which no tag of HTML is one, and whose last block of code
// ends. Code between fences is left alone, but only between those that any reader
// takes for fences: at the beginning of a line.
func block(text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		mark := fenceOf(line)
		switch {
		case fence == "" && mark != "" && !(mark[0] == '`' && strings.Contains(line[len(mark):], "`")):
			fence = mark
		case fence == "":
			line = strings.ReplaceAll(line, "<", "&lt;")
		case strings.HasPrefix(mark, fence) && strings.TrimSpace(line[len(mark):]) == "":
			fence = ""
		}
		b.WriteString(line)
	}
	if fence != "" {
		b.WriteString("\n" + fence)
	}
	return b.String()
}

// fenceOf is the run of backticks or tildes that a line begins with, if it is
// long enough for a fence.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		if run := line[:len(line)-len(strings.TrimLeft(line, mark))]; len(run) >= 3 {
			return run
		}
	}
	return ""
}

// HTML writes a session as a page that needs nothing else: no script, no file.
func HTML(w io.Writer, p Page, entries iter.Seq2[projection.Entry, error]) error {
	e := html.EscapeString
	fmt.Fprintf(w, pageHead, e(p.Title), e(p.Title), e(p.ID), e(p.Team), e(p.CreatedAt), e(p.Updated))
	if p.Task != "" {
		fmt.Fprintf(w, "<p class=\"task\">Task: %s</p>\n", e(p.Task))
	}
	for entry, err := range entries {
		if err != nil {
			return err
		}
		class := "ai"
		if entry.Speaker.Type == projection.TypeHuman {
			class = "human"
		}
		_, err := fmt.Fprintf(w, "<article class=\"%s\" id=\"event-%d\">\n<h2>%s <time>%s</time></h2>\n<div>%s</div>\n</article>\n",
			class, entry.Seq, e(speakerName(entry)), e(entry.Timestamp), e(entry.Content))
		if err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "</body>\n</html>\n")
	return err
}

// The policy allows the style of the page and nothing else, should something in
// it be taken for more than text.
const pageHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
body { max-width: 48rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; color: #222; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1rem; margin: 0; } time, dl { color: #666; font-weight: normal; font-size: .85rem; }
dt { float: left; clear: left; width: 7rem; } dd { margin: 0 0 0 7rem; }
article { margin: 1rem 0; padding: .5rem 1rem; border-left: .25rem solid #ccc; } article.human { border-color: #36c; }
article div { white-space: pre-wrap; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #111; } article { border-color: #555; } }
</style>
</head>
<body>
<h1>%s</h1>
<dl><dt>session</dt><dd>%s</dd><dt>team</dt><dd>%s</dd><dt>created</dt><dd>%s</dd><dt>last message</dt><dd>%s</dd></dl>
`
