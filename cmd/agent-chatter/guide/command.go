package guide

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
)

// Command prints a page of the manual, or the list of topics.
type Command struct {
	Topic  string `arg:"" optional:"" complete:"topic" help:"The topic (default: list the topics)."`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (Command) Help() string {
	return `Examples:
  agent-chatter guide
  agent-chatter guide resume
  agent-chatter guide scripting | less`
}

// topicJSON is a topic in JSON output.
type topicJSON struct {
	Topic   string `json:"topic"`
	Summary string `json:"summary"`
	Text    string `json:"text,omitempty"` // Markdown; "" in the list of topics
}

// Run implements the command.
func (cmd *Command) Run(a *app.App) error {
	if cmd.Topic == "" {
		return cmd.list(a)
	}
	topic, nearest, ok := find(cmd.Topic)
	switch {
	case !ok:
		return app.Exit(app.ExitNotFound, unknownText(cmd.Topic, nearest, having(cmd.Topic)))
	case cmd.Output == "json":
		return app.WriteJSON(a.Stdout, topicJSON{topic.Name, topic.Summary, topic.text()})
	}
	if style := view.OutputStyle(a); !style.Plain {
		return a.Page(func(w io.Writer) error { return printPage(w, topic.page(), style) })
	}
	_, err := fmt.Fprint(a.Stdout, topic.text())
	return err
}

// unknownText is for a topic that there is not: nearest is the one with a similar name, and having are those whose text
// has the word.
func unknownText(topic, nearest string, having []string) app.Message {
	m := app.Text("Unknown topic %s", tty.SafeLine(topic))
	switch {
	case nearest != "":
		return m.With(app.To("read the page with the nearest name", "guide", nearest))
	case len(having) > 0:
		m.Text += "\nThe word is on the pages " + strings.Join(having[:min(len(having), maxHaving)], ", ")
		return m.With(app.To("read the page that has it most often", "guide", having[0]))
	}
	return m.With(app.To("list the topics", "guide"))
}

// maxHaving is how many pages with a word are listed.
const maxHaving = 5

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
	return page + "\n`agent-chatter guide TOPIC` prints a page.\n"
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
