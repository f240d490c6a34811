package chat

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func followingText(id, title string) string {
	return fmt.Sprintf("Watching session %s (%s), read-only. Press Ctrl+C to stop.",
		tty.SafeLine(id), tty.SafeLine(title))
}

// olderText is for messages that a resumed chat does not print again.
func olderText(n int, session string) app.Message {
	return app.Text("… %s not shown.", app.Count(n, "older message")).With(app.To("read all", "replay", session))
}

// shownMessages is how many old messages and partial replies a resumed or followed chat prints.
const shownMessages = 6

// newestEntries returns the entries of a session that are printed, and the number of its messages that are not.
func newestEntries(entries []projection.Entry, messages int) (shown []projection.Entry, older int) {
	shown = entries[max(0, len(entries)-shownMessages):]
	for _, entry := range shown {
		if !entry.Partial {
			messages--
		}
	}
	return shown, messages
}

// followMessages prints the newest messages of a session and those that follow. On a terminal it shows what is being
// said.
func followMessages(ctx context.Context, a *app.App, dir *catalog.Dir, id, name string) (err error) {
	if err := dir.Journals().Check(id); err != nil { // Load reads only what follows the checkpoint
		return err
	}
	state, loaded, err := dir.Load(ctx, id)
	if err != nil {
		return err
	}
	go func() { a.ReportHub(a.Remote.Follow(ctx, dir, id)) }()
	transcript := &view.Transcript{}
	transcript.AddMembers(state.Team.Members)
	shown, end := console.OpenOutput(a)
	defer func() {
		shown.Say(func(m *console.Model) []view.Block { return transcript.Held() }) // the part that has arrived
		err = cmp.Or(err, end(ctx))
	}()
	a.Notice(followingText(id, state.Row.Title))
	ended := *state
	ended.OpenTurns = nil // Their replies follow.
	recent, older := newestEntries(ended.Newest(), state.Stats.Messages)
	if older > 0 {
		a.Show(olderText(older, name))
	}
	calls := view.CallsOf(dir, id, recent)
	plain := false
	shown.Say(func(m *console.Model) (blocks []view.Block) {
		plain, m.Transcript = m.Style.Plain, transcript
		for _, entry := range recent {
			blocks = append(blocks, m.Transcript.Entry(entry, calls)...)
		}
		return blocks
	})
	following := events
	if plain {
		following = entries
	}
	for change, err := range following(ctx, dir, state, loaded.At) {
		switch {
		case err != nil:
			return app.Exit(app.CodeOf(err), app.FollowEndedText(id, err))
		case ctx.Err() != nil: // the entry may be of a turn that still runs
			return nil
		}
		shown.Say(change)
	}
	return nil
}

// A change of the Model returns the blocks to print, as for Surface.Say.
type change = func(*console.Model) []view.Block

// entries yields the messages and unfinished replies after a state, each when it is complete.
func entries(ctx context.Context, dir *catalog.Dir, s *projection.State, at journal.Position) iter.Seq2[change, error] {
	return func(yield func(change, error) bool) {
		for entry, err := range projection.ReplayFrom(s, dir.Journals().Follow(ctx, s.SessionID, at)) {
			if !yield(func(m *console.Model) []view.Block { return m.Transcript.Entry(entry, nil) }, err) {
				return
			}
		}
	}
}

// events yields what is said after a state, from the start of the turn that is open.
func events(ctx context.Context, dir *catalog.Dir, s *projection.State, at journal.Position) iter.Seq2[change, error] {
	return func(yield func(change, error) bool) {
		if n := len(s.OpenTurns); n > 0 && s.OpenTurns[n-1].Message == 0 {
			start, err := view.TurnStart(dir, s.SessionID, s.Seq)
			if err != nil {
				yield(nil, err)
				return
			}
			at = start
		}
		name := func(memberID string) string { return s.Speaker(memberID).DisplayName }
		for e, err := range dir.Journals().Follow(ctx, s.SessionID, at) {
			payload, _ := projection.Decode(e)
			if !yield(func(m *console.Model) []view.Block {
				m.Status.Follow(payload, name, e.Time)
				return m.Transcript.Apply(e)
			}, err) {
				return
			}
		}
	}
}
