package interchange

import (
	"fmt"
	"io"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// A Page holds the metadata at the top of a Markdown document. Markdown and HTML in the texts are escaped; control
// characters are the caller's business.
type Page struct {
	Title, ID, Team    string
	CreatedAt, Updated string
	Task               string // of the team; empty: none
}

// Markdown writes what precedes the messages of a Markdown document.
func (p Page) Markdown(w io.Writer) error {
	task := ""
	if p.Task != "" {
		task = fmt.Sprintf("- task: %s\n", markdown.Escape(p.Task))
	}
	_, err := fmt.Fprintf(w, "# %s\n\n- session: `%s`\n- team: %s\n- created: %s\n- last message: %s\n%s",
		markdown.Escape(p.Title), p.ID, markdown.Escape(p.Team), p.CreatedAt, p.Updated, task)
	return err
}

// Markdown writes a message of a Markdown document. It is Markdown already and is copied, except that HTML in it
// becomes text.
func Markdown(w io.Writer, entry projection.Entry) error {
	_, err := fmt.Fprintf(w, "\n## %s\n\n_%s_\n\n%s\n",
		markdown.Escape(speakerName(entry)), entry.Timestamp, escapeHTML(entry.Content))
	return err
}

func speakerName(e projection.Entry) string {
	if e.Partial {
		return e.Speaker.DisplayName + " (unfinished)"
	}
	return e.Speaker.DisplayName
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
