package spending

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/projection"
)

// ownPrices returns prices for some models: 2 for input, 0.50 for cached input and 8 for output.
func ownPrices(models ...string) Prices {
	input, cached, output := 2.0, 0.5, 8.0
	all := Prices{}
	for _, m := range models {
		all[m] = home.Price{Input: &input, Cached: &cached, Output: &output, Currency: "EUR"}
	}
	return all
}

// Own prices count where no cost was reported and tokens were; what is unknown stays unknown.
func TestOwnPrices(t *testing.T) {
	million := func(u projection.Usage) (sum projection.Totals) {
		sum.Add(u)
		return sum
	}
	input := million(projection.Usage{Input: 1_000_000})
	all := million(projection.Usage{
		Input: 1_000_000, CachedWrite: 1_000_000, CachedRead: 1_000_000, Output: 1_000_000, Thought: 1_000_000,
	})
	for name, tt := range map[string]struct {
		tally projection.Tally
		want  string
	}{
		"all kinds of tokens":  {projection.Tally{Model: "m", Turns: 2, Totals: all}, "20.50 EUR*"},
		"some turns":           {projection.Tally{Model: "m", Turns: 3, Unknown: 1, Totals: input}, "≥2.00 EUR*"},
		"another model":        {projection.Tally{Model: "n", Turns: 1, Totals: input}, "unknown"},
		"a default model":      {projection.Tally{Agent: "codex", Turns: 1, Totals: input}, "2.00 EUR*"},
		"no model":             {projection.Tally{Turns: 1, Totals: input}, "unknown"},
		"no tokens":            {projection.Tally{Model: "m", Turns: 1, Unknown: 1}, "unknown"},
		"tokens that are zero": {projection.Tally{Model: "m", Turns: 1}, "unknown"},
		"a summary":            {projection.Tally{Model: "m", Totals: input}, "2.00 EUR*"},
		"a reported cost": {projection.Tally{
			Model: "m", Turns: 1, Costed: true, Totals: million(projection.Usage{Input: 1_000_000, Cost: dollars(0.25)}),
		}, "0.25 USD"},
		"a reported cost of zero": {projection.Tally{
			Model: "m", Turns: 1, Costed: true, Totals: million(projection.Usage{Input: 1_000_000, Cost: dollars(0)}),
		}, "0.00 USD"},
	} {
		var s Sum
		s.Add(tt.tally, ownPrices("m", "codex (default)"))
		if got := s.CostText(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		if (s.Priced == 0) != (s.Own == nil) || s.Priced > s.Uncosted {
			t.Errorf("%s: %+v", name, s)
		}
	}
	both := of([]row{
		{Sum: part(1, &projection.Usage{Input: 1, Cost: dollars(0.5)})},
		{Sum: Sum{Uncosted: 1, Priced: 1, Own: map[string]float64{"EUR": 1, "USD": 2}}},
		{Sum: Sum{Uncosted: 1, Priced: 1, Own: map[string]float64{"EUR": 1}}},
	})
	if got := both.CostText(); got != "0.50 USD + 2.00 EUR, 2.00 USD*" || !maps.Equal(both.Own, map[string]float64{"EUR": 2, "USD": 2}) {
		t.Errorf("got %s, %v", got, both.Own)
	}
}

func TestUsageByOwnPrices(t *testing.T) {
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	a, _, _ := spent(t, at, at, at)
	config := `{"prices": {"claude (default)": {"input": 100, "cached": 0, "output": 1000, "currency": "EUR"}}}`
	if err := os.WriteFile(filepath.Join(a.Home, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	a, err := app.New(app.IO{Stdout: &stdout, Stderr: &stderr}, app.Options{Home: a.Home})
	if err != nil {
		t.Fatal(err)
	}
	for output, want := range map[string]string{
		"text": "≥0.50 USD + 0.006 EUR*",
		"json": `"costs":{"USD":0.5},"unknownTokens":1,"unknownCost":2,"byYourPrices":1,"costsByYourPrices":{"EUR":0.006}`,
	} {
		stdout.Reset()
		if err := (&Command{By: "day", Output: output}).Run(a); err != nil || !strings.Contains(stdout.String(), want) {
			t.Errorf("%s, %v", stdout.String(), err)
		}
	}
	const notices = "The agents did not report the tokens of 1 turn and the cost of 1 turn. ≥ means at least.\n" +
		"* by your prices in config.json: the agents reported no cost.\n"
	if stderr.String() != notices {
		t.Errorf("got %s", stderr.String())
	}
}
