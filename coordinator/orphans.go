package coordinator

import (
	"iter"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/oklog/ulid/v2"
)

// endOrphans ends what agents have left running because the program died, and says so. The
// session is locked: nobody else works on it. A copy of it is another session, which has the
// same open turns and must leave them alone.
func (c *Coordinator) endOrphans(log store.Log, state *projection.State) {
	if inherited(state) {
		return
	}
	ended := 0
	for _, t := range state.OpenTurns {
		ended += process.EndOrphans(t.TurnID)
	}
	for id, memberID := range c.residents(log) {
		if working(state, memberID) {
			ended += process.EndOrphans(id) // a tool of the open turn carries the id, too
		} else {
			ended += process.EndResidents(id)
		}
	}
	if ended > 0 {
		c.o.Events.Notice(Notice{Kind: OrphansEnded, Limit: ended})
	}
}

// residents are the turns of the session whose processes may have stayed between turns, and
// whose they were: a program that does carries the id of its first turn.
func (c *Coordinator) residents(log store.Log) iter.Seq2[string, string] {
	return func(yield func(turnID, memberID string) bool) {
		if !slices.ContainsFunc(c.team.Members, c.lasts) {
			return
		}
		orphaned := process.OrphanedTurns()
		since := firstOf(orphaned)
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
			if m, ok := c.team.Member(t.MemberID); ok && c.lasts(m) && !yield(t.TurnID, t.MemberID) {
				return
			}
		}
	}
}

// firstOf is when the first of the turns began, by their ids, less what clocks may differ. What
// was before need not be read for them: they may be turns of other sessions.
func firstOf(turns []string) (began time.Time) {
	for _, turn := range turns {
		id, err := ulid.ParseStrict(turn)
		if at := id.Timestamp(); err == nil && (began.IsZero() || at.Before(began)) {
			began = at
		}
	}
	return began.Add(-time.Minute)
}

// working reports whether a turn of the member is open.
func working(state *projection.State, memberID string) bool {
	return slices.ContainsFunc(state.OpenTurns, func(t projection.OpenTurn) bool { return t.MemberID == memberID })
}

// inherited reports whether nothing has happened yet in a session that is a copy of another
// one: its open turns are that one's. The first message in a copy ends them.
func inherited(state *projection.State) bool {
	return state.Parent != nil && state.Seq <= state.Parent.Seq
}

// lasts reports whether the member's engine keeps programs running between turns.
func (c *Coordinator) lasts(m team.Member) bool {
	_, lasts := c.o.Engines[m.EngineName()].(agent.Resident)
	return m.Type == team.AI && lasts
}
