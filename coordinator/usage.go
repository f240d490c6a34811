package coordinator

import (
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/projection"
)

// usageOf returns the usage of the turn. If the agent reports the cost of its session alone, the turn's is
// the difference to that of the turn before.
func (t *turn) usageOf(e agent.Usage) *projection.Usage {
	u := usageOf(e)
	if u.Total == nil || u.Cost != nil {
		return u
	}
	cost := *u.Total
	if t.attached != nil && t.attached.total != nil {
		before := *t.attached.total
		if before.Currency == cost.Currency && before.Amount <= cost.Amount {
			cost.Amount -= before.Amount
		}
	}
	u.Cost = &cost
	return u
}

// usageOf returns what an agent reports.
func usageOf(e agent.Usage) *projection.Usage {
	u := &projection.Usage{
		Input: e.Input, CachedRead: e.CachedRead, CachedWrite: e.CachedWrite, Output: e.Output, Thought: e.Thought,
	}
	if e.Window > 0 {
		u.Context, u.Window = e.Context, e.Window
	}
	if e.Cost != nil {
		u.Cost = &projection.Cost{Amount: e.Cost.Amount, Currency: e.Cost.Currency}
	}
	if e.Total != nil {
		u.Total = &projection.Cost{Amount: e.Total.Amount, Currency: e.Total.Currency}
	}
	return u
}
