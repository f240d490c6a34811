package interchange_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
)

const tracedID = "01KAVF3Z8H6R2QW9T4XN7CBM1D"

// traced returns a session with a message, a turn with two tool calls, one that failed, and one without an end.
func traced(t *testing.T) (*projection.State, []journal.Event) {
	t.Helper()
	mia := projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	ada := projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	start := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	usage := projection.Usage{Input: 10, CachedRead: 5, Output: 3, Thought: 1, Cost: &projection.Cost{Amount: 0.5, Currency: "EUR"}}
	var events []journal.Event
	var state projection.State
	var at journal.Position
	for i, p := range []projection.Payload{
		projection.SessionCreated{SessionID: tracedID, Team: projection.Team{ID: "crew", Name: "crew"}},
		projection.MessageAppended{Message: projection.Message{ID: "m1", Speaker: mia, Content: "the question"}},
		projection.TurnStarted{TurnID: "t1", MemberID: "ada", AgentType: "claude", Model: "big", TriggerMessageID: "m1"},
		projection.ToolStarted{TurnID: "t1", ToolID: "x", Name: "Bash", Input: json.RawMessage(`{"command":"the command"}`)},
		projection.ToolCompleted{TurnID: "t1", ToolID: "x", Output: "the output"},
		projection.ToolStarted{TurnID: "t1", ToolID: "x", Name: "Edit"},
		projection.ToolCompleted{TurnID: "t1", ToolID: "x", Error: "the failure"},
		projection.MessageAppended{TurnID: "t1", Message: projection.Message{ID: "m2", Speaker: ada, Content: "the reply"}},
		projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Done, Usage: &usage},
		projection.TurnStarted{TurnID: "t2", MemberID: "ada", AgentType: "own", TriggerMessageID: "m2"},
		projection.TurnEnded{TurnID: "t2", MemberID: "ada", FinishReason: projection.Failed, Error: "the error"},
		projection.TurnStarted{TurnID: "t3", MemberID: "ada", AgentType: "codex", TriggerMessageID: "m2"},
		projection.ToolStarted{TurnID: "t3", ToolID: "x", Name: "Bash"},
	} {
		e, next, err := at.Next(projection.Record(start.Add(time.Duration(i)*time.Second), p))
		if err != nil {
			t.Fatal(err)
		}
		state.Apply(e)
		events, at = append(events, e), next
	}
	return &state, events
}

// The spans of a session are those of the golden file, and without texts they have none.
func TestOTLP(t *testing.T) {
	state, events := traced(t)
	for _, texts := range []bool{false, true} {
		var out strings.Builder
		err := interchange.WriteOTLP(&out, state, projection.Decoded(projectiontest.Sequence(events, nil)),
			interchange.OTLPOptions{Version: "1.2.3", Texts: texts})
		if err != nil {
			t.Fatal(err)
		}
		if !texts && strings.Contains(out.String(), "the ") {
			t.Errorf("texts are in %s", out.String())
		}
		file := "testdata/otlp-spans.json"
		if texts {
			file = "testdata/otlp-texts.json"
		}
		if *update {
			if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

func TestOTLPReturnsErrors(t *testing.T) {
	state, events := traced(t)
	var o interchange.OTLPOptions
	for n := 0; n < 8000; n += 500 {
		all := projection.Decoded(projectiontest.Sequence(events, nil))
		if err := interchange.WriteOTLP(&fullWriter{n}, state, all, o); n < 4000 && !errors.Is(err, errFull) {
			t.Errorf("full after %d bytes: %v", n, err)
		}
	}
	broken := projection.Decoded(projectiontest.Sequence(events, errBroken))
	if err := interchange.WriteOTLP(io.Discard, state, broken, o); !errors.Is(err, errBroken) {
		t.Errorf("broken: %v", err)
	}
}
