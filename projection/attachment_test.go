package projection_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// attachedAfter folds a golden journal with sessions of agents after a change of its events.
func attachedAfter(t *testing.T, change func([]journal.Event) []journal.Event) []projection.AgentSession {
	t.Helper()
	events := golden(t, "attached")
	var s projection.State
	for _, e := range change(events) {
		s.Apply(e)
	}
	return s.Attached["ada"]
}

func unchanged(events []journal.Event) []journal.Event { return events }

func TestAttachmentFitsTheMessagesThatItWasMadeOf(t *testing.T) {
	got := attachedAfter(t, unchanged)
	if len(got) != 1 || !got[0].Last.Fits || got[0].Last.Ended != projection.Done || got[0].Last.Reply == 0 {
		t.Errorf("the sessions are %+v", got)
	}
	for name, change := range map[string]func([]journal.Event) []journal.Event{
		"a message is changed": func(events []journal.Event) []journal.Event {
			events[1].Data = bytes.Replace(events[1].Data, []byte("kettle"), []byte("bottle"), 1)
			return events
		},
		"a message is missing": func(events []journal.Event) []journal.Event { return slices.Delete(events, 1, 2) },
		"a message is added": func(events []journal.Event) []journal.Event {
			return slices.Insert(events, 2, events[1])
		},
	} {
		if got := attachedAfter(t, change); len(got) != 1 || got[0].Last.Fits || got[0].Done.Fits {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A repair that drops a damaged line without a message renumbers the events.
func TestAttachmentFollowsItsMessages(t *testing.T) {
	before := attachedAfter(t, unchanged)[0]
	after := attachedAfter(t, func(events []journal.Event) []journal.Event {
		events = slices.DeleteFunc(events, func(e journal.Event) bool { return e.Type == "agent.compacted" })
		for i := range events {
			events[i].Seq = uint64(i + 1)
		}
		return events
	})[0]
	if !after.Last.Fits || after.Last.Seen != before.Last.Seen-1 || after.Last.From != before.Last.From-1 ||
		after.Last.Reply != before.Last.Reply-1 {
		t.Errorf("before %+v, after %+v", before.Last, after.Last)
	}
}
