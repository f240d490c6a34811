// Package follow prints a session while it is written, and the newest messages of one.
package follow

import (
	"context"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func followingText(id, title string) string {
	return fmt.Sprintf("Watching session %s (%s), read-only. Press Ctrl+C to stop.",
		tty.SafeLine(id), tty.SafeLine(title))
}

// OlderText is for messages that a resumed chat does not print again.
func OlderText(n int, session string) app.Message {
	return app.Text("… %s not shown.", app.Count(n, "older message")).With(app.To("read all", "replay", session))
}

// shownMessages is how many old messages and partial replies a resumed or followed chat prints.
const shownMessages = 6

// Newest returns the entries of a session that are printed, and the number of its messages that are not.
func Newest(entries []projection.Entry, messages int) (shown []projection.Entry, older int) {
	shown = entries[max(0, len(entries)-shownMessages):]
	for _, entry := range shown {
		if !entry.Partial {
			messages--
		}
	}
	return shown, messages
}

// Messages prints the newest messages of a session and those that follow.
func Messages(ctx context.Context, a *app.App, dir *catalog.Dir, id, name string) error {
	if err := dir.Journals().Check(id); err != nil { // Load reads only what follows the checkpoint
		return err
	}
	state, loaded, err := dir.Load(ctx, id)
	if err != nil {
		return err
	}
	a.Notice(followingText(id, state.Row.Title))
	s := &view.Screen{App: a, Terminal: a.IsTerminal()}
	if tty.Columns(a.Stdout) > 0 {
		s.Wrap.Width = func() int { return tty.Columns(a.Stdout) }
	}
	ended := *state
	ended.OpenTurns = nil // Their replies follow.
	recent, older := Newest(ended.Newest(), state.Stats.Messages)
	if older > 0 {
		a.Show(OlderText(older, name))
	}
	for _, entry := range recent {
		s.ShowEntry(entry)
	}
	for entry, err := range projection.ReplayFrom(state, dir.Journals().Follow(ctx, id, loaded.At)) {
		switch {
		case err != nil:
			return app.Exit(app.CodeOf(err), app.FollowEndedText(id, err))
		case ctx.Err() != nil: // the entry may be of a turn that still runs
			return nil
		}
		s.ShowEntry(entry)
	}
	return nil
}
