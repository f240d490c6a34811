//go:build unix

package acp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live/remote"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A phone is another front end of a session.
type phone struct {
	t *testing.T
	live.Shared
	updates chan live.Update
	state   live.State
}

// attach attaches a phone to a session of the editor, as another process does.
func (e *testEditor) attach(id sdk.SessionId) *phone {
	e.t.Helper()
	a := newApp(e.t, e.home)
	found, err := find(e.t.Context(), a, id)
	if err != nil {
		e.t.Fatal(err)
	}
	key := catalog.Key{Dir: found.Dir(), ID: found.ID}
	shared, err := remote.Attach(e.t.Context(), e.home, key, a.Catalog.At(key.Dir).Journals().Writer(key.ID))
	if err != nil {
		e.t.Fatal(err)
	}
	p := &phone{t: e.t, Shared: shared, updates: make(chan live.Update)}
	ctx, stop := context.WithCancel(context.Background())
	e.t.Cleanup(stop)
	go func() {
		defer close(p.updates)
		for u := range shared.Watch(ctx) {
			select {
			case p.updates <- u:
			case <-ctx.Done():
			}
		}
	}()
	return p
}

// await waits for an update that satisfies a condition, given the newest state.
func (p *phone) await(satisfied func(live.State, live.Update) bool) {
	p.t.Helper()
	for u := range p.updates {
		if u.State != nil {
			p.state = *u.State
		}
		if satisfied(p.state, u) {
			return
		}
	}
	p.t.Fatal("the conversation has ended")
}

// idle waits until a person is next.
func (p *phone) idle() {
	p.t.Helper()
	p.await(func(s live.State, _ live.Update) bool { return len(s.Waiting) > 0 && len(s.Queue) == 0 })
}

func (p *phone) enter(text string) {
	p.t.Helper()
	in := live.Input{ID: text, Text: text, From: "phone", Role: web.RoleAnswer}
	if err := p.Enter(in); err != nil {
		p.t.Fatalf("%q: %v", text, err)
	}
}

// sharedEditor starts an editor with a session that has a message, and a phone in it.
func sharedEditor(t *testing.T) (*testEditor, sdk.SessionId, *phone) {
	home := shortDir(t)
	e := start(t, home, engineTeam(t, home, "acp"))
	id := e.begin()
	e.say(id, "echo hello", sdk.StopReasonEndTurn)
	return e, id, e.attach(id)
}

// shortDir returns a directory whose path is short enough for that of a socket.
func shortDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/tmp", "ac")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// The editor starts the program before there is a home.
func TestFrontEndInTheFirstSessionOfAHome(t *testing.T) {
	e := start(t, filepath.Join(shortDir(t), "h"), "")
	id := e.begin()
	e.say(id, "hello", sdk.StopReasonEndTurn)
	e.attach(id).idle()
}

// users returns the messages of people that an editor was sent.
func users(updates []sdk.SessionNotification) (all []string) {
	for _, n := range updates {
		if c := n.Update.UserMessageChunk; c != nil && c.Content.Text != nil {
			all = append(all, c.Content.Text.Text)
		}
	}
	return all
}

// What is entered elsewhere gets its turns while the editor waits, and the editor shows it.
func TestMessageOfAnotherFrontEnd(t *testing.T) {
	e, id, p := sharedEditor(t)
	p.idle()
	p.enter("echo from the phone")
	p.await(func(s live.State, _ live.Update) bool { return len(s.Sent) == 1 && len(s.Waiting) > 0 })
	e.await(func(updates []sdk.SessionNotification) bool {
		return slices.Equal(users(updates), []string{"echo from the phone"})
	})
	p.enter("/members")
	p.await(func(_ live.State, u live.Update) bool { return strings.Contains(strings.Join(u.Notices, ""), "(@ada)") })
	for _, refused := range []string{"/task x", "/permissions ada allow", "/own x"} {
		if err := p.Enter(live.Input{Text: refused, From: "phone", Role: web.RoleAnswer}); err == nil {
			t.Errorf("%s was entered", refused)
		}
	}
	// Agents must not get what only a chat can do, such as the command that the page enters for a rewind.
	for _, refused := range []string{"/rewind both 3", "/status", "/end", "/unknown"} {
		if err := p.Enter(live.Input{Text: refused, From: "page", Role: web.RoleAll}); err == nil {
			t.Errorf("%s was entered", refused)
		}
	}
	if c := p.Complete(web.RoleAnswer, "/re"); len(c.Choices) != 1 || c.Choices[0].Insert != "/retry" {
		t.Errorf("completed with %+v", c)
	}
	e.end()
	p.await(func(_ live.State, u live.Update) bool { return u.Ended })
	device := ""
	for ev, err := range newApp(t, e.home).Catalog.Team("crew").Events(t.Context(), string(id)) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := projection.DecodeEvent(ev).Payload.(projection.InputReceived); ok {
			device = r.Device
		}
	}
	if device != "phone" {
		t.Errorf("recorded the device %q", device)
	}
}

// The first answer counts; what is queued can be taken back, and is returned when the turn is cancelled.
func TestAnswerAndQueueOfAnotherFrontEnd(t *testing.T) {
	e, id, p := sharedEditor(t)
	asked := make(chan struct{}, 9)
	e.answer = func(sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
		asked <- struct{}{}
		select {} // its user does not answer
	}
	file := filepath.Join(t.TempDir(), "made")
	prompt := func() <-chan sdk.StopReason {
		ended := make(chan sdk.StopReason, 1)
		go func() {
			r, _ := e.Prompt(t.Context(), promptOf(id, "touch "+file))
			ended <- r.StopReason
		}()
		<-asked
		p.await(func(s live.State, _ live.Update) bool { return len(s.Questions) == 1 })
		return ended
	}
	ended := prompt()
	p.enter("later")
	p.await(func(s live.State, _ live.Update) bool { return len(s.Queue) == 1 })
	if text, err := p.TakeBack("later"); text != "later" || err != nil {
		t.Errorf("took back %q, %v", text, err)
	}
	answer := live.Answer{Answer: coordinator.Answer{Decision: coordinator.Allowed}, By: "phone"}
	if err := p.Answer(p.state.Questions[0].ID, answer); err != nil {
		t.Fatal(err)
	}
	if reason := <-ended; reason != sdk.StopReasonEndTurn {
		t.Errorf("the prompt ended with %s", reason)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	if answer := lastAnswer(t, e.home, id); !answer.Allowed || answer.Device != "phone" {
		t.Errorf("recorded %+v", answer)
	}
	p.idle()

	ended = prompt()
	p.enter("not sent")
	if err := p.Cancel(""); err != nil {
		t.Fatal(err)
	}
	p.await(func(_ live.State, u live.Update) bool {
		return len(u.Returned) == 1 && u.Returned[0].Text == "not sent"
	})
	if reason := <-ended; reason != sdk.StopReasonCancelled {
		t.Errorf("the prompt ended with %s", reason)
	}
}

// The editor can cancel turns that a message of another front end has begun, with and without a prompt that waits.
func TestEditorCancelsTurnsOfAnotherFrontEnd(t *testing.T) {
	for _, waits := range []bool{false, true} {
		e, id, p := sharedEditor(t)
		asked := make(chan struct{}, 9)
		e.answer = func(sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
			asked <- struct{}{}
			select {}
		}
		p.idle()
		p.enter("touch " + filepath.Join(t.TempDir(), "made"))
		<-asked
		p.await(func(s live.State, _ live.Update) bool { return len(s.Questions) == 1 })
		ended := make(chan sdk.StopReason, 1)
		if waits {
			go func() {
				r, _ := e.Prompt(t.Context(), promptOf(id, "echo waiting"))
				ended <- r.StopReason
			}()
		}
		if err := e.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}); err != nil {
			t.Fatal(err)
		}
		p.idle()
		if waits {
			if reason := <-ended; reason != sdk.StopReasonCancelled && reason != sdk.StopReasonEndTurn {
				t.Errorf("the prompt ended with %s", reason)
			}
		}
		if err := p.Answer("q1", live.Answer{}); !errors.As(err, new(*live.AnsweredError)) {
			t.Errorf("answered after that: %v", err)
		}
		e.end()
	}
}

// When another front end stops a turn, the editor does not show a request for permission any more.
func TestStopWithdrawsTheQuestionOfTheEditor(t *testing.T) {
	e, id, p := sharedEditor(t)
	e.withdrawn = make(chan struct{})
	p.idle()
	p.enter("touch " + filepath.Join(t.TempDir(), "made"))
	p.await(func(s live.State, _ live.Update) bool { return len(s.Questions) == 1 })
	if err := p.Cancel(""); err != nil {
		t.Fatal(err)
	}
	<-e.withdrawn
	p.idle()
	e.say(id, "echo after", sdk.StopReasonEndTurn)
}

// A line that arrives while the session is being closed does not begin a turn.
func TestEnteredWhileTheSessionIsClosed(t *testing.T) {
	home := shortDir(t)
	a := newApp(t, home)
	config, err := a.Config()
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(a, config, engineTeam(t, home, "acp"))
	o, err := s.newSession(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.turn.Lock()
	if err := o.queue.Enter(tty.Line{Text: "echo queued"}); err != nil { // sendQueued waits for the lock
		t.Fatal(err)
	}
	closed := make(chan error)
	go func() { closed <- o.close("closed") }()
	for !o.isEnding() || len(o.queue.Queued()) > 0 {
		runtime.Gosched()
	}
	if err := o.live.Enter(live.Input{Text: "echo late", Role: web.RoleAll}); !errors.Is(err, live.ErrEnded) {
		t.Errorf("entered: %v", err)
	}
	if err := o.queue.Enter(tty.Line{Text: "echo raced"}); err != nil { // after Enter has looked
		t.Fatal(err)
	}
	o.sendNext() // has the lock before close has
	o.turn.Unlock()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if o.saved {
		t.Error("a turn has begun")
	}
}

// An agent that takes no reason of a refusal gets it as a message.
func TestReasonOfAnotherFrontEnd(t *testing.T) {
	e, id, p := sharedEditor(t)
	e.answer = func(sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome { select {} }
	ended := make(chan sdk.StopReason, 1)
	go func() {
		r, _ := e.Prompt(t.Context(), promptOf(id, "touch "+filepath.Join(t.TempDir(), "made")))
		ended <- r.StopReason
	}()
	p.await(func(s live.State, _ live.Update) bool { return len(s.Questions) == 1 })
	refusal := coordinator.Answer{Decision: coordinator.Refused, Reason: "too risky"}
	if err := p.Answer(p.state.Questions[0].ID, live.Answer{Answer: refusal, By: "phone"}); err != nil {
		t.Fatal(err)
	}
	if reason := <-ended; reason != sdk.StopReasonEndTurn {
		t.Errorf("the prompt ended with %s", reason)
	}
	e.await(func(updates []sdk.SessionNotification) bool {
		return slices.ContainsFunc(users(updates), func(text string) bool { return strings.HasSuffix(text, ": too risky") })
	})
}
