package chat

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/spending"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// slashUsage prints what the members used in the session, and all sessions today.
func (r invocation) slashUsage(ctx context.Context, _ string) error {
	config, err := r.app.Config()
	if err != nil {
		r.report(err)
		return nil
	}
	today, err := spending.Today(ctx, r.app.Catalog, time.Now(), config.Prices)
	if err != nil {
		r.report(err)
		return nil
	}
	var used []projection.Tally
	if s := r.status().Session; s != nil {
		used = s.Usage
	}
	name := func(id string) string {
		if m, ok := r.c.Team().Member(id); ok {
			return m.DisplayName
		}
		return id
	}
	r.app.Notice(spending.SessionText(used, today, config.Prices, view.OutputStyle(r.app).Width-1, name))
	return nil
}

// slashBudget prints the limits, or sets one for this session, which is shown as an event.
func (r invocation) slashBudget(_ context.Context, args string) error {
	if args == "" {
		r.app.Notice(budgetText(r.status().Bounds))
		return nil
	}
	name, configured := strings.CutSuffix(args, "=default")
	if configured {
		args = name + "=0"
	}
	b, err := team.ParseBound(args)
	if err != nil {
		r.reject("%s", wrongLimitText(args, err))
		return nil
	}
	most := &b.Most
	if configured {
		most = nil
	}
	r.report(r.c.SetLimit(b.Name(), most))
	return nil
}

// wrongLimitText rejects an argument of /budget.
func wrongLimitText(args string, err error) string {
	return fmt.Sprintf("/budget %s: %s.", tty.SafeLine(args), tty.SafeLine(err.Error()))
}

// budgetText lists the limits that hold.
func budgetText(bounds []team.Bound) string {
	if len(bounds) == 0 {
		return "There is no limit. Type /budget session.cost=5 to set one for this session."
	}
	var limits []string
	for _, b := range bounds {
		limits = append(limits, b.String())
	}
	return "Limits: " + strings.Join(limits, ", ") + "."
}
