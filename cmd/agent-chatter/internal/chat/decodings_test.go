package chat

import (
	"context"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// looking is an engine whose agent looks at a file.
type looking struct{}

func (looking) Run(context.Context, agent.Turn) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		_ = yield(agent.Text{Text: "I look. "}, nil) &&
			yield(agent.ToolStarted{ID: "1", Name: "Bash", Input: []byte(`{"command":"cat plug.txt"}`)}, nil) &&
			yield(agent.ToolCompleted{ID: "1", Name: "Bash", Output: "off"}, nil) &&
			yield(agent.Text{Text: "It is off."}, nil)
	}
}

// A chat on a terminal decodes each event that it appends once.
func TestChatDecodesEachEventOnce(t *testing.T) {
	var shown strings.Builder
	a := &app.App{Printer: app.Printer{IO: app.IO{Stdout: io.Discard, Stderr: io.Discard}}}
	d := &display{Reporter: &view.Reporter{App: a, Saved: func() {}}, repl: &repl{app: a},
		Surface: &console.Printer{Out: &shown, Model: console.Model{Style: view.Style{Width: 80}}}}
	kept := catalog.New(t.TempDir(), journal.Options{})
	c := coordinator.New(coordinator.Options{
		Store: store.NewFiles(kept), Listener: d, Engines: map[string]agent.Engine{"demo": looking{}},
		App: projection.App{Name: "test", Version: "1"}, MaxRounds: 4,
	})
	demo := team.Demo()
	d.begin(demo)
	before := projection.Decodings()
	if err := c.SetTeam(t.Context(), demo, coordinator.SetTeamOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Say(t.Context(), "", "@"+demo.Members[1].Name+" Look."); err != nil {
			t.Fatal(err)
		}
	}
	id := c.Session().ID
	if err := c.Stop("end"); err != nil {
		t.Fatal(err)
	}
	decoded := projection.Decodings() - before
	events := uint64(0)
	for _, err := range kept.Team(demo.ID).Events(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		events++
	}
	if decoded != events || strings.Count(shown.String(), "It is off.") < 2 {
		t.Errorf("%d decodings of %d events; it shows\n%s", decoded, events, shown.String())
	}
}
