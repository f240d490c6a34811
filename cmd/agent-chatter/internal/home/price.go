package home

import (
	"regexp"
	"sync"
)

// A Price is what tokens of a model cost. All fields are set.
type Price struct {
	// Input, Cached and Output are amounts for a million tokens: of input, those written to a cache included, of input
	// read from a cache, and of output, thoughts included.
	Input    *float64 `json:"input"`
	Cached   *float64 `json:"cached"`
	Output   *float64 `json:"output"`
	Currency string   `json:"currency"` // such as USD
}

// maxPrice is the largest amount of a Price: sums of it stay numbers.
const maxPrice = 1e6

var currency = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z]{3}$`) })

// check returns a rangeError for the first field that is missing or out of range. setting is the name of the price.
func (p Price) check(setting string) error {
	for _, of := range []struct {
		name   string
		amount *float64
	}{{"input", p.Input}, {"cached", p.Cached}, {"output", p.Output}} {
		if of.amount == nil || *of.amount < 0 || *of.amount > maxPrice {
			return &rangeError{setting + "." + of.name, "an amount for a million tokens, from 0 to 1000000"}
		}
	}
	if !currency().MatchString(p.Currency) {
		return &rangeError{setting + ".currency", `the code of a currency, such as "USD"`}
	}
	return nil
}
