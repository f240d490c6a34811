package coordinator

import (
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// maxAgentNotices is how many notices of agents a conversation reports.
const maxAgentNotices = 100

// notifyOfAgent reports a notice of a member's agent, unless it was reported before: an agent may repeat it in each
// turn.
func (c *Coordinator) notifyOfAgent(m team.Member, text string) {
	key := m.ID + " " + text
	if c.agentNotices[key] || len(c.agentNotices) >= maxAgentNotices {
		return
	}
	if c.agentNotices == nil {
		c.agentNotices = map[string]bool{}
	}
	c.agentNotices[key] = true
	c.notify(AgentNotice{m, c.bounded(text, maxError)})
}

// notifyWindow reports that a prompt has only some of the messages, or that the agent starts a new session for a
// reason.
func (c *Coordinator) notifyWindow(m team.Member, reason string, shown int) {
	all := c.conv.state.Stats.Messages
	isFirst := reason == "" || reason == projection.ReasonFirst
	key := m.ID + " " + reason
	if isFirst && shown >= all || c.windowsCut[key] {
		return
	}
	if c.windowsCut == nil {
		c.windowsCut = map[string]bool{}
	}
	c.windowsCut[key] = true
	c.notify(WindowCut{m, reason, min(shown, all), all})
}
