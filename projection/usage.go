package projection

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// Usage is what a turn used, in tokens, as reported by the agent. 0 is none, or unknown.
type Usage struct {
	Input       int64 `json:"input,omitempty"`       // without cached tokens
	CachedRead  int64 `json:"cachedRead,omitempty"`  // input that was read from a cache
	CachedWrite int64 `json:"cachedWrite,omitempty"` // input that was written to a cache
	Output      int64 `json:"output,omitempty"`      // without thoughts
	Thought     int64 `json:"thought,omitempty"`
	Cost        *Cost `json:"cost,omitempty"` // nil: not reported

	// Total is the cost of the agent's own session after the turn; nil: the agent reports the turn's.
	Total *Cost `json:"total,omitempty"`

	// Context is the number of tokens in the agent's context window after the turn, and Window is how many it holds.
	// They are no sums. 0 is not reported.
	Context int64 `json:"context,omitempty"`
	Window  int64 `json:"window,omitempty"`
}

// Cost is an amount of money.
type Cost struct {
	Amount   float64 `json:"amount"`   // finite, not negative
	Currency string  `json:"currency"` // the three letters of ISO 4217, such as USD
}

// Valid reports whether an event may have the cost.
func (c Cost) Valid() bool {
	return c.Amount >= 0 && !math.IsInf(c.Amount, 1) && len(c.Currency) == 3 &&
		strings.Trim(c.Currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// Add adds tokens, and a cost in the same currency. A sum that would exceed the range of
// its type is the largest value of the type.
func (u *Usage) Add(more Usage) {
	u.Input = addTokens(u.Input, more.Input)
	u.CachedRead = addTokens(u.CachedRead, more.CachedRead)
	u.CachedWrite = addTokens(u.CachedWrite, more.CachedWrite)
	u.Output = addTokens(u.Output, more.Output)
	u.Thought = addTokens(u.Thought, more.Thought)
	if more.Cost == nil {
		return
	}
	sum := *more.Cost
	if u.Cost != nil {
		sum.Amount = min(u.Cost.Amount+sum.Amount, math.MaxFloat64)
	}
	u.Cost = &sum
}

// Totals are sums of the Usage of turns. A sum that would exceed the range of its type
// is the largest value of the type.
type Totals struct {
	Input       int64              `json:"input,omitempty"`
	CachedRead  int64              `json:"cachedRead,omitempty"`
	CachedWrite int64              `json:"cachedWrite,omitempty"`
	Output      int64              `json:"output,omitempty"`
	Thought     int64              `json:"thought,omitempty"`
	Costs       map[string]float64 `json:"costs,omitempty"` // by currency, of the first maxCurrencies
}

// maxCurrencies bounds Totals.Costs.
const maxCurrencies = 20

// Add adds what a turn used. A cost in more than the first maxCurrencies currencies is left out.
func (t *Totals) Add(u Usage) {
	t.Input = addTokens(t.Input, u.Input)
	t.CachedRead = addTokens(t.CachedRead, u.CachedRead)
	t.CachedWrite = addTokens(t.CachedWrite, u.CachedWrite)
	t.Output = addTokens(t.Output, u.Output)
	t.Thought = addTokens(t.Thought, u.Thought)
	if u.Cost == nil || !u.Cost.Valid() {
		return
	}
	sum, ok := t.Costs[u.Cost.Currency]
	if !ok && len(t.Costs) == maxCurrencies {
		return
	}
	if t.Costs == nil {
		t.Costs = map[string]float64{}
	}
	t.Costs[u.Cost.Currency] = min(sum+u.Cost.Amount, math.MaxFloat64)
}

// Tokens returns the sum of all tokens; 0: none, or unknown.
func (t Totals) Tokens() (sum int64) {
	for _, n := range []int64{t.Input, t.CachedRead, t.CachedWrite, t.Output, t.Thought} {
		sum = addTokens(sum, n)
	}
	return sum
}

// join adds other sums.
func (t *Totals) join(u Totals) {
	t.Add(Usage{
		Input: u.Input, CachedRead: u.CachedRead, CachedWrite: u.CachedWrite, Output: u.Output, Thought: u.Thought,
	})
	for _, currency := range slices.Sorted(maps.Keys(u.Costs)) {
		t.Add(Usage{Cost: &Cost{u.Costs[currency], currency}})
	}
}

// Join adds other sums.
func (t *Totals) Join(u Totals) {
	*t = t.clone()
	t.join(u)
}

// clone returns a copy that shares nothing.
func (t Totals) clone() Totals {
	t.Costs = maps.Clone(t.Costs)
	return t
}

// addTokens adds a number of tokens to a sum. A negative number, which only an event
// that does not match its schema has, adds nothing.
func addTokens(sum, n int64) int64 {
	if n = max(n, 0); sum > math.MaxInt64-n {
		return math.MaxInt64
	}
	return sum + n
}
