package team

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
)

// Budget limits what the turns of agents may use. The zero Budget has no limit.
type Budget struct {
	Message Limit `json:"message"` // from one message of a person to the next
	Session Limit `json:"session"` // the session's own turns, those of earlier runs included
	Day     Limit `json:"day"`     // all sessions of the home on a local day
}

// Limit has the limits of a part of a Budget; 0 is none. Agents that do not report tokens or costs are limited by the
// number of turns alone.
type Limit struct {
	Turns  int64   `json:"turns"`
	Tokens int64   `json:"tokens"` // of all kinds
	Cost   float64 `json:"cost"`   // in each currency
}

// The parts of a Budget, and what each of them limits.
const (
	PerMessage = "message"
	PerSession = "session"
	PerDay     = "day"

	Turns  = "turns"
	Tokens = "tokens"
	Cost   = "cost"
)

// Bound is one limit of a Budget.
type Bound struct {
	Per  string  // PerMessage, PerSession or PerDay
	Of   string  // Turns, Tokens or Cost
	Most float64 // 0: no limit
}

// Name returns the setting of the bound in a Budget, such as session.cost.
func (b Bound) Name() string { return b.Per + "." + b.Of }

// String returns the bound as ParseBound reads it.
func (b Bound) String() string { return b.Name() + "=" + Amount(b.Most) }

// bounds returns all bounds, those without a limit included, in the order in which they are checked.
func (b Budget) bounds() (all []Bound) {
	for _, part := range []struct {
		per string
		Limit
	}{{PerMessage, b.Message}, {PerSession, b.Session}, {PerDay, b.Day}} {
		all = append(all, Bound{part.per, Turns, float64(part.Turns)}, Bound{part.per, Tokens, float64(part.Tokens)},
			Bound{part.per, Cost, part.Cost})
	}
	return all
}

// Bounds returns the limits that are set.
func (b Budget) Bounds() []Bound {
	return slices.DeleteFunc(b.bounds(), func(one Bound) bool { return one.Most == 0 })
}

// Invalid returns the first limit that is negative or no number; ok is false if there is none.
func (b Budget) Invalid() (invalid Bound, ok bool) {
	for _, one := range b.bounds() {
		if !(one.Most >= 0) || math.IsInf(one.Most, 1) {
			return one, true
		}
	}
	return Bound{}, false
}

// ParseBound reads a limit such as session.cost=2.50.
func ParseBound(text string) (Bound, error) {
	name, value, _ := strings.Cut(text, "=")
	for _, b := range (Budget{}).bounds() {
		if b.Name() != name {
			continue
		}
		most, err := strconv.ParseFloat(value, 64)
		if err != nil || !(most >= 0) || math.IsInf(most, 1) || b.Of != Cost && most != math.Trunc(most) {
			return Bound{}, fmt.Errorf("%s takes a number, such as %s=10, or 0 for no limit", name, name)
		}
		b.Most = most
		return b, nil
	}
	return Bound{}, fmt.Errorf("there is no limit %q; those are %s", name, strings.Join(BoundNames(), ", "))
}

// BoundNames returns the names of all limits.
func BoundNames() (names []string) {
	for _, b := range (Budget{}).bounds() {
		names = append(names, b.Name())
	}
	return names
}

// Used returns how much of what the bound limits was used, in the currency of which the most was; "" if it is no cost.
// unknown is how many turns of which nothing was reported are not in it.
func (b Bound) Used(s projection.Spent) (used float64, currency string, unknown int) {
	switch b.Of {
	case Turns:
		return float64(s.Turns), "", 0
	case Tokens:
		return float64(s.Tokens), "", s.Unknown
	}
	for _, name := range slices.Sorted(maps.Keys(s.Costs)) {
		if amount := s.Costs[name]; currency == "" || amount > used {
			used, currency = amount, name
		}
	}
	return used, currency, s.Uncosted
}

// Amount returns a number with two decimals, or none if it is a whole one.
func Amount(n float64) string {
	if n == math.Trunc(n) {
		return strconv.FormatFloat(n, 'f', 0, 64)
	}
	return strconv.FormatFloat(n, 'f', 2, 64)
}
