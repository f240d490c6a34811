package updates_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/acp/updates"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// a listener is a coordinator.Listener with a Translator.
type listener struct {
	t   *updates.Translator
	all []sdk.SessionUpdate
}

func (l *listener) Event(e coordinator.Event) { l.all = append(l.all, l.t.Event(e)...) }
func (l *listener) Text(turnID string, _ team.Member, text string) {
	l.all = append(l.all, l.t.Text(turnID, text)...)
}
func (l *listener) Ask(context.Context, coordinator.Question) coordinator.Answer {
	return coordinator.Answer{Decision: coordinator.Allowed}
}
func (l *listener) Notice(coordinator.Notice) {}
func (l *listener) Status(coordinator.Status) {}

// A script is an engine with one list of events for each turn; an error ends one.
type script [][]any

func (s *script) Run(context.Context, agent.Turn) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if len(*s) == 0 {
			yield(agent.Text{Text: "ok"}, nil)
			return
		}
		turn := (*s)[0]
		*s = (*s)[1:]
		for _, of := range turn {
			if err, ok := of.(error); ok {
				yield(nil, err)
				return
			}
			if !yield(of.(agent.Event), nil) {
				return
			}
		}
	}
}

const secret = "ghp_0123456789abcdefghijABCDEFGHIJ456789"

func drawScript(t *rapid.T) (turns script) {
	texts := append([]string{secret, "[NEXT: ada]", "[NEXT: nobody]"}, pieces[:len(pieces)-1]...)
	for range rapid.IntRange(1, 4).Draw(t, "turns") {
		var events []any
		for i := range rapid.IntRange(1, 8).Draw(t, "events") {
			id := fmt.Sprint(i)
			switch rapid.IntRange(0, 8).Draw(t, "event") {
			case 0:
				events = append(events, agent.ToolStarted{ID: id, Name: "Bash", Input: []byte(`{"command":"` + secret + `"}`)})
			case 1:
				events = append(events, agent.ToolCompleted{ID: fmt.Sprint(i - 1), Name: "Bash", Output: "done"})
			case 2:
				events = append(events, agent.Plan{Entries: []agent.PlanEntry{{Content: id, Status: "pending"}}})
			case 3:
				events = append(events, agent.Text{Text: secret[:20]}, agent.Text{Text: secret[20:]})
			default:
				events = append(events, agent.Text{Text: rapid.SampledFrom(texts).Draw(t, "text")})
			}
		}
		if rapid.IntRange(0, 4).Draw(t, "failure") == 0 {
			events = append(events, errors.New("it failed"))
		}
		turns = append(turns, events)
	}
	return turns
}

func TestCoordinatorSessionsAreEqualLiveAndReplayed(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		kept := catalog.New(t.TempDir(), journal.Options{})
		l := &listener{t: updates.New(updates.Options{Team: crew})}
		turns := drawScript(rt)
		c := coordinator.New(coordinator.Options{
			Store: store.NewFiles(kept), Listener: l, Engines: map[string]agent.Engine{"": &turns},
			App: projection.App{Name: "test", Version: "1"}, CWD: "/somewhere", MaxRounds: 4,
		})
		if err := c.SetTeam(t.Context(), crew, coordinator.SetTeamOptions{}); err != nil {
			rt.Fatal(err)
		}
		for _, said := range []string{"@ada hello", "@bo continue"} {
			if err := c.Say(t.Context(), "", said); err != nil && !errors.As(err, new(*coordinator.TurnError)) {
				rt.Fatal(err)
			}
		}
		id := c.Session().ID
		if err := c.Stop("end"); err != nil {
			rt.Fatal(err)
		}
		var events []journal.Event
		for e, err := range kept.Team(crew.ID).Events(t.Context(), id) {
			if err != nil {
				rt.Fatal(err)
			}
			e.Data = append([]byte{}, e.Data...)
			events = append(events, e)
		}
		check(t, l.all)
		if len(replies(l.all)) < 2 || strings.Contains(text(l.all), secret[:20]) {
			rt.Fatalf("the client has %q", text(l.all))
		}
		if diff := cmp.Diff(replies(l.all), replies(replay(events)), cmp.AllowUnexported(message{})); diff != "" {
			rt.Fatalf("live and replayed (-live +replayed):\n%s", diff)
		}
	})
}
