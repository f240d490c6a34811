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
	"github.com/agent-chatter/agent-chatter/projection/conversation"
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

// newestItems returns the newest messages and partial replies of a session up to a position, which is the end of its
// journal if it is zero, and how many of its messages precede them.
func newestItems(
	ctx context.Context, dir *catalog.Dir, id string, to journal.Position, members view.Members, messages int,
) (shown []*conversation.Item, older int, err error) {
	r, err := dir.Journals().Reader(id, journal.Position{})
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	if to == (journal.Position{}) {
		if to, _, err = conversation.End(r, to); err != nil {
			return nil, 0, err
		}
	}
	shown, err = conversation.Newest(ctx, r, to, members.Speakers(), shownMessages)
	for _, i := range shown {
		if i.Message != nil {
			messages--
		}
	}
	return shown, messages, err
}

// openFrom returns a position, or that before the oldest turn that is open there.
func openFrom(dir *catalog.Dir, s *projection.State, at journal.Position) (journal.Position, error) {
	if len(s.OpenTurns) == 0 {
		return at, nil
	}
	r, err := dir.Journals().Reader(s.SessionID, journal.Position{})
	if err != nil {
		return at, err
	}
	defer r.Close()
	return conversation.OpenAt(r, at), nil
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
	var members view.Members
	members.AddMembers(state.Team.Members)
	at, err := openFrom(dir, state, loaded.At)
	if err != nil {
		return err
	}
	var recent []*conversation.Item
	older := 0
	if at.Seq > 0 {
		if recent, older, err = newestItems(ctx, dir, id, at, members, state.Stats.Messages); err != nil {
			return err
		}
	}
	shown, end := console.OpenOutput(a)
	transcript := view.Continued(members)
	defer func() {
		shown.Say(func(m *console.Model) []view.Block { return transcript.Held() }) // the part that has arrived
		err = cmp.Or(err, end(ctx))
	}()
	a.Notice(followingText(id, state.Row.Title))
	if older > 0 {
		a.Show(olderText(older, name))
	}
	plain := false
	shown.Say(func(m *console.Model) (blocks []view.Block) {
		plain, m.Transcript = m.Style.Plain, transcript
		if len(recent) == 0 {
			m.Transcript = &view.Transcript{Members: members}
			transcript = m.Transcript
		}
		transcript.WholePanels()
		for _, i := range recent {
			blocks = append(blocks, m.Transcript.Item(i)...)
		}
		return blocks
	})
	following := events
	if plain {
		following = items
	}
	for change, err := range following(projection.Decoded(dir.Journals().Follow(ctx, id, at)), members) {
		switch {
		case ctx.Err() != nil: // the item may be a turn that still runs
			return nil
		case err != nil:
			return app.Exit(app.CodeOf(err), app.FollowEndedText(id, err))
		}
		shown.Say(change)
	}
	return nil
}

// A change of the Model returns the blocks to print, as for Surface.Say.
type change = func(*console.Model) []view.Block

// items yields the messages and unfinished replies of events, each when it is complete.
func items(all iter.Seq2[projection.Event, error], members view.Members) iter.Seq2[change, error] {
	return func(yield func(change, error) bool) {
		for i, err := range conversation.Continued(members.Speakers()).Read(all) {
			if !yield(func(m *console.Model) []view.Block { return m.Transcript.Item(i) }, err) {
				return
			}
		}
	}
}

// events yields what is said while it is.
func events(all iter.Seq2[projection.Event, error], members view.Members) iter.Seq2[change, error] {
	return func(yield func(change, error) bool) {
		for e, err := range all {
			if !yield(func(m *console.Model) []view.Block {
				blocks := m.Transcript.Apply(e)
				m.Panel.Apply(e, members.Name)
				m.Status.Follow(m.Transcript.Open(), members.Name, e.Time)
				return blocks
			}, err) {
				return
			}
		}
	}
}
