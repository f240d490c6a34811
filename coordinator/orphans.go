package coordinator

import (
	"iter"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// endOrphans ends the processes that agents left running when the program was killed, and notifies
// the listener. The session is locked, so that no other program uses them. A copy of a session that
// has no events of its own has the open turns of the original, whose processes are left alone.
func (c *Coordinator) endOrphans(log store.Log, state *projection.State) {
	if state.Parent != nil && state.Seq <= state.Parent.Seq {
		return
	}
	ended := 0
	for _, t := range state.OpenTurns {
		ended += process.EndOrphans(t.TurnID)
	}
	for id, memberID := range c.residentTurns(log) {
		open := func(t projection.OpenTurn) bool { return t.MemberID == memberID }
		if slices.ContainsFunc(state.OpenTurns, open) {
			ended += process.EndOrphans(id) // tools of the open turn have this ID, too
		} else {
			ended += process.EndResidents(id)
		}
	}
	if ended > 0 {
		c.notify(OrphansEnded{ended})
	}
}

// residentTurns yields the turns of the session that may have left resident processes, with their
// members. A resident process has the ID of its first turn.
func (c *Coordinator) residentTurns(log store.Log) iter.Seq2[string, string] {
	return func(yield func(turnID, memberID string) bool) {
		if !slices.ContainsFunc(c.team.Members, c.isResident) {
			return
		}
		orphaned := process.OrphanedTurns()
		since := earliest(orphaned).Add(-time.Minute) // clocks may differ
		for e, err := range log.Backward() {
			if err != nil || len(orphaned) == 0 || e.Time.Before(since) {
				return
			}
			p, _ := projection.Decode(e)
			t, ok := p.(projection.TurnStarted)
			at := slices.Index(orphaned, t.TurnID)
			if !ok || at < 0 {
				continue
			}
			orphaned = slices.Delete(orphaned, at, at+1)
			if m, ok := c.team.Member(t.MemberID); ok && c.isResident(m) && !yield(t.TurnID, t.MemberID) {
				return
			}
		}
	}
}

// earliest returns when the first of the turns began, which their IDs tell. They may belong to other
// sessions.
func earliest(turns []string) (began time.Time) {
	for _, turn := range turns {
		id, err := ulid.ParseStrict(turn)
		if at := id.Timestamp(); err == nil && (began.IsZero() || at.Before(began)) {
			began = at
		}
	}
	return began
}

// isResident reports whether the member's engine keeps processes between turns.
func (c *Coordinator) isResident(m team.Member) bool {
	_, ok := c.o.Engines[m.EngineName()].(agent.Resident)
	return m.Type == team.AI && (ok || c.keepsSession(m))
}
