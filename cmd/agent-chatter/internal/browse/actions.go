package browse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/changes"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// maxUndo is how many changes can be undone.
const maxUndo = 100

// actions are the changes that a user makes and what is asked for them.
type actions struct {
	app      *app.App
	changes  *changes.Changes
	ctx      context.Context // of the changes
	cancel   context.CancelFunc
	running  int // changes whose end has not arrived
	undo     []func(context.Context) changes.Change
	question *question // nil: none is asked
	quitting bool      // the browser ends with the last change
}

// newActions returns the actions on the sessions in a.Catalog. Their changes end when ctx is done.
func newActions(ctx context.Context, a *app.App) *actions {
	ctx, cancel := context.WithCancel(ctx)
	return &actions{app: a, changes: changes.New(a), ctx: ctx, cancel: cancel}
}

// Close cancels the changes that run, and waits for their ends: no session stays locked.
func (a *actions) Close() {
	a.cancel()
	a.changes.Wait(context.Background())
}

// doneMsg is the end of a change. The caller gives it to Done.
type doneMsg struct {
	result changes.Result
	err    error
	undo   func(context.Context) changes.Change // began it; nil: it does not take another one back
	shows  bool                                 // its session is to be selected
	again  func()                               // asks for another path if a file is at this one; may be nil
}

// begin is a command that waits for the end of a change that has begun.
func (a *actions) begin(change changes.Change, msg doneMsg) tea.Cmd {
	a.running++
	return func() tea.Msg {
		msg.result, msg.err = change()
		return msg
	}
}

// Press handles a key that changes a session: f, r, p, d, e or y. title is what the list shows of the session. It
// returns a notice for the user; "": none.
func (a *actions) Press(key string, s catalog.Session, title string) (cmd tea.Cmd, notice string) {
	switch key {
	case "r":
		a.ask(question{label: "Rename to: ", field: editor.NewField(s.Title), then: func(title string) tea.Cmd {
			return a.begin(a.changes.Rename(a.ctx, s.Key(), title), doneMsg{})
		}})
	case "p":
		return a.begin(a.changes.Pin(a.ctx, s.Key(), !s.Pinned), doneMsg{}), ""
	case "d":
		if s.Pinned {
			return nil, "The session is pinned. p removes the pin."
		}
		a.ask(question{label: "Move to the trash? [y/N] ", about: title, then: func(string) tea.Cmd {
			return a.begin(a.changes.Trash(a.ctx, s.Key()), doneMsg{})
		}})
	case "f":
		return a.begin(a.changes.Fork(a.ctx, s.Key(), 0), doneMsg{shows: true}), ""
	case "e":
		a.askPath(s.Key(), changes.ExportName(s.ID))
	case "y":
		return tea.Raw(tty.CopySequence(s.ID)), "Copied to the clipboard of the terminal: " + s.ID
	}
	return nil, ""
}

// askPath asks for the file that a session is exported to. The user can change a path.
func (a *actions) askPath(key catalog.Key, path string) {
	a.ask(question{label: "Export to: ", field: editor.NewField(path), then: func(path string) tea.Cmd {
		again := func() { a.askPath(key, path) }
		return a.begin(a.changes.Export(a.ctx, key, path), doneMsg{again: again})
	}})
}

// Restore moves a session out of the trash.
func (a *actions) Restore(key catalog.Key) tea.Cmd {
	return a.begin(a.changes.Restore(a.ctx, key), doneMsg{shows: true})
}

// Undo takes the last change back.
func (a *actions) Undo() (cmd tea.Cmd, notice string) {
	n := len(a.undo)
	if n == 0 {
		return nil, "There is nothing to undo."
	}
	undo := a.undo[n-1]
	a.undo = a.undo[:n-1]
	return a.begin(undo(a.ctx), doneMsg{undo: undo, shows: true}), ""
}

// push adds a change that takes another one back.
func (a *actions) push(undo func(context.Context) changes.Change) {
	a.undo = append(a.undo, undo)
	a.undo = a.undo[max(len(a.undo)-maxUndo, 0):]
}

// An outcome is what the end of a change means for the screen.
type outcome struct {
	Notice string      // may have several lines
	Select catalog.Key // the session to select once it is listed; zero: none
	Failed bool        // the user has to see the Notice
	Again  func()      // asks the question of the change once more; nil: that would not help
}

// Done notes the end of a change.
func (a *actions) Done(msg doneMsg) outcome {
	a.running--
	o := outcome{Notice: msg.result.Text}
	switch {
	case errors.Is(msg.err, context.Canceled):
		o.Notice = "Cancelled."
	case msg.err != nil:
		o.Notice, o.Failed = a.app.Render(app.Explain(msg.err)), true
	case msg.result.Undo != nil && msg.undo == nil:
		a.push(msg.result.Undo)
		o.Notice += " (u: undo)"
	}
	if errors.Is(msg.err, journal.ErrLocked) && msg.undo != nil {
		a.push(msg.undo) // it may be unlocked later
	}
	o.Notice = strings.TrimSpace(o.Notice + "\n" + msg.result.Notices)
	if errors.Is(msg.err, fs.ErrExist) {
		o.Again = msg.again
	}
	if msg.err == nil && msg.shows {
		o.Select = msg.result.Session
	}
	return o
}

// Quit returns tea.Quit, or if changes run a notice: then the caller waits for their ends and quits again.
func (a *actions) Quit() (quit tea.Cmd, notice string) {
	if a.running == 0 {
		return tea.Quit, ""
	}
	a.quitting = true
	return nil, fmt.Sprintf("Waiting for %s. Ctrl+C cancels.", app.Count(a.running, "change"))
}

// Quitting reports whether the caller waits for changes before it quits.
func (a *actions) Quitting() bool { return a.quitting }

// Cancel cancels the changes that run.
func (a *actions) Cancel() { a.cancel() }

// Stay ends the waiting of Quit: changes can be made again.
func (a *actions) Stay(ctx context.Context) {
	a.quitting = false
	if a.ctx.Err() != nil {
		a.ctx, a.cancel = context.WithCancel(ctx)
	}
}
