package acp

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal/journaltest"
)

// A part is what an editor has of a message, a tool call, a plan, or the state of the session.
type part struct{ ID, Text string }

// history returns what the members of a session have said and done, as an editor has it. Messages are the joined texts,
// in the order in which they begin.
func (e *testEditor) history(t *testing.T) (messages, others []part) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range e.updates {
		u := n.Update
		switch {
		case u.UserMessageChunk != nil, u.AvailableCommandsUpdate != nil, u.ConfigOptionUpdate != nil:
			continue
		case u.AgentMessageChunk == nil:
			line, err := json.Marshal(u)
			if err != nil {
				t.Fatal(err)
			}
			others = append(others, part{Text: string(line)})
			continue
		case u.AgentMessageChunk.MessageId == nil: // a notice
			continue
		}
		id, text := *u.AgentMessageChunk.MessageId, u.AgentMessageChunk.Content.Text.Text
		i := slices.IndexFunc(messages, func(p part) bool { return p.ID == id })
		if i < 0 {
			i = len(messages)
			messages = append(messages, part{ID: id})
		}
		messages[i].Text += text
	}
	return messages, others
}

// TestLoadSendsWhatTheClientHad ends turns in each way.
func TestLoadSendsWhatTheClientHad(t *testing.T) {
	home := t.TempDir()
	e := start(t, home, fakeTeam(t, home, "ada", "bob"))
	asked := 0
	e.answer = func(sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
		asked++
		return sdk.NewRequestPermissionOutcomeSelected([]sdk.PermissionOptionId{allowOnce, rejectOnce}[asked%2])
	}
	id := e.begin()
	for _, prompt := range []string{
		"say one [NEXT: bob] [NEXT: ada] and more", "plan", "edit kettle.go", "edit plug.go", "long 200000",
		"retry 429 Too Many Requests", "fail it is\nbroken", "mute refusal", "@bob whole ```go", "crash", "say  \t last",
	} {
		canceled := make(chan struct{})
		if strings.HasPrefix(prompt, "retry") { // it does not end by itself
			go func() {
				defer close(canceled)
				e.await(says("is retrying"))
				if err := e.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}); err != nil {
					t.Error(err)
				}
			}()
		} else {
			close(canceled)
		}
		_, _ = e.Prompt(t.Context(), promptOf(id, prompt)) // some fail
		<-canceled
	}
	e.end()
	messages, others := e.history(t)
	loading := start(t, home, "")
	if _, err := loading.load(id); err != nil {
		t.Fatal(err)
	}
	loading.end()
	loaded, loadedOthers := loading.history(t)
	if diff := cmp.Diff(messages, loaded); diff != "" {
		t.Errorf("the messages (-live +loaded):\n%s", diff)
	}
	if diff := cmp.Diff(others, loadedOthers); diff != "" {
		t.Errorf("the other updates (-live +loaded):\n%s", diff)
	}
	if len(messages) < 11 || len(others) < 20 {
		t.Errorf("%d messages and %d other updates", len(messages), len(others))
	}
}

// TestLoadOfOtherKindsOfSessions loads a session that was archived, its fork, and it again after its team was renamed.
func TestLoadOfOtherKindsOfSessions(t *testing.T) {
	home := t.TempDir()
	e := start(t, home, fakeTeam(t, home, "ada", "bob"))
	id := e.begin()
	for _, prompt := range []string{"say ```go", "plan", "@bob whole one", "fail it is broken"} {
		_, _ = e.Prompt(t.Context(), promptOf(id, prompt)) // the last one fails
	}
	e.end()
	messages, others := e.history(t)
	compare := func(kind string, e *testEditor, id sdk.SessionId) {
		t.Helper()
		e.forget()
		if _, err := e.load(id); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		loaded, loadedOthers := e.history(t)
		if diff := cmp.Diff(messages, loaded); diff != "" {
			t.Errorf("the messages of %s (-live +loaded):\n%s", kind, diff)
		}
		if diff := cmp.Diff(others, loadedOthers); diff != "" {
			t.Errorf("the other updates of %s (-live +loaded):\n%s", kind, diff)
		}
	}
	if err := journaltest.Archive(t.Context(), newApp(t, home).Catalog.Team("crew").Journals(), string(id)); err != nil {
		t.Fatal(err)
	}
	e = start(t, home, "")
	compare("an archived session", e, id)
	fork, err := e.UnstableForkSession(t.Context(), sdk.UnstableForkSessionRequest{SessionId: id, Cwd: e.cwd})
	if err != nil {
		t.Fatal(err)
	}
	compare("a fork", e, fork.SessionId)
	e.end()

	path := filepath.Join(home, "team-config", "crew.json")
	file, err := os.ReadFile(path)
	if err != nil || !json.Valid(file) {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(file, []byte(`"Ada"`), []byte(`"Countess"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	compare("a team that was renamed", start(t, home, ""), id)
}
