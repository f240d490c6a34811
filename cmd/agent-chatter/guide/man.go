package guide

import (
	"fmt"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/guide/manpages"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/alecthomas/kong"
)

// manJSON says what --man wrote.
type manJSON struct {
	Path  string `json:"path"`
	Pages int    `json:"pages"`
}

// writeMan writes the commands and all topics as man pages.
func (cmd *Command) writeMan(a *app.App, commands *kong.Node) error {
	if len(cmd.Words) > 0 {
		return app.UsageError("--man writes all pages, so it takes no topic.")
	}
	manual := manpages.Manual{Commands: commands, Build: app.ThisBuild()}
	for _, t := range Topics() {
		manual.Topics = append(manual.Topics, manpages.Topic{Name: t.Name, Summary: t.Summary, Text: t.text()})
	}
	path, err := filepath.Abs(cmd.Man)
	if err != nil {
		return err
	}
	pages, err := manual.Write(path)
	if err != nil {
		return err
	}
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, manJSON{path, pages})
	}
	_, err = fmt.Fprintln(a.Stdout, manText(path, pages))
	return err
}

func manText(path string, pages int) string {
	return fmt.Sprintf("Wrote %d man pages below %s", pages, tty.SafeLine(path))
}
