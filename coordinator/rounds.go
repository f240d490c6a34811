package coordinator

import (
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Rounds returns how many turns agents had since the last human message, earlier runs included, and
// the team's limit; 0 is no limit.
func (c *Coordinator) Rounds() (had, limit int) {
	if c.conv != nil {
		had = c.conv.state.Stats.Rounds
	}
	return had, c.team.MaxRounds
}

// roundsBegun is Rounds with the turns that run: none is open that an earlier run left, once this one has begun.
func (c *Coordinator) roundsBegun() int {
	return c.conv.state.Stats.Rounds + len(c.conv.state.OpenTurns)
}

// RunOver reports whether Options.MaxRounds is reached.
func (c *Coordinator) RunOver() bool { return c.o.MaxRounds > 0 && c.rounds >= c.o.MaxRounds }

// limits returns the limits as the session records them.
func (c *Coordinator) limits() projection.Limits {
	return projection.Limits{MaxRounds: c.team.MaxRounds, MaxRunRounds: c.o.MaxRounds, Budget: c.budget()}
}

// limitReached reports whether an agent is next and a limit of turns is reached. If so, it clears
// the queue and notifies the listener.
func (c *Coordinator) limitReached() bool {
	next := c.queue.order(c.last)
	if next[0].member.Type == team.Human {
		return false
	}
	had, limit, turns := c.roundsBegun(), c.team.MaxRounds, c.nextTurns()
	ofTeam := limit > 0 && had+turns > limit
	if !ofTeam && (c.o.MaxRounds == 0 || c.rounds+turns <= c.o.MaxRounds) {
		return false
	}
	reason := "the agents had the turns that the team allows"
	if !ofTeam {
		reason = "the agents had the turns of this run"
	}
	c.queue.items = next // dropped in the order in which they would have been next
	changes := c.queue.drop(everyone, reason)
	c.noteChanges(changes...)
	if members := c.changed(changes, projection.QueueDropped); ofTeam {
		c.notify(RoundLimit{limit, members})
	} else {
		c.notify(RunLimit{c.o.MaxRounds, members})
	}
	return true
}

// LastRounds is how many turns before the team's limit the listener is notified of it.
const LastRounds = 5

// notifyRounds notifies the listener of the turn's number where the limit of this run is set, and where the team's,
// which is meant for agents that address each other without end, is near: in its second half, before the last turns.
func (c *Coordinator) notifyRounds(m team.Member) {
	had, limit := c.roundsBegun(), c.team.MaxRounds
	if limit > 0 && had >= limit-min(LastRounds, (limit+1)/2) {
		c.notify(Round{m, had + 1, limit})
	}
	if c.o.MaxRounds > 0 {
		c.notify(RunRound{m, c.rounds + 1, c.o.MaxRounds})
	}
}
