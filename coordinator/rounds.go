package coordinator

import (
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Rounds is how many turns agents have had since the last human message, and how
// many the team allows them; 0 allows any number. The journal has what they have
// had, so a restart changes nothing.
func (c *Coordinator) Rounds() (had, allowed int) {
	if c.conv != nil {
		had = c.conv.state.Stats.Rounds
	}
	return had, c.team.MaxRounds
}

// RunOver reports whether the agents have had their Options.MaxRounds.
func (c *Coordinator) RunOver() bool { return c.o.MaxRounds > 0 && c.rounds >= c.o.MaxRounds }

// limited reports whether the agents have had their turns and one of them is
// next, and says so. Then nobody waits any more.
func (c *Coordinator) limited() bool {
	next := c.queue.order(c.last)
	if next[0].member.Type == team.Human {
		return false
	}
	kind, limit, reason := RoundLimit, 0, ""
	switch had, allowed := c.Rounds(); {
	case allowed > 0 && had >= allowed:
		limit, reason = allowed, "the agents have had the turns that the team allows them"
	case c.RunOver():
		kind, limit, reason = RunLimit, c.o.MaxRounds, "the agents have had their turns of this run"
	default:
		return false
	}
	var changes []projection.QueueChange
	for _, w := range next {
		changes = append(changes, *changed(projection.QueueDropped, w, reason))
	}
	c.queue = queue{}
	c.decide(changes...)
	c.o.Events.Notice(Notice{Kind: kind, Limit: limit, Names: c.displayed(changes)})
	return true
}

// sayRound says how many turns are left, before an agent has one.
func (c *Coordinator) sayRound(m team.Member) {
	names := []string{m.DisplayName}
	if had, allowed := c.Rounds(); allowed > 0 {
		c.o.Events.Notice(Notice{Kind: Round, Names: names, Count: had + 1, Limit: allowed})
	}
	if c.o.MaxRounds > 0 {
		c.o.Events.Notice(Notice{Kind: RunRound, Names: names, Count: c.rounds + 1, Limit: c.o.MaxRounds})
	}
}
