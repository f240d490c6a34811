package hubs

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/finding"
)

// report prints the outcomes of a command, each when it is known.
type report struct {
	c      *connected
	output string
	list   *finding.List // nil unless on a terminal

	done, skipped, failed int
	held                  int // of those that were skipped
}

func newReport(c *connected, output string) *report {
	return &report{c: c, output: output, list: finding.OnTerminal(c.App, output)}
}

// add prints an outcome. The error is that of the output, or of a signal.
func (r *report) add(o outcome) error {
	if err := r.c.ctx.Err(); err != nil {
		return err
	}
	switch o.Action {
	case "failed":
		r.failed++
	case "skipped":
		r.skipped++
		if o.held {
			r.held++
		}
	default:
		r.done++
	}
	switch {
	case r.output == "json":
		return app.WriteJSON(r.c.Stdout, o)
	case r.list != nil:
		return r.list.Add(o.finding())
	}
	line, _, _ := strings.Cut(o.text(), "\n")
	if _, err := fmt.Fprintln(r.c.Stdout, line); err != nil {
		return err
	}
	if len(o.help) > 0 {
		r.c.Show(app.Message{Help: o.help})
	}
	return nil
}

// finding is an outcome as a terminal shows it.
func (o outcome) finding() app.Finding {
	switch o.Action {
	case "failed":
		return app.Wrong(o.text(), "", o.help...)
	case "skipped", "forked", "healed", "restored":
		return app.Note(o.text(), "", o.help...)
	}
	return app.Fine(o.text())
}

// end prints the sum. If a session failed, the command fails, and also if the user has named one that another process
// or machine has.
func (r *report) end(done string, named bool) error {
	var err error
	text := sumText(done, r.done, r.skipped, r.failed)
	switch {
	case r.failed > 0:
		err = app.Exit(app.ExitFailed, app.Message{})
	case named && r.held > 0:
		err = app.Exit(app.ExitLocked, app.Message{})
	}
	if r.list != nil {
		return r.list.End(text, err)
	}
	r.c.Notice(text)
	return err
}

// sumText is the last line of a command.
func sumText(done string, n, skipped, failed int) string {
	text := fmt.Sprintf("%s: %s", strings.ToUpper(done[:1])+done[1:], app.Count(n, "session"))
	if skipped > 0 {
		text += fmt.Sprintf(", %d skipped", skipped)
	}
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text + "."
}
