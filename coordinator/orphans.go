package coordinator

import (
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/projection"
)

// endOrphans ends what agents have left running because the program died in their turns, and
// says so. The session is locked: nobody else works on it. A copy of it is another session,
// which has the same open turns and must leave them alone.
func (c *Coordinator) endOrphans(log SessionLog, state *projection.State) {
	ended := 0
	for _, id := range c.orphaned(log, state) {
		ended += agent.EndOrphans(id)
	}
	if ended > 0 {
		c.o.Events.Notice(Notice{Kind: OrphansEnded, Limit: ended})
	}
}

// orphaned are the ids that orphans of the session may carry: those of the open turns. A
// program that stays between turns carries the id of an earlier turn of its member, too.
func (c *Coordinator) orphaned(log SessionLog, state *projection.State) []string {
	if inherited(state) {
		return nil
	}
	var ids, members []string
	for _, t := range state.OpenTurns {
		ids = append(ids, t.TurnID)
		if c.lasts(t.MemberID) {
			members = append(members, t.MemberID)
		}
	}
	if len(members) == 0 {
		return ids
	}
	running := slices.DeleteFunc(agent.RunningTurns(), func(id string) bool { return slices.Contains(ids, id) })
	if len(running) == 0 {
		return ids
	}
	for e, err := range log.Backward() {
		if err != nil || len(running) == 0 {
			break
		}
		p, _ := projection.Decode(e)
		t, ok := p.(projection.TurnStarted)
		if ok && slices.Contains(running, t.TurnID) && slices.Contains(members, t.MemberID) {
			ids = append(ids, t.TurnID)
			running = slices.DeleteFunc(running, func(id string) bool { return id == t.TurnID })
		}
	}
	return ids
}

// inherited reports whether nothing has happened yet in a session that is a copy of another
// one: its open turns are that one's. The first message in a copy ends them.
func inherited(state *projection.State) bool {
	return state.Parent != nil && state.Seq <= state.Parent.Seq
}

// lasts reports whether the member's engine keeps programs running between turns.
func (c *Coordinator) lasts(memberID string) bool {
	member, ok := c.team.Member(memberID)
	if !ok {
		return false
	}
	_, lasts := c.o.Engines[member.EngineName()].(agent.Lasting)
	return lasts
}
