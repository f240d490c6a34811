package view

import (
	"slices"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

func (t *Transcript) startCall(e journal.Event, p projection.ToolStarted) {
	if t.turn == nil || t.turn.id != p.TurnID {
		return
	}
	t.begin()
	t.turn.divided = t.turn.reply.shown.Len() > 0
	t.endText(t.turn.member.DisplayName)
	t.add(aCall, t.text.last != aName, Call{Started: p, At: e.Time})
}

func (t *Transcript) completeCall(e journal.Event, p projection.ToolCompleted) {
	for i, b := range t.queue {
		if c, ok := b.content.(Call); ok && !c.Ended && c.Started.ToolID == p.ToolID {
			c.Completed, c.Took, c.Ended = &p, e.Time.Sub(c.At), true
			t.queue[i].content, t.last = c, c
			return
		}
	}
	if t.turn == nil || t.turn.id != p.TurnID {
		return
	}
	for i, c := range t.turn.released {
		if c.Started.ToolID == p.ToolID {
			c.Completed, c.Took, c.Ended = &p, e.Time.Sub(c.At), true
			t.turn.released = slices.Delete(t.turn.released, i, i+1)
			t.endText(t.turn.member.DisplayName)
			t.add(aCall, true, c)
			t.last = c
			return
		}
	}
}

func (t *Transcript) updatePlan(p projection.PlanUpdated) {
	if t.turn == nil || t.turn.id != p.TurnID || slices.Equal(t.turn.plan, p.Entries) || len(p.Entries) == 0 {
		return
	}
	t.turn.plan = p.Entries
	t.begin()
	t.turn.divided = t.turn.reply.shown.Len() > 0
	t.endText(t.turn.member.DisplayName)
	t.add(aPlan, t.text.last != aName, Checklist{Entries: p.Entries, More: p.More})
}
