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

// ContextText says how full the context of a member is, in tokens; "": unknown. window is how many it holds; 0: that is
// unknown.
func ContextText(used, window int64) string {
	switch {
	case used == 0:
		return ""
	case window == 0:
		return ShortCount(used) + " in context"
	}
	return fmt.Sprintf("%d%% of %s", (100*used+window/2)/window, ShortCount(window))
}

// ShortCount returns a number of tokens as 950, 12k or 1.2M.
func ShortCount(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_500:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
