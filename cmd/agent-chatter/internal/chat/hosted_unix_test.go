//go:build unix

package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live/remote"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A talker is an engine that streams a reply. To a message with "ask" it requests permission.
type talker struct{}

// Run implements agent.Engine.
func (talker) Run(ctx context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if !yield(agent.Text{Text: "I heard: "}, nil) {
			return
		}
		if strings.Contains(turn.Said.Text, "ask") {
			id := "tool"
			if !yield(agent.ToolStarted{ID: id, Name: "Bash"}, nil) {
				return
			}
			grant := turn.Permit(ctx, agent.Permission{ToolID: id, Tool: "Bash", Title: turn.Said.Text, TakesReason: true})
			if !yield(agent.ToolCompleted{ID: id, Output: fmt.Sprint(grant.Scope)}, nil) {
				return
			}
		}
		if ctx.Err() != nil {
			yield(nil, ctx.Err())
			return
		}
		yield(agent.Text{Text: turn.Said.Text}, nil)
	}
}

// newTestHost returns a host whose demo team is of talkers, and which ends with the test.
func newTestHost(t testing.TB) (h *Host, dir string) {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "ac") // a short path, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	h, err = NewHost(ctx, a, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	h.agents.engines[agent.DemoEngine] = talker{}
	t.Cleanup(func() {
		stop()
		h.Close()
	})
	return h, dir
}

// eventsOf returns the events of a session.
func eventsOf(t testing.TB, h *Host, key catalog.Key) (events []projection.Event) {
	t.Helper()
	r, err := h.app.Catalog.At(key.Dir).Journals().Reader(key.ID, journal.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for e, err := range projection.Decoded(r.Scan()) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// A device enters what it likes, and sees what the others do.
type device struct {
	name   string
	shared live.Shared
	random *rand.Rand

	watching chan struct{} // closed when it does
	mu       sync.Mutex
	state    live.State
	replies  map[string]int // bytes, by turn
	returned []string
	entered  []string // ids, in order
	taken    []string // back
	answered []string // questions: the turn that asked, if this device was the first
	failure  error
}

// watch follows the conversation.
func (d *device) watch(ctx context.Context) {
	begun := sync.OnceFunc(func() { close(d.watching) })
	for u := range d.shared.Watch(ctx) {
		begun()
		d.mu.Lock()
		if u.State != nil {
			d.state = *u.State
		}
		for _, r := range u.Replies {
			if r.At != d.replies[r.Turn] {
				d.failure = fmt.Errorf("%s: reply at %d after %d bytes", d.name, r.At, d.replies[r.Turn])
			}
			d.replies[r.Turn] = r.At + len(r.Text)
		}
		for _, q := range u.Returned {
			if q.From == d.name {
				d.returned = append(d.returned, q.ID)
			}
		}
		d.mu.Unlock()
		if slices.Contains(u.Notices, "over") {
			return
		}
	}
}

// now returns what the device sees.
func (d *device) now() live.State {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state
}

// act does one thing.
func (d *device) act(i int) error {
	s, n := d.now(), d.random.IntN(1000)
	switch {
	case n < 500 || len(s.Questions) == 0 && n < 900:
		id := fmt.Sprintf("%s/%d", d.name, i)
		text := fmt.Sprintf("%s [NEXT: planner]", id)
		if n%3 == 0 {
			text = "ask " + text
		}
		err := d.shared.Enter(live.Input{ID: id, Text: text, From: d.name, Role: web.RoleAnswer})
		if errors.Is(err, live.ErrFull) {
			return nil
		}
		if err == nil {
			d.entered = append(d.entered, id)
		}
		return err
	case n < 900:
		q := s.Questions[d.random.IntN(len(s.Questions))]
		answer := coordinator.Answer{Decision: coordinator.Allowed}
		if n%2 == 0 {
			answer = coordinator.Answer{Decision: coordinator.Refused, Reason: "no"}
		}
		err := d.shared.Answer(q.ID, live.Answer{By: d.name, Answer: answer})
		if err == nil {
			d.answered = append(d.answered, q.Turn)
		}
		if errors.As(err, new(*live.AnsweredError)) {
			return nil
		}
		return err
	case n < 985:
		if len(s.Queue) > 0 {
			id := s.Queue[d.random.IntN(len(s.Queue))].ID
			switch _, err := d.shared.TakeBack(id); {
			case err == nil:
				d.taken = append(d.taken, id)
			case !errors.Is(err, live.ErrSent):
				return err
			}
		}
		return nil
	case n < 988:
		return d.shared.Cancel("")
	default:
		d.shared.Complete(web.RoleAnswer, "/st")
		return nil
	}
}

// Two pages and a terminal of another process do random things at the same time: the journal has one order, in which
// each line is at most once and those of a device are in their order, all see the same, and each question has one
// answer.
func TestManyFrontEnds(t *testing.T) {
	actions, seed := 600, rand.Uint64()
	if sizetest.Full() {
		actions = 10_000
	}
	t.Logf("seed %d", seed)
	h, dir := newTestHost(t)
	first := live.Input{ID: "page 1/first", Text: "hello [NEXT: planner]", From: "page 1", Role: web.RoleAll}
	key, err := h.Begin(t.Context(), "demo", dir, first)
	if err != nil {
		t.Fatal(err)
	}
	hosted, _ := h.own(key.Name())
	writer := h.app.Catalog.At(key.Dir).Journals().Writer(key.ID)
	terminal, err := remote.Attach(t.Context(), h.app.Home, key, writer)
	if err != nil {
		t.Fatal(err)
	}
	devices := []*device{{name: "page 1", shared: hosted}, {name: "page 2", shared: hosted}, {name: "terminal", shared: terminal}}
	var watching, acting sync.WaitGroup
	for i, d := range devices {
		d.random, d.replies, d.watching = rand.New(rand.NewPCG(seed, uint64(i))), map[string]int{}, make(chan struct{})
		watching.Go(func() { d.watch(t.Context()) })
		acting.Go(func() {
			<-d.watching // what is returned before is not heard
			for i := range actions / len(devices) {
				if err := d.act(i); err != nil {
					t.Errorf("%s: %v", d.name, err)
					return
				}
			}
		})
	}
	acting.Wait()
	settle(t, hosted)
	hosted.Notice("over")
	watching.Wait()
	checkDevices(t, devices, eventsOf(t, h, key))
}

// settle refuses what is asked, until all that was entered before is over.
func settle(t *testing.T, c *live.Conversation) {
	t.Helper()
	last := live.Input{ID: "end/first", Text: "good night [NEXT: planner]", From: "end", Role: web.RoleAll}
	for u := range c.Watch(t.Context()) {
		if err := c.Enter(last); err != nil && !errors.Is(err, live.ErrFull) { // it is entered once
			t.Fatal(err)
		}
		if u.State == nil {
			continue
		}
		for _, q := range u.State.Questions {
			_ = c.Answer(q.ID, live.Answer{By: "end", Answer: coordinator.Answer{Decision: coordinator.Refused}})
		}
		if slices.Contains(u.State.Sent, "end/first") && len(u.State.Waiting) > 0 {
			return
		}
	}
	t.Fatal("the conversation has ended")
}

// checkDevices compares what devices did with what the journal has.
func checkDevices(t *testing.T, devices []*device, events []projection.Event) {
	t.Helper()
	recorded, answers := map[string][]string{}, map[string]string{}
	left := map[string]int{}
	for _, e := range events {
		switch p := e.Payload.(type) {
		case projection.InputReceived:
			recorded[p.Device] = append(recorded[p.Device], p.InputID)
			left[p.InputID]++
		case projection.PermissionAnswered:
			if answers[p.TurnID] != "" && p.By == projection.ByPerson {
				t.Errorf("turn %s has two answers", p.TurnID)
			}
			answers[p.TurnID] = p.Device
		}
	}
	entered, first := map[string]bool{}, map[string]string{}
	for _, d := range devices {
		if d.failure != nil {
			t.Error(d.failure)
		}
		of := slices.DeleteFunc(slices.Clone(recorded[d.name]), func(id string) bool { return strings.HasSuffix(id, "/first") })
		at := 0
		for _, id := range d.entered {
			entered[id] = true
			if at < len(of) && of[at] == id {
				at++
			}
		}
		if at != len(of) {
			t.Errorf("%s: the order in the journal is %q, and that of entering %q", d.name, of, d.entered)
		}
		for _, id := range slices.Concat(d.returned, d.taken) {
			left[id]++
		}
		for _, turn := range d.answered {
			if first[turn] != "" {
				t.Errorf("%s and %s have both answered turn %s", first[turn], d.name, turn)
			}
			first[turn] = d.name
		}
	}
	for id := range entered {
		if left[id] != 1 {
			t.Errorf("%s is there %d times", id, left[id])
		}
	}
	for turn, by := range answers {
		if by != "" && by != "end" && first[turn] != by {
			t.Errorf("turn %s was answered by %q, and %q was the first", turn, by, first[turn])
		}
	}
	for _, d := range devices[1:] {
		if a, b := d.now(), devices[0].now(); !slices.Equal(a.Sent, b.Sent) || !slices.Equal(a.Waiting, b.Waiting) {
			t.Errorf("%s and %s see different states", d.name, devices[0].name)
		}
	}
	t.Logf("%d entered, %d events, answers: %v", len(entered), len(events), slices.Sorted(maps.Values(answers))[:min(3, len(answers))])
}

// A conversation whose first message is not sent is none.
func TestNothingBegins(t *testing.T) {
	h, dir := newTestHost(t)
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "secret"), []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ team, dir, text string }{
		"a command": {"demo", dir, "/status"}, "a file of elsewhere": {"demo", dir, "look at @../secret"},
		"no text": {"demo", dir, " "}, "no team": {"none", dir, "hello"}, "a path": {"./demo.json", dir, "hello"},
		"another directory": {"demo", os.TempDir(), "hello"}, "a relative directory": {"demo", ".", "hello"},
	} {
		in := live.Input{ID: "1", Text: tt.text, From: "page", Role: web.RoleAll}
		if _, err := h.Begin(t.Context(), tt.team, tt.dir, in); err == nil {
			t.Errorf("%s: it begins", name)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.open) > 0 {
		t.Errorf("%d are open", len(h.open))
	}
}

// Questions that are open at the same time may be refused at the same time: each reason is the next message once.
func TestReasonsOfSeveralQuestions(t *testing.T) {
	h, dir := newTestHost(t)
	r := h.prepare(dir)
	if err := r.open(); err != nil {
		t.Fatal(err)
	}
	const questions = 20
	var asking sync.WaitGroup
	for range questions {
		asking.Go(func() {
			asked := coordinator.Question{Permission: agent.Permission{Tool: "Bash"}}
			r.display.Ask(t.Context(), asked)
		})
	}
	refused := map[string]bool{}
	for u := range r.live.Watch(t.Context()) {
		if u.State == nil {
			continue
		}
		for _, q := range u.State.Questions {
			refuse := live.Answer{By: "page", Answer: coordinator.Answer{Decision: coordinator.Refused, Reason: "no"}}
			if r.live.Answer(q.ID, refuse) == nil {
				refused[q.ID] = true
			}
		}
		if len(refused) == questions {
			break
		}
	}
	asking.Wait()
	if len(r.refusals) != questions {
		t.Errorf("%d reasons", len(r.refusals))
	}
}
