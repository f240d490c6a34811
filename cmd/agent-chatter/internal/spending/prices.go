package spending

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Prices are a person's own prices, by the name of the model; nil: there are none. They count only where no cost was
// reported.
type Prices map[string]home.Price

// of returns what a Tally without a cost costs by the prices, and for how many of its turns and summaries; 0: its model
// has no price, or no tokens are known.
func (p Prices) of(t projection.Tally) (amount float64, currency string, turns int) {
	price, ok := p[t.Model]
	if t.Model == "" {
		price, ok = p[t.Agent+defaultModel]
	}
	turns = max(t.Turns, 1) - t.Unknown
	if !ok || t.Costed || t.Tokens() == 0 || turns <= 0 {
		return 0, "", 0
	}
	amount = float64(t.Input)**price.Input + float64(t.CachedWrite)**price.Input +
		float64(t.CachedRead)**price.Cached + float64(t.Output)**price.Output + float64(t.Thought)**price.Output
	return amount / 1e6, price.Currency, turns
}
