package chat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live/remote"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// attach takes part in a conversation that another process hosts, if locked says so and there is a console. Otherwise
// it returns the error.
func (r *repl) attach(ctx context.Context, locked error) error {
	held, ok := errors.AsType[*journal.LockedError](locked)
	if !ok {
		return locked
	}
	dir, id, err := r.app.JournalAt(held.Path)
	if _, plain := r.input.(*plainLines); err == nil && plain {
		return app.Exit(app.CodeOf(locked), app.Explain(locked).
			With(app.To("take part in it, without --plain", "chat", "--resume", id)))
	}
	if err != nil || r.display.console == nil {
		return locked
	}
	for holder := held.Holder; id != ""; holder = dir.Journals().Writer(id) {
		if id, err = r.attachTo(ctx, dir, id, holder); errors.Is(err, remote.ErrNotHosted) {
			r.app.Log.Info("the process that has the session open is not attached to", "error", err)
			return locked
		}
	}
	return err
}

// attachTo takes part in the conversation of a session. next is the session of the directory that continues it, such as
// a fork; "": none.
func (r *repl) attachTo(
	ctx context.Context, dir *catalog.Dir, id string, holder journal.Holder,
) (next string, err error) {
	shared, err := remote.Attach(ctx, r.app.Home, catalog.Key{Dir: dir.Journals().Path(), ID: id}, holder)
	if err != nil {
		return "", err
	}
	f, err := openFollowed(ctx, dir, id)
	if err != nil {
		return "", err
	}
	r.attached = true
	a := &attachment{
		repl: r, followed: f, shared: shared, device: fmt.Sprintf("terminal %d", os.Getpid()),
		open: map[string]*heard{}, asked: map[string]context.CancelFunc{},
	}
	err = a.run(ctx)
	return a.next, err
}

// An attachment is a terminal that takes part in a conversation of another process. What is said comes from the
// journal, and before that from the process.
type attachment struct {
	*repl
	*followed
	shared live.Shared
	device string // the name of this terminal

	seq   uint64                        // the last event that is shown
	open  map[string]*heard             // open turns
	asked map[string]context.CancelFunc // ends the question with an id

	mu       sync.Mutex
	waiting  []string // the people of whom one is next
	speaking bool
	changed  chan struct{} // closed, and replaced, when these change
	ended    bool          // the conversation
	next     string        // the session of the directory that continues it; "": none
}

// A heard is what an open turn has said.
type heard struct {
	begun   bool // its event is shown
	replies []live.Reply
	shown   int // bytes
	known   int // bytes that events have
}

// run shows the conversation and enters lines until the user leaves or the conversation ends.
func (a *attachment) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	a.changed, a.turns = make(chan struct{}), ctx
	a.app.Notice(attachedText(a.id, a.title))
	if a.older > 0 {
		a.app.Show(olderText(a.older, a.id))
	}
	a.followed.show(a.display.Surface)
	failed := make(chan error, 1)
	var showing sync.WaitGroup
	defer showing.Wait()
	defer stop()
	showing.Go(func() {
		defer stop()
		failed <- a.follow(ctx)
	})
	err := a.enterLines(ctx)
	stop()
	if failure := <-failed; err == nil {
		err = failure
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		a.app.Notice(textHostEnded, app.To("resume it here", "chat", "--resume", a.id))
	}
	return err
}

// follow shows events and updates, in their order, until ctx is done or the conversation ends.
func (a *attachment) follow(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	events, updates, failed := make(chan projection.Event), make(chan live.Update), make(chan error, 1)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer stop()
	reading.Go(func() {
		for e, err := range a.followed.events(ctx) {
			if err != nil {
				failed <- err
				return
			}
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
	})
	reading.Go(func() {
		defer close(updates)
		for u := range a.shared.Watch(ctx) {
			select {
			case updates <- u:
			case <-ctx.Done():
				return
			}
		}
	})
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			if ctx.Err() != nil {
				return nil
			}
			return app.Exit(app.CodeOf(err), app.FollowEndedText(a.id, err))
		case e := <-events:
			a.takeEvent(e)
		case u, ok := <-updates:
			if !ok || u.Ended {
				a.change(func() { a.ended = ctx.Err() == nil })
				return nil
			}
			if u.State != nil && a.continues(u.State.Session) {
				return nil
			}
			a.takeUpdate(ctx, u)
		}
	}
}

// continues notes that a session, TEAM/ID, has taken the place of the one that is shown, and reports whether it has. In
// that of another team the terminal takes no part.
func (a *attachment) continues(session string) bool {
	team, id, _ := strings.Cut(session, "/")
	if id == "" || id == a.id {
		return false
	}
	a.change(func() {
		if team == filepath.Base(a.dir.Journals().Path()) {
			a.next = id
		} else {
			a.ended = true
		}
	})
	return true
}

// change changes what enterLines waits for.
func (a *attachment) change(do func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do()
	close(a.changed)
	a.changed = make(chan struct{})
}

// takeEvent shows an event, after what was said before it.
func (a *attachment) takeEvent(e projection.Event) {
	a.seq = e.Seq
	switch p := e.Payload.(type) {
	case projection.TurnStarted:
		a.heard(p.TurnID).begun = true
	case projection.TurnText:
		h := a.heard(p.TurnID)
		h.begun = true // the session is followed from within the turn
		h.known += len(p.Text)
		if h.shown < h.known {
			a.say(p.TurnID, p.Text[max(0, len(p.Text)-(h.known-h.shown)):])
			h.shown = h.known
		}
	case projection.TurnEnded:
		delete(a.open, p.TurnID)
	}
	a.display.Say(func(m *console.Model) []view.Block {
		blocks := showEvent(e, a.members)(m)
		m.Status.Escape = a.display.Team.AllowEscCancel
		return blocks
	})
	for turn := range a.open {
		a.sayNew(turn)
	}
}

func (a *attachment) heard(turn string) *heard {
	if a.open[turn] == nil {
		a.open[turn] = &heard{}
	}
	return a.open[turn]
}

func (a *attachment) say(turn, text string) { a.display.Say(console.Stream(turn, text)) }

// sayNew shows what a turn has said, as far as the events before are shown.
func (a *attachment) sayNew(turn string) {
	h := a.open[turn]
	if !h.begun {
		return
	}
	for len(h.replies) > 0 && h.replies[0].After <= a.seq {
		r := h.replies[0]
		h.replies = h.replies[1:]
		if end := r.At + len(r.Text); r.At <= h.shown && end > h.shown {
			a.say(turn, r.Text[h.shown-r.At:])
			h.shown = end
		}
	}
}

// takeUpdate shows what is new beside the journal.
func (a *attachment) takeUpdate(ctx context.Context, u live.Update) {
	for _, r := range u.Replies {
		h := a.heard(r.Turn)
		h.replies = append(h.replies, r)
		a.sayNew(r.Turn)
	}
	for _, text := range u.Notices {
		a.app.Notice(text)
	}
	var returned []string
	for _, q := range u.Returned {
		if q.From == a.device {
			returned = append(returned, q.Text)
		}
	}
	s := u.State
	a.display.console.Change(func(m *console.Model) {
		if len(returned) > 0 {
			m.Return(returned)
		}
		if s != nil {
			m.Shared, m.TakeShared = sharedLines(s.Queue), a.takeBack
			m.Status.Next = strings.Join(s.Next, ", ")
			if m.Prompt != "" && len(s.Waiting) > 0 {
				m.Prompt = promptOf(s.Waiting)
			}
		}
	})
	if s == nil {
		return
	}
	a.askAll(ctx, s.Questions)
	a.change(func() { a.waiting, a.speaking = s.Waiting, len(s.Waiting) == 0 })
}

// takeBack takes a line back that is queued.
func (a *attachment) takeBack(id string) (text string, ok bool) {
	text, err := a.shared.TakeBack(id)
	if err != nil {
		a.app.Notice(notTakenText(err))
	}
	return text, err == nil
}

// sharedLines are lines that are queued in the other process, as the terminal shows them.
func sharedLines(queue []live.Queued) (lines []tty.Line) {
	for _, q := range queue {
		lines = append(lines, tty.Line{ID: q.ID, Text: q.Text, Device: q.From})
	}
	return lines
}

func promptOf(people []string) string {
	names := slices.Clone(people)
	for i := range names {
		names[i] = tty.SafeLine(names[i])
	}
	return strings.Join(names, " or ") + "> "
}

// askAll asks the questions that are open, and withdraws the others.
func (a *attachment) askAll(ctx context.Context, questions []live.Question) {
	isOpen := func(id string) bool {
		return slices.ContainsFunc(questions, func(q live.Question) bool { return q.ID == id })
	}
	for id, withdraw := range a.asked {
		if !isOpen(id) {
			withdraw()
			delete(a.asked, id)
		}
	}
	for _, q := range questions {
		if a.asked[q.ID] != nil {
			continue
		}
		asking, withdraw := context.WithCancel(ctx)
		a.asked[q.ID] = withdraw
		q.Permission.Always = "" // is answered where the conversation is hosted
		go a.ask(asking, q)
	}
}

// ask asks a question here and sends the answer.
func (a *attachment) ask(ctx context.Context, q live.Question) {
	answer := a.display.askHere(ctx, coordinator.Question{
		TurnID: q.Turn, Member: team.Member{ID: q.Member, Name: q.Name, DisplayName: q.Name}, Permission: q.Permission,
	})
	if ctx.Err() != nil {
		return
	}
	if err := a.shared.Answer(q.ID, live.Answer{Answer: answer, By: a.device}); err != nil {
		a.app.Notice(notTakenText(err))
	}
}

// enterLines enters what the user types, until the user leaves or ctx is done.
func (a *attachment) enterLines(ctx context.Context) error {
	for {
		a.mu.Lock()
		changed, speaking, ended := a.changed, a.speaking, a.ended
		prompt := promptOf(a.waiting)
		a.mu.Unlock()
		switch {
		case ended, ctx.Err() != nil:
			return nil
		case speaking:
			if a.watch(ctx, changed) {
				return nil
			}
			continue
		}
		quit, stop := context.WithCancel(ctx)
		go func() {
			select {
			case <-changed:
				stop()
			case <-quit.Done():
			}
		}()
		line, err := a.input.Next(prompt, quit.Done())
		superseded := quit.Err() != nil
		stop()
		switch {
		case err == nil && leaves(line.Text):
			return nil
		case err == nil:
			a.enter(line)
		case superseded:
		case errors.Is(err, tty.ErrInterrupted):
			return nil
		default:
			return err
		}
	}
}

// leaves reports whether a line ends the conversation, or leaves one of another process.
func leaves(line string) bool {
	command, _, _ := parseSlash(line)
	return command != nil && slices.Contains([]string{"/end", "/exit", "/quit"}, command.name)
}

// watch enters what is typed while agents speak, until that changes. left reports that the user leaves.
func (a *attachment) watch(ctx context.Context, changed <-chan struct{}) (left bool) {
	gone := make(chan struct{})
	leave := sync.OnceFunc(func() { close(gone) })
	stop := a.input.Watch(func(member string) {
		if err := a.shared.Cancel(member); err != nil {
			a.app.Notice(notTakenText(err))
		}
	}, leave, func(line tty.Line) bool {
		if leaves(line.Text) {
			leave()
			return true
		}
		a.enter(line)
		return true
	})
	defer stop()
	for {
		select {
		case <-gone:
			return true
		case <-ctx.Done():
			return false
		case <-changed:
		}
		a.mu.Lock()
		speaking := a.speaking && !a.ended
		changed = a.changed
		a.mu.Unlock()
		if !speaking {
			return false
		}
	}
}

// enter enters a line with its pictures. A message that is not taken is text to edit.
func (a *attachment) enter(line tty.Line) {
	if strings.TrimSpace(line.Text) == "" {
		return
	}
	command, _, args := parseSlash(line.Text)
	if command != nil && slices.Contains(commandsOfFrontEnd, command.name) {
		_ = a.answer(line.Text, func(i invocation) error { return command.run(i, a.turns, args) })
		return
	}
	in := live.Input{ID: ulid.Make().String(), Text: line.Text, From: a.device, Role: web.RoleAll}
	for _, f := range a.pasted.Files(line.Text) {
		in.Files = append(in.Files, live.File{Name: f.Name, Data: f.Data})
	}
	in.Text = a.pasted.Without(line.Text)
	err := a.shared.Enter(in)
	if err == nil {
		a.pasted.Forget(line.Text)
		return
	}
	a.app.Notice(notTakenText(err))
	if !strings.HasPrefix(line.Text, "/") {
		a.display.console.Change(func(m *console.Model) { m.Return([]string{line.Text}) })
	}
}

// commandsOfFrontEnd are the commands of an attached terminal in which the other process has no part.
var commandsOfFrontEnd = []string{"/keys", "/clear", "/sessions", "/search"}

// attachedText begins a conversation that another process hosts.
func attachedText(id, title string) string {
	return fmt.Sprintf("Attached to session %s (%s), which another process has open. /end leaves it, and it continues.",
		tty.SafeLine(id), tty.SafeLine(title))
}

const textHostEnded = "The other process has ended the conversation, or has ended."

// notTakenText is for what the other process does not take.
func notTakenText(err error) string { return app.Sentence(err) + "." }
