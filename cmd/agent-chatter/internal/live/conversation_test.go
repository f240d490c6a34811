package live_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// An inbox keeps what is entered in a queue.
type inbox struct{ *live.Queue }

func (b inbox) Enter(in live.Input) error {
	return b.Queue.Enter(tty.Line{ID: in.ID, Text: in.Text, Device: in.From})
}

func (b inbox) TakeBack(id string) (string, bool) {
	line, ok := b.Queue.TakeBack(id)
	return line.Text, ok
}

func (b inbox) Cancel(string) { b.Queue.Cancel() }

func (inbox) Complete(web.Role, string) live.Completion { return live.Completion{} }

func newConversation() (*live.Conversation, inbox) {
	b := inbox{live.NewQueue(func() {}, func([]tty.Line) {})}
	return live.New(b), b
}

// The first answer counts, also against that of the host.
func TestFirstAnswerCounts(t *testing.T) {
	for range 200 {
		c, _ := newConversation()
		open := c.Ask(coordinator.Question{TurnID: "t", Permission: agent.Permission{Tool: "Bash"}})
		var taken []string
		var mu sync.Mutex
		var devices sync.WaitGroup
		for i := range 5 {
			devices.Go(func() {
				by := fmt.Sprintf("device %d", i)
				err := c.Answer("q1", live.Answer{By: by, Answer: coordinator.Answer{Decision: coordinator.Allowed}})
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					taken = append(taken, by)
				} else if !errors.As(err, new(*live.AnsweredError)) {
					t.Errorf("%s: %v", by, err)
				}
			})
		}
		answer, answered := open.Close()
		devices.Wait()
		if answered != (len(taken) == 1) || answered && taken[0] != answer.By || len(taken) > 1 {
			t.Fatalf("taken: %q; the answer is %+v, %t", taken, answer, answered)
		}
	}
}

func TestAnswersMustFit(t *testing.T) {
	c, _ := newConversation()
	long := agent.Permission{Tool: "Bash", Omitted: 5, Always: "rules.json"}
	wood := agent.Permission{Questions: []agent.Question{{Text: "Which?", Options: []agent.Option{{Label: "oak"}}}}}
	c.Ask(coordinator.Question{Permission: long})
	c.Ask(coordinator.Question{Permission: wood})
	for name, tt := range map[string]struct {
		id string
		coordinator.Answer
	}{
		"for the session, of what is not shown": {"q1", coordinator.Answer{Decision: coordinator.AllowedForSession}},
		"for ever":                              {"q1", coordinator.Answer{Decision: coordinator.AllowedAlways}},
		"answers to no question":                {"q1", coordinator.Answer{Decision: coordinator.Allowed, Answers: [][]string{{"oak"}}}},
		"no answer":                             {"q2", coordinator.Answer{Decision: coordinator.Allowed}},
		"another answer":                        {"q2", coordinator.Answer{Decision: coordinator.Allowed, Answers: [][]string{{"ash"}}}},
		"no question":                           {"q3", coordinator.Answer{Decision: coordinator.Allowed}},
	} {
		if err := c.Answer(tt.id, live.Answer{Answer: tt.Answer}); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if err := c.Answer("q2", live.Answer{Answer: coordinator.Answer{
		Decision: coordinator.Allowed, Answers: [][]string{{"oak"}},
	}}); err != nil {
		t.Error(err)
	}
}

// A slow front end has everything in the end, in order, and nothing waits for it.
func TestSlowWatcherMissesNothing(t *testing.T) {
	c, _ := newConversation()
	c.Text("t", "begin ")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	next, resume := make(chan live.Update), make(chan struct{})
	go func() {
		for u := range c.Watch(ctx) {
			next <- u
			<-resume
		}
		close(next)
	}()
	reply, notices := "", []string{}
	take := func(u live.Update) {
		for _, r := range u.Replies {
			if r.At != len(reply) {
				t.Errorf("at %d of %d", r.At, len(reply))
			}
			reply += r.Text
		}
		notices = append(notices, u.Notices...)
	}
	take(<-next)
	for i := range 1000 {
		c.Text("t", fmt.Sprint(i, " "))
	}
	c.Notice("one")
	c.Set(func(s *live.State) { s.Next = []string{"Ada"} })
	c.End()
	for last := false; !last; {
		resume <- struct{}{}
		u := <-next
		take(u)
		last = u.Ended
		if last && (u.State == nil || !slices.Equal(u.State.Next, []string{"Ada"})) {
			t.Errorf("the last state is %+v", u.State)
		}
	}
	close(resume)
	if fields := strings.Fields(reply); len(fields) != 1001 || fields[1000] != "999" || !slices.Equal(notices, []string{"one"}) {
		t.Errorf("%d words, notices %q", len(fields), notices)
	}
	if _, open := <-next; open {
		t.Error("an update after the end")
	}
	if err := c.Enter(live.Input{Text: "late", Role: web.RoleAll}); !errors.Is(err, live.ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}

// An input that a device repeats is entered once, also if it has left the queue without a message in the journal.
func TestEnteredOnce(t *testing.T) {
	c, queue := newConversation()
	var devices sync.WaitGroup
	for range 10 {
		devices.Go(func() {
			if err := c.Enter(live.Input{ID: "1", Text: "/fork", Role: web.RoleAll}); err != nil {
				t.Error(err)
			}
		})
	}
	devices.Wait()
	if l, err := queue.Next(nil); err != nil || l.Text != "/fork" {
		t.Errorf("%+v, %v", l, err)
	}
	if err := c.Enter(live.Input{ID: "1", Text: "/fork", Role: web.RoleAll}); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := c.Enter(live.Input{Text: "without an id", Role: web.RoleAll}); err != nil {
			t.Error(err)
		}
	}
	if got := queue.Queued(); len(got) != 2 {
		t.Errorf("queued %+v", got)
	}
}

// What an answer says gets into a prompt and onto terminals, as a message does.
func TestReasonHasNoControls(t *testing.T) {
	c, _ := newConversation()
	open := c.Ask(coordinator.Question{TurnID: "t", Permission: agent.Permission{Tool: "Bash", TakesReason: true}})
	for _, reason := range []string{"\x1b[2J", "\u009b2J", "\x7f", "\r"} {
		answer := live.Answer{Answer: coordinator.Answer{Decision: coordinator.Refused, Reason: reason}}
		if err := c.Answer("q1", answer); err == nil {
			t.Errorf("%q is taken", reason)
		}
	}
	answer := live.Answer{Answer: coordinator.Answer{Decision: coordinator.Refused, Reason: "not\tso\nbut so"}}
	if err := c.Answer("q1", answer); err != nil {
		t.Error(err)
	}
	if got, ok := open.Close(); !ok || got.Reason != answer.Reason {
		t.Errorf("%+v", got)
	}
}

// What no front end may enter never reaches an inbox.
func TestRefusedInputs(t *testing.T) {
	c, b := newConversation()
	for name, in := range map[string]live.Input{
		"a device without a role": {Text: "hello"},
		"a device that may read":  {Text: "hello", Role: web.RoleRead},
		"an empty text":           {Text: " \n", Role: web.RoleAll},
		"a control character":     {Text: "a\x1b[2Jb", Role: web.RoleAll},
		"a long text":             {Text: strings.Repeat("a", 1<<20+1), Role: web.RoleAll},
	} {
		if err := c.Enter(in); err == nil || len(b.Queued()) > 0 {
			t.Errorf("%s: entered (%v)", name, err)
		}
	}
}
