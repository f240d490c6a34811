package coordinator

import "github.com/agent-chatter/agent-chatter/coordinator/team"

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
