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

// A followed session is one that another process may write.
type followed struct {
	dir     *catalog.Dir
	id      string
	title   string
	members view.Members
	at      journal.Position // what follows was not read
	recent  []*conversation.Item
	older   int // messages before recent
}

// openFollowed reads the newest messages of a session.
func openFollowed(ctx context.Context, dir *catalog.Dir, id string) (*followed, error) {
	if err := dir.Journals().Check(id); err != nil { // Load reads only what follows the checkpoint
		return nil, err
	}
	state, loaded, err := dir.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	f := &followed{dir: dir, id: id, title: state.Row.Title}
	f.members.AddMembers(state.Team.Members)
	if f.at, err = openFrom(dir, state, loaded.At); err != nil || f.at.Seq == 0 {
		return f, err
	}
	f.recent, f.older, err = newestItems(ctx, dir, id, f.at, f.members, state.Stats.Messages)
	return f, err
}

// show shows the newest messages, and returns the transcript that shows what follows.
func (f *followed) show(on console.Surface) (transcript *view.Transcript, plain bool) {
	transcript = view.Continued(f.members)
	if len(f.recent) == 0 {
		transcript = &view.Transcript{Members: f.members}
	}
	on.Say(func(m *console.Model) (blocks []view.Block) {
		plain, m.Transcript = m.Style.Plain, transcript
		transcript.WholePanels()
		for _, i := range f.recent {
			blocks = append(blocks, m.Transcript.Item(i)...)
		}
		return blocks
	})
	return transcript, plain
}

// events yields what is appended to the session.
func (f *followed) events(ctx context.Context) iter.Seq2[projection.Event, error] {
	return projection.Decoded(f.dir.Journals().Follow(ctx, f.id, f.at))
}

// followMessages prints the newest messages of a session and those that follow. On a terminal it shows what is being
// said.
func followMessages(ctx context.Context, a *app.App, dir *catalog.Dir, id, name string) (err error) {
	f, err := openFollowed(ctx, dir, id)
	if err != nil {
		return err
	}
	go func() { a.ReportHub(a.Remote.Follow(ctx, dir, id)) }()
	shown, end := console.OpenOutput(a)
	a.Notice(followingText(id, f.title))
	if f.older > 0 {
		a.Show(olderText(f.older, name))
	}
	transcript, plain := f.show(shown)
	defer func() {
		shown.Say(func(m *console.Model) []view.Block { return transcript.Held() }) // the part that has arrived
		err = cmp.Or(err, end(ctx))
	}()
	following := events
	if plain {
		following = items
	}
	for change, err := range following(f.events(ctx), f.members) {
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
			if !yield(showEvent(e, members), err) {
				return
			}
		}
	}
}

// showEvent returns the change for an event.
func showEvent(e projection.Event, members view.Members) change {
	return func(m *console.Model) []view.Block {
		blocks := m.Transcript.Apply(e)
		m.Panel.Apply(e, members.Name)
		m.Status.Follow(m.Transcript.Open(), members.Name, e.Time)
		return blocks
	}
}
