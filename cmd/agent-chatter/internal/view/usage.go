package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection"
)

// TokensText lists the tokens that turns used; "" if no agent reported any.
func TokensText(t projection.Totals) string {
	var parts []string
	for _, of := range []struct {
		n    int64
		what string
	}{
		{t.Input, "input"}, {t.CachedRead, "read from cache"}, {t.CachedWrite, "written to cache"},
		{t.Output, "output"}, {t.Thought, "thought"},
	} {
		if of.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", of.n, of.what))
		}
	}
	return strings.Join(parts, ", ")
}

// CostText lists the cost of turns by currency; "" if no agent reported any.
func CostText(t projection.Totals) string {
	var parts []string
	for _, currency := range slices.Sorted(maps.Keys(t.Costs)) {
		parts = append(parts, Amount(t.Costs[currency])+" "+tty.SafeLine(currency))
	}
	return strings.Join(parts, ", ")
}
