package guide

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/usage"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
)

// Command prints a page of the manual, the list of topics, or where words are in the manual.
type Command struct {
	Words  []string `arg:"" optional:"" name:"topic" help:"A topic, or words to find (default: list the topics)."`
	Man    string   `placeholder:"DIR" complete:"dir" help:"Write all pages as man pages into this directory."`
	Output string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (Command) Help() string {
	return `Examples:
  agent-chatter guide
  agent-chatter guide resume
  agent-chatter guide set back files
  agent-chatter guide scripting | less
  agent-chatter guide --man ~/.local/share/man`
}

// topicJSON is a topic in JSON output.
type topicJSON struct {
	Topic   string `json:"topic"`
	Summary string `json:"summary"`
	Text    string `json:"text,omitempty"` // Markdown; "" in the list of topics
}

// Run implements the command.
func (cmd *Command) Run(a *app.App, grammar usage.Grammar) error {
	switch {
	case cmd.Man != "":
		return cmd.writeMan(a, grammar())
	case len(cmd.Words) == 0:
		return cmd.list(a)
	}
	topic, nearest, ok := find(strings.Join(cmd.Words, " "))
	switch {
	case !ok:
		return cmd.search(a, nearest)
	case cmd.Output == "json":
		return app.WriteJSON(a.Stdout, topicJSON{topic.Name, topic.Summary, topic.text()})
	}
	if style := view.OutputStyle(a); !style.Plain {
		return a.Page(func(w io.Writer) error { return printPage(w, topic.page(), style) })
	}
	_, err := fmt.Fprint(a.Stdout, topic.text())
	return err
}

// maxColumns is the width of a page on a wider terminal: longer lines are hard to read.
const maxColumns = 100

// printPage prints Markdown on a terminal.
func printPage(w io.Writer, page string, style view.Style) error {
	style.Width = min(style.Width, maxColumns+1)
	for _, line := range view.Render(view.Page(page), style) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// listPage is the list of topics as Markdown. What to type is below the table, where it is seen.
func listPage() string {
	page := "| topic | contents |\n|---|---|\n"
	for _, topic := range Topics() {
		page += fmt.Sprintf("| **%s** | %s |\n", topic.Name, topic.Summary)
	}
	return page + "\n`agent-chatter guide TOPIC` prints a page, and other words the lines that have them.\n"
}

func (cmd *Command) list(a *app.App) error {
	if style := view.OutputStyle(a); cmd.Output == "text" && !style.Plain {
		return a.Page(func(w io.Writer) error { return printPage(w, listPage(), style) })
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
	for _, topic := range Topics() {
		var err error
		if cmd.Output == "json" {
			err = app.WriteJSON(a.Stdout, topicJSON{Topic: topic.Name, Summary: topic.Summary})
		} else {
			_, err = fmt.Fprintf(w, "%s\t%s\n", topic.Name, topic.Summary)
		}
		if err != nil {
			return err
		}
	}
	return w.Flush()
}
