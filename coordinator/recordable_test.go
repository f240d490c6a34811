package coordinator_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// inputs are inputs of tools that a reader may not be able to decode.
var inputs = []string{
	`{"n":1e999}`, `{"n":-1e999,"m":[1E+400,2]}`, `{"n":` + strings.Repeat("9", 400) + `}`, `1e999`, `"1e999"`,
	strings.Repeat("[", 9999) + strings.Repeat("]", 9999), `{"a":1`, `{"a":"\ud800"}`, "\"\xff\"", "", "null",
	`{"a":1,"a":1e999}`, `{"long":"` + strings.Repeat("x", 64<<10) + `"}`, ` {"n" : 1e309 , "s":"<\u003c"}`,
}

// texts are what an agent may use as an id, a name, or an output.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", "\xff\xfe", "\x00\x1b[31m", "\u2028", strings.Repeat("é", 3<<10), strings.Repeat("\xff", 70<<10), shapedKey,
		"pending", "in_progress", "completed", "high", "USD", "usd",
	}))
}

func counts() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{0, -1, math.MaxInt64, math.MinInt64}))
}

func costs() *rapid.Generator[*agent.Cost] {
	return rapid.Custom(func(t *rapid.T) *agent.Cost {
		if !rapid.Bool().Draw(t, "known") {
			return nil
		}
		amounts := []float64{0, 0.5, -1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 5e-324}
		return &agent.Cost{
			Amount: rapid.SampledFrom(amounts).Draw(t, "amount"), Currency: texts().Draw(t, "currency"),
		}
	})
}

// reports are what an agent may report in a turn.
func reports() *rapid.Generator[agent.Event] {
	started := rapid.Custom(func(t *rapid.T) agent.Event {
		return agent.ToolStarted{
			ID: texts().Draw(t, "id"), Name: texts().Draw(t, "name"),
			Input: json.RawMessage(rapid.SampledFrom(inputs).Draw(t, "input")),
		}
	})
	completed := rapid.Custom(func(t *rapid.T) agent.Event {
		return agent.ToolCompleted{
			ID: texts().Draw(t, "id"), Name: texts().Draw(t, "name"), Output: texts().Draw(t, "output"),
			Error: texts().Draw(t, "error"), Omitted: rapid.Int64Range(0, 1<<40).Draw(t, "omitted"),
		}
	})
	plan := rapid.Custom(func(t *rapid.T) agent.Event {
		entry := rapid.Custom(func(t *rapid.T) agent.PlanEntry {
			return agent.PlanEntry{
				Content: texts().Draw(t, "content"), Status: texts().Draw(t, "status"), Priority: texts().Draw(t, "priority"),
			}
		})
		return agent.Plan{Entries: rapid.SliceOfN(entry, 0, 3).Draw(t, "entries")}
	})
	usage := rapid.Custom(func(t *rapid.T) agent.Event {
		return agent.Usage{
			Input: counts().Draw(t, "input"), CachedRead: counts().Draw(t, "read"), CachedWrite: counts().Draw(t, "written"),
			Output: counts().Draw(t, "output"), Thought: counts().Draw(t, "thought"), Cost: costs().Draw(t, "cost"),
			Context: counts().Draw(t, "context"), Window: counts().Draw(t, "window"),
		}
	})
	session := rapid.Custom(func(t *rapid.T) agent.Event { return agent.SessionStarted{ID: texts().Draw(t, "session")} })
	text := rapid.Custom(func(t *rapid.T) agent.Event { return agent.Text{Text: texts().Draw(t, "text")} })
	return rapid.OneOf(started, completed, plan, usage, session, text)
}

// rapid must not write failing inputs to testdata, which every later run would repeat.
func init() { flag.Set("rapid.nofailfile", "true") }

func TestEventsMatchTheirSchemaWhateverAgentsReport(t *testing.T) {
	propertytest.Check(t, func(rt *rapid.T) {
		reported := rapid.SliceOfN(reports(), 1, 30).Draw(rt, "reports")
		s := newFixture(t, &store.Memory{}, yields(nil, reported...))
		s.setTeam(keyed(t), "")
		_ = s.Say(t.Context(), "you", "go") // a turn without a reply fails
		checkSchema(rt, s.recorder.appended)
	})
}

// checkSchema checks that events match the schema.
func checkSchema(t rapid.TB, events []journal.Event) {
	t.Helper()
	if len(events) < 3 {
		t.Errorf("there are only %d events", len(events))
	}
	for _, e := range events {
		line := fmt.Appendf(nil, `{"seq":1,"time":"2026-01-01T00:00:00Z","type":%q,"data":%s,"sum":"00000000"}`,
			e.Type, e.Data)
		if err := schemas.Check(schemas.JournalEvent, line); err != nil {
			t.Errorf("%v: %.2000s", err, line)
		}
	}
}

func TestReportsAreRecordedWithinTheirLimits(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	many := make([]agent.PlanEntry, 150)
	for i := range many {
		many[i] = agent.PlanEntry{Content: long[:2<<10], Status: "paused", Priority: "urgent"}
	}
	s := newFixture(t, &store.Memory{}, yields(nil, agent.SessionStarted{ID: long}, agent.ToolStarted{ID: long, Name: long},
		agent.ToolCompleted{ID: long, Name: long, Output: "out", Omitted: 7, Error: long}, agent.Plan{Entries: many},
		agent.Plan{}, agent.Text{Text: "ok"}))
	s.setTeam(testTeam(), "")
	s.say("go")
	started := payloads[projection.ToolStarted](t, s.recorder.appended)[0]
	checkEqual(t, "the lengths of a start", []int{len(started.ToolID), len(started.Name)}, []int{1 << 10, 1 << 10})
	done := payloads[projection.ToolCompleted](t, s.recorder.appended)[0]
	checkEqual(t, "the lengths of an end", []int{len(done.ToolID), len(done.Error), int(done.OutputBytes)},
		[]int{1 << 10, 64 << 10, 10})
	checkEqual(t, "the length of the session", len(s.lastEnd().AgentSession), 1<<10)
	plans := payloads[projection.PlanUpdated](t, s.recorder.appended)
	checkEqual(t, "the entries and the omitted ones", []int{len(plans[0].Entries), plans[0].More}, []int{100, 50})
	entry := projection.PlanEntry{Content: long[:projection.MaxPlanContent], Status: projection.Pending}
	checkEqual(t, "an entry", plans[0].Entries[99], entry)
	checkEqual(t, "an empty plan", plans[1].Entries, []projection.PlanEntry{})
}

// Agents report errors of any length, such as a line of 32 MiB.
func TestErrorsAreBounded(t *testing.T) {
	const limit = 8 << 10
	long := strings.Repeat("no ", 1<<20)
	s := newFixture(t, &store.Memory{}, yields(errors.New(long), agent.Retry{Reason: long}, agent.Text{Text: "half"}))
	s.setTeam(testTeam(), "")
	failed := turnError(t, s.Say(t.Context(), "you", "go"), "ada", projection.Failed)
	checkEqual(t, "the lengths of the errors", []int{len(failed.Message), len(failed.Detail), len(s.lastEnd().Error)},
		[]int{limit, limit, limit})
	for _, line := range s.recorder.lines {
		if len(line) > 2*limit {
			t.Errorf("a notice has %d bytes: %.40q", len(line), line)
		}
	}
	checkEqual(t, "the partial reply", s.lastEnd().Partial, "half")
}

func TestNumbersBeyondRangeBecomeStrings(t *testing.T) {
	huge := strings.Repeat("9", 400)
	input := json.RawMessage(`{"n":1e999,"s":"1e999","l":[-1e999,` + huge + `,12345678901234567890,0.10],"m":{"1e999":2}}`)
	s := newFixture(t, &store.Memory{}, yields(nil, agent.ToolStarted{ID: "1", Input: input}, agent.Text{Text: "ok"}))
	s.setTeam(testTeam(), "")
	s.say("go")
	const want = `{"n":"1e999","s":"1e999","l":["-1e999","%s",12345678901234567890,0.10],"m":{"1e999":2}}`
	got := payloads[projection.ToolStarted](t, s.recorder.appended)[0].Input
	checkEqual(t, "the input", string(got), fmt.Sprintf(want, huge))
}
