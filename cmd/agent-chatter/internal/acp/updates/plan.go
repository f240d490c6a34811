package updates

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection"
)

// updatePlan adds the todo list of the member whose turn it is.
func (t *Translator) updatePlan(m meta, p projection.PlanUpdated) {
	plan := &sdk.SessionUpdatePlan{Entries: []sdk.PlanEntry{}, Meta: m.values()}
	for _, e := range p.Entries {
		status := sdk.PlanEntryStatusPending
		if e.Status == projection.InProgress || e.Status == projection.Completed {
			status = sdk.PlanEntryStatus(e.Status)
		}
		priority := sdk.PlanEntryPriorityMedium
		if e.Priority == "high" || e.Priority == "low" {
			priority = sdk.PlanEntryPriority(e.Priority)
		}
		plan.Entries = append(plan.Entries, sdk.PlanEntry{
			Content: tty.SafeLine(e.Content), Status: status, Priority: priority,
		})
	}
	if p.More > 0 {
		plan.Entries = append(plan.Entries, sdk.PlanEntry{
			Content: fmt.Sprintf("… and %d more", p.More),
			Status:  sdk.PlanEntryStatusPending, Priority: sdk.PlanEntryPriorityLow,
		})
	}
	t.out = append(t.out, sdk.SessionUpdate{Plan: plan})
}

// updateUsage adds what a turn used, and all turns so far: in the metadata of the session, and as the protocol has it,
// if the agent reported its context window.
func (t *Translator) updateUsage(m meta, end projection.TurnEnded, at time.Time) {
	info := m
	info.More = map[string]any{"finishReason": cmp.Or(end.FinishReason, projection.Done)}
	if end.Usage != nil {
		totals := t.totals
		totals.Costs = maps.Clone(totals.Costs)
		info.More["usage"], info.More["totals"] = *end.Usage, totals
	}
	t.out = append(t.out, sdk.SessionUpdate{SessionInfoUpdate: &sdk.SessionSessionInfoUpdate{
		UpdatedAt: timestamp(at), Meta: info.values(),
	}})
	if end.Usage == nil || end.Usage.Context <= 0 || end.Usage.Window <= 0 {
		return
	}
	t.out = append(t.out, sdk.SessionUpdate{UsageUpdate: &sdk.SessionUsageUpdate{
		Used: int(end.Usage.Context), Size: int(end.Usage.Window), Cost: t.cost(), Meta: m.values(),
	}})
}

// cost returns what the session has cost so far; nil if it is unknown, or in several currencies.
func (t *Translator) cost() *sdk.Cost {
	costs := t.totals.Costs
	if len(costs) != 1 {
		return nil
	}
	for currency, amount := range costs {
		return &sdk.Cost{Amount: amount, Currency: currency}
	}
	return nil
}
