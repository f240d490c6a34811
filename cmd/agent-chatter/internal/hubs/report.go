package hubs

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
)

// report prints the outcomes of a command, each when it is known.
type report struct {
	c      *connected
	output string
	list   *view.Findings // nil unless on a terminal

	done, equal, skipped, failed int
	held                         int // of those that were skipped
	damaged                      int // of those that failed
}

func newReport(c *connected, output string) *report {
	return &report{c: c, output: output, list: view.FindingsOnTerminal(c.App, output)}
}

// add prints an outcome. The error is that of the output, or of a signal.
func (r *report) add(o outcome) error {
	if err := r.c.ctx.Err(); err != nil {
		return err
	}
	switch o.Action {
	case "failed":
		r.failed++
		if o.damaged {
			r.damaged++
		}
	case "skipped":
		r.skipped++
		if o.held {
			r.held++
		}
	case "equal":
		r.equal++
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

// end prints the sum. If a session failed or is damaged, the command fails, and also if the user has named one that
// another process or machine has.
func (r *report) end(text string, named bool) error {
	var err error
	switch {
	case r.damaged > 0:
		err = app.Exit(app.ExitDamaged, app.Message{})
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

// doneText is the last line of a command that shipped or fetched sessions.
func (r *report) doneText(done string) string {
	return r.sumText(fmt.Sprintf("%s: %s", done, app.Count(r.done, "session")), 0)
}

// comparedText is the last line of a command that compared sessions.
func (r *report) comparedText() string {
	all := r.done + r.equal + r.skipped + r.failed
	return r.sumText("Compared: "+app.Count(all, "session"), r.done)
}

func (r *report) sumText(text string, restored int) string {
	for _, other := range []struct {
		n    int
		what string
	}{{r.equal, "equal"}, {restored, "restored"}, {r.skipped, "skipped"}, {r.failed, "failed"}} {
		if other.n > 0 {
			text += fmt.Sprintf(", %d %s", other.n, other.what)
		}
	}
	return text + "."
}

// onlyText is for sessions that a command without --all omitted; the zero Message: none.
func onlyText(where string, n int, help app.Help) app.Message {
	if n == 0 {
		return app.Message{}
	}
	return app.Text("Only %s: %s.", where, app.Count(n, "session")).With(help)
}
