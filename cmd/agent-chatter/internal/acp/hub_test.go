package acp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
	"github.com/agent-chatter/agent-chatter/projection"
)

// newMachine returns the App of a machine with a new home that shares a hub.
func newMachine(t *testing.T, engine hub.Engine) *app.App {
	t.Helper()
	dir := t.TempDir()
	config := `{"hub": {"urls": ["nats://hub"], "teams": ["*"], "mode": "sync"}}`
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	a := newApp(t, dir)
	a.Remote = &home.Connection{
		Home: a.Home, Config: a.Config,
		Open: func(context.Context, jetstream.Options) (hub.Engine, error) { return engine, nil },
	}
	return a
}

func TestSessionOnTheHub(t *testing.T) {
	engine := &hubtest.Memory{}
	a := newMachine(t, engine)
	here, there := startApp(t, a, ""), startApp(t, newMachine(t, engine), "")
	id := here.begin()
	here.say(id, "hello", sdk.StopReasonEndTurn)
	shown := here.text()
	// It is claimed while it is open.
	if _, err := there.load(id); !refused(err, -32603, "is claimed by") || !strings.Contains(err.Error(), a.Home) {
		t.Errorf("a claimed session: %v", err)
	}
	if _, err := here.CloseSession(t.Context(), sdk.CloseSessionRequest{SessionId: id}); err != nil {
		t.Fatal(err)
	}
	if _, err := there.load(id); err != nil {
		t.Fatal(err)
	}
	if got := there.text(); got != shown {
		t.Errorf("on the other machine: %q, want %q", got, shown)
	}
	there.say(id, "hello again", sdk.StopReasonEndTurn)
	there.end()
	here.end()
}

func TestSessionThatAnotherMachineTakesOver(t *testing.T) {
	engine := &hubtest.Memory{}
	a, other := newMachine(t, engine), newMachine(t, engine)
	e := startApp(t, a, "")
	id := e.begin()
	e.say(id, "hello", sdk.StopReasonEndTurn)
	config, err := other.Config()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Find(t.Context(), string(id)); err != nil { // fetches it
		t.Fatal(err)
	}
	log, state, err := host.NewHub(other, config.Hub, true).Store.Open(t.Context(), "demo", string(id))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close(state)
	said := projection.MessageAppended{Message: projection.Message{ID: "1", Content: "mine", Speaker: projection.Speaker{
		ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman,
	}}}
	events, err := log.Append(projection.Record(time.Now(), said))
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range events {
		state.Apply(event)
	}
	if err := log.Save(state); err != nil {
		t.Fatal(err)
	}
	// The save of this prompt finds out.
	if _, err := e.Prompt(t.Context(), promptOf(id, "hello here")); err != nil {
		t.Fatal(err)
	}
	_, err = e.Prompt(t.Context(), promptOf(id, "hello again"))
	if !refused(err, -32603, "chat --resume") || !strings.Contains(err.Error(), "What was written here since then") {
		t.Errorf("after it was taken over: %v", err)
	}
	if _, err := e.Prompt(t.Context(), promptOf(id, "hello again")); !refused(err, notFoundCode, "not open") {
		t.Errorf("then: %v", err)
	}
	e.end()
}
