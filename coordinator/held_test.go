package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/projection"
)

// testMaxHeld is how many bytes of events may be only in memory in these tests.
const testMaxHeld = 64 << 10

// floods returns a turn that yields many more events than may be held. It has an end, so that a test in which no limit
// is enforced fails soon.
func floods(event func(i int) agent.Event) turnFunc {
	return func(ctx context.Context, _ agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			for i := range testMaxHeld / 8 {
				if ctx.Err() != nil {
					yield(nil, context.Cause(ctx))
					return
				}
				if !yield(event(i), nil) {
					return
				}
			}
		}
	}
}

// floodEvents are the kinds of events that an agent can report without end. Each of them holds more than 8 bytes.
var floodEvents = map[string]func(i int) agent.Event{
	"starts of tools": func(i int) agent.Event { return agent.ToolStarted{ID: fmt.Sprint(i), Name: "sh"} },
	"ends of tools":   func(i int) agent.Event { return agent.ToolCompleted{ID: fmt.Sprint(i), Output: "done"} },
	"plans": func(i int) agent.Event {
		return agent.Plan{Entries: []agent.PlanEntry{{Content: fmt.Sprint("step ", i)}}}
	},
	"text between tools": func(i int) agent.Event {
		if i%2 == 0 {
			return agent.Text{Text: "now the next one"}
		}
		return agent.ToolStarted{ID: fmt.Sprint(i), Name: "sh"}
	},
}

// startHeld returns a coordinator of which at most testMaxHeld bytes of events are only in memory.
func startHeld(t *testing.T, s store.Store, manual bool, script ...turnFunc) *fixture {
	t.Helper()
	f := newFixture(t, s, script...)
	options := f.options(s)
	options.ManualSave = manual
	options.SetMaxHeld(testMaxHeld)
	f.Coordinator = coordinator.New(options)
	f.setTeam(testTeam(), "")
	return f
}

// heldError checks that an error is a *HeldError.
func heldError(t *testing.T, err error, saves bool) {
	t.Helper()
	held, ok := errors.AsType[*coordinator.HeldError](err)
	if !ok || held.Limit != testMaxHeld || held.Saves != saves {
		t.Fatalf("the error is %v: %+v", err, held)
	}
	var want hint.Hint
	if saves {
		want = hint.Hint{Kind: hint.Slash, Argv: []string{"save"}}
	}
	checkEqual(t, "the hint", held.Hint(), want)
	if strings.Contains(held.Error(), "once they are saved") != saves || !strings.Contains(held.Error(), fmt.Sprint(testMaxHeld)) {
		t.Errorf("the message is %q", held)
	}
}

// checkHeld checks that a flood ended before it filled the memory.
func (s *fixture) checkHeld() {
	s.t.Helper()
	bytes := 0
	for _, e := range s.recorder.held {
		bytes += store.Size(e.Data)
	}
	if bytes < testMaxHeld/2 || bytes > testMaxHeld+testMaxHeld/4 {
		s.t.Errorf("%d bytes are in memory, the limit is %d", bytes, testMaxHeld)
	}
}

func TestFloodEndsTurnWhenMemoryIsFull(t *testing.T) {
	for name, event := range floodEvents {
		t.Run(name+", saved on demand", func(t *testing.T) {
			d := onDisk(t, 0)
			s := startHeld(t, d, true, floods(event))
			heldError(t, turnError(t, s.Say(t.Context(), "you", "hello"), "ada", projection.Failed), true)
			s.checkHeld()
			heldError(t, s.Say(t.Context(), "you", "again"), true)
			if err := s.Save(); err != nil {
				t.Fatal(err)
			}
			syncs := d.operations(func(kind, rest string) bool {
				return kind == "sync" && strings.HasSuffix(rest, ".jsonl")
			})
			if len(syncs) < 4 { // the journal keeps in memory what is not synced
				t.Errorf("it was saved in %d parts", len(syncs))
			}
			s.say("now")
			if err := s.Save(); err != nil {
				t.Fatal(err)
			}
			s.checkComplete(d, "you: hello", "you: now", "ada: ok")
			checkEqual(t, "the notified events", s.recorder.appended, d.events(s.Session().ID))
		})
		t.Run(name+", on a full disk", func(t *testing.T) {
			d := onDisk(t, 0)
			s := startHeld(t, d, false, floods(event))
			d.FailFrom(1, syscall.ENOSPC)
			heldError(t, turnError(t, s.Say(t.Context(), "you", "hello"), "ada", projection.Failed), true)
			s.checkHeld()
			heldError(t, s.Retry(t.Context()), true)
			heldError(t, s.SetTask("a boat"), true)
			d.Heal()
			s.say("now") // which saves first
			s.checkComplete(d, "you: hello", "you: now", "ada: ok")
		})
		t.Run(name+", never saved", func(t *testing.T) {
			s := startHeld(t, &store.Memory{}, false, floods(event), floods(event))
			for range 2 { // the steps of the first turn are forgotten
				heldError(t, turnError(t, s.Say(t.Context(), "you", "hello"), "ada", projection.Failed), false)
			}
			s.say("now")
		})
	}
}

func TestUnsavedSessionWithoutDiskEnds(t *testing.T) {
	said := strings.Repeat("word ", testMaxHeld/8)
	s := startHeld(t, &store.Memory{}, false, says(said), says(said+" [NEXT: ada]"))
	heldError(t, s.Say(t.Context(), "you", "hello [NEXT: ada, bob]"), false)
	s.checkMembers("ada", "bob")
	heldError(t, s.Say(t.Context(), "you", "again"), false)
	if n := s.Session().Stats.Messages; n != 3 {
		t.Errorf("%d messages are kept", n)
	}
}

// What is in memory is written in parts, each of which can fail.
func TestHeldEventsSurviveEveryFailure(t *testing.T) {
	everyFailure(t, func(t *testing.T, f diskFault, nth int) bool {
		d := onDisk(t, 0)
		s := startHeld(t, d, true, yields(nil, agent.ToolCompleted{ID: "1", Output: strings.Repeat("x", testMaxHeld/2)},
			agent.ToolCompleted{ID: "2", Output: strings.Repeat("y", testMaxHeld/3)}, agent.Text{Text: "done"}))
		s.say("hello")
		f.plan(d, nth)
		err := s.Save()
		failed := d.Failed()
		if err == nil && s.Status().Unsaved || err != nil && !s.Status().Unsaved {
			t.Errorf("save %d: %v, %+v", nth, err, s.Status())
		}
		d.Heal()
		d.HalfWrites(false)
		if err := s.Save(); err != nil {
			t.Fatal(err)
		}
		s.checkComplete(d, "you: hello", "ada: done")
		return failed
	})
}
