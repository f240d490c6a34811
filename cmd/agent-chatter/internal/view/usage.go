package view

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
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
		parts = append(parts, amount(t.Costs[currency])+" "+tty.SafeLine(currency))
	}
	return strings.Join(parts, ", ")
}

// amount returns an amount of money with two to four decimals.
func amount(a float64) string {
	if a > 0 && a < 0.00005 {
		return "<0.0001"
	}
	text := strconv.FormatFloat(a, 'f', 4, 64)
	for range 2 {
		text = strings.TrimSuffix(text, "0")
	}
	return text
}
