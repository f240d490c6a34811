package acp

import (
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// payloads returns the events of a session in the home.
func payloads(t *testing.T, home string, id sdk.SessionId) (all []projection.Payload) {
	t.Helper()
	a := newApp(t, home)
	found, err := find(t.Context(), a, id)
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range a.Catalog.At(found.Dir()).Events(t.Context(), found.ID) {
		if err != nil {
			t.Fatal(err)
		}
		payload, err := projection.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, payload)
	}
	return all
}

func TestPromptRunsTheTeam(t *testing.T) {
	home := t.TempDir()
	e := start(t, home, "")
	id := e.begin()
	list, err := newApp(t, home).Catalog.List(t.Context(), catalog.Query{})
	if err != nil || len(list.Sessions) != 0 {
		t.Fatalf("before the first prompt: %+v, %v", list, err)
	}
	e.say(id, "hello", sdk.StopReasonEndTurn)
	e.say(id, "@critic hello", sdk.StopReasonEndTurn)
	if text := e.text(); !strings.Contains(text, "**Planner**\n\n") || !strings.Contains(text, "**Critic**\n\n") {
		t.Errorf("the editor shows %q", text)
	}
	e.end()
	events := payloads(t, home, id)
	created, _ := events[0].(projection.SessionCreated)
	if sdk.SessionId(created.SessionID) != id || created.CWD != e.cwd {
		t.Errorf("the session is %+v, want %s", created, id)
	}
	last := events[len(events)-1]
	if ended, ok := last.(projection.SessionEnded); !ok || ended.Reason != endOfInput {
		t.Errorf("the last event is %+v", last)
	}
}

// A picture of the editor is a file of the message.
func TestPicturesOfTheEditorAreAttached(t *testing.T) {
	home := t.TempDir()
	e := start(t, home, "")
	id := e.begin()
	picture, content := aPicture(t, "")
	prompt := sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock("look "), picture}}
	if got, err := e.Prompt(t.Context(), prompt); err != nil || got.StopReason != sdk.StopReasonEndTurn {
		t.Fatalf("%+v, %v", got, err)
	}
	e.end()
	for _, p := range payloads(t, home, id) {
		said, ok := p.(projection.MessageAppended)
		if !ok {
			continue
		}
		if len(said.Attachments) != 1 || said.Attachments[0].SHA256 != attachment.Sum([]byte(content)) ||
			said.Message.Content != "look [picture.png]" {
			t.Errorf("said %+v", said)
		}
		return
	}
	t.Error("no message")
}

// says reports whether the updates have a text.
func says(text string) func([]sdk.SessionNotification) bool {
	return func(updates []sdk.SessionNotification) bool {
		return slices.ContainsFunc(updates, func(n sdk.SessionNotification) bool {
			c := n.Update.AgentMessageChunk
			return c != nil && c.Content.Text != nil && strings.Contains(c.Content.Text.Text, text)
		})
	}
}

// lastTurn returns the end of the last turn of a session.
func lastTurn(t *testing.T, home string, id sdk.SessionId) (last projection.TurnEnded) {
	t.Helper()
	for _, p := range payloads(t, home, id) {
		if ended, ok := p.(projection.TurnEnded); ok {
			last = ended
		}
	}
	return last
}

func TestEndOfInputEndsTheTurn(t *testing.T) {
	for name, end := range map[string]func(*testEditor){
		"end of input": func(e *testEditor) { e.input.Close() },
		"signal":       func(e *testEditor) { e.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			e := start(t, home, fakeTeam(t, home, "ada"))
			id := e.begin()
			ended := make(chan sdk.StopReason, 1)
			asked := make(chan struct{})
			e.answer = func(sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
				close(asked)
				select {} // the user does not answer
			}
			go func() {
				r, _ := e.Prompt(t.Context(), promptOf(id, "ask ls"))
				ended <- r.StopReason
			}()
			<-asked
			end(e)
			if reason := <-ended; reason != sdk.StopReasonCancelled {
				t.Errorf("the prompt ended with %q", reason)
			}
			if err := <-e.ended; err != nil {
				t.Error(err)
			}
			if last := lastTurn(t, home, id); last.FinishReason != projection.Cancelled {
				t.Errorf("the turn is %+v", last)
			}
		})
	}
}

func TestCancelEndsThePrompt(t *testing.T) {
	home := t.TempDir()
	e := start(t, home, fakeTeam(t, home, "ada"))
	id := e.begin()
	asked := make(chan struct{}, 2)
	canceled := make(chan struct{})
	e.answer = func(sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
		asked <- struct{}{}
		<-canceled
		return sdk.NewRequestPermissionOutcomeCancelled()
	}
	ended := make(chan sdk.StopReason, 1)
	go func() {
		r, err := e.Prompt(t.Context(), promptOf(id, "ask ls"))
		if err != nil {
			t.Error(err)
		}
		ended <- r.StopReason
	}()
	<-asked
	if _, err := e.Prompt(t.Context(), promptOf(id, "say no")); err == nil || !strings.Contains(err.Error(), "a prompt runs") {
		t.Errorf("a second prompt: %v", err)
	}
	if err := e.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	close(canceled)
	if reason := <-ended; reason != sdk.StopReasonCancelled {
		t.Errorf("the prompt ended with %q", reason)
	}
	e.say(id, "say again", sdk.StopReasonEndTurn)
	e.end()
	if !says("again")(e.updates) {
		t.Errorf("after the cancel: %q", e.text())
	}
}

func TestFailedTurnIsAnError(t *testing.T) {
	home := t.TempDir()
	writeTeam(t, home, "/nonexistent/agent", map[string]string{}, "ada")
	e := start(t, home, "crew")
	id := e.begin()
	for _, text := range []string{"hello", "/retry"} {
		_, err := e.Prompt(t.Context(), promptOf(id, text))
		if !refused(err, -32603, "Ada did not answer") || !strings.Contains(err.Error(), "/retry") {
			t.Errorf("%s: %v", text, err)
		}
	}
	e.end()
	if got := strings.Count(e.text(), "Ada did not answer"); got != 2 {
		t.Errorf("the editor shows %q", e.text())
	}
	if last := lastTurn(t, home, id); last.FinishReason != projection.Failed {
		t.Errorf("the turn is %+v", last)
	}
}

func TestPermissionIsAskedOfTheUser(t *testing.T) {
	for option, want := range map[sdk.PermissionOptionId]string{
		allowOnce: "selected this-time", allowSession: "selected this-time", rejectOnce: "selected never", "other": "selected never",
	} {
		t.Run(string(option), func(t *testing.T) {
			home := t.TempDir()
			e := start(t, home, fakeTeam(t, home, "ada"))
			asked := make(chan sdk.RequestPermissionRequest, 1)
			e.answer = func(r sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
				asked <- r
				return sdk.NewRequestPermissionOutcomeSelected(option)
			}
			id := e.begin()
			e.say(id, "ask ls", sdk.StopReasonEndTurn)
			e.end()
			r := <-asked
			if r.SessionId != id || r.ToolCall.Title == nil || !strings.HasPrefix(*r.ToolCall.Title, "Ada: ") {
				t.Errorf("asked for %+v", r.ToolCall)
			}
			if !slices.ContainsFunc(e.updates, func(n sdk.SessionNotification) bool {
				call := n.Update.ToolCall
				return call != nil && call.ToolCallId == r.ToolCall.ToolCallId
			}) {
				t.Errorf("no update has the tool call %s", r.ToolCall.ToolCallId)
			}
			if !strings.Contains(e.text(), want) {
				t.Errorf("the member got %q, want %q", e.text(), want)
			}
		})
	}
}
