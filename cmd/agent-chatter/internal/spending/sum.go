package spending

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Sum is what some turns used, and summaries that agents wrote between turns.
type Sum struct {
	projection.Totals
	Turns    int
	Unknown  int                // turns and summaries of which no tokens were reported
	Uncosted int                // of which no cost was reported
	Priced   int                // of these, those that a person's own prices cover
	Own      map[string]float64 // what they cost by these prices, by currency
}

// Add adds what a part of a session used.
func (s *Sum) Add(t projection.Tally, prices Prices) {
	if amount, currency, turns := prices.of(t); turns > 0 {
		s.addOwn(Sum{Priced: turns, Own: map[string]float64{currency: amount}})
	}
	s.Join(t.Totals)
	s.Turns += t.Turns
	s.Unknown += t.Unknown
	if !t.Costed {
		s.Uncosted += max(t.Turns, 1)
	}
}

// addOwn adds what turns cost by a person's own prices.
func (s *Sum) addOwn(other Sum) {
	s.Priced += other.Priced
	for currency, amount := range other.Own {
		if s.Own == nil {
			s.Own = map[string]float64{}
		}
		s.Own[currency] += amount
	}
}

// in, cached and out are the numbers of tokens that a table shows.
func (s Sum) in() int64     { return s.Input + s.CachedWrite }
func (s Sum) cached() int64 { return s.CachedRead }
func (s Sum) out() int64    { return s.Output + s.Thought }

// count returns a number of tokens as people read it.
func (s Sum) count(n int64) string {
	switch {
	case n == 0 && s.Unknown > 0:
		return "unknown"
	case n == 0:
		return "-"
	case s.Unknown > 0:
		return fmt.Sprintf("≥%d", n)
	}
	return fmt.Sprint(n)
}

// CostText returns the cost as people read it: "unknown", or "-" if there is none, and "≥" before a lower bound.
func (s Sum) CostText() string {
	costs := view.CostText(s.Totals)
	if own := view.CostText(projection.Totals{Costs: s.Own}); own != "" {
		costs = strings.TrimPrefix(costs+" + "+own+ownMark, " + ")
	}
	switch {
	case costs == "" && s.Uncosted > 0:
		return "unknown"
	case costs == "":
		return "-"
	case s.Uncosted > s.Priced:
		return "≥" + costs
	}
	return costs
}

// ownMark follows a cost by a person's own prices.
const ownMark = "*"

// A By says to what a Sum belongs.
type By string

// The values of By.
const (
	ByDay     By = "day"
	ByMember  By = "member"
	ByModel   By = "model"
	ByTeam    By = "team"
	BySession By = "session"
)

// key identifies a Sum. The fields that its By does not tell apart are zero.
type key struct {
	day                 string // a date
	team, member        string
	model, agent        string
	session, dir, title string
}

// name returns the key as people read it.
func (k key) name(by By) string {
	switch by {
	case ByDay:
		return k.day
	case ByMember:
		return tty.SafeLine(k.member) + " (" + tty.SafeLine(k.team) + ")"
	case ByTeam:
		return tty.SafeLine(k.team)
	case BySession:
		return k.session
	}
	return modelName(k.model, k.agent)
}

// defaultModel follows the name of an agent whose default model was used.
const defaultModel = " (default)"

// modelName returns the name of a model; "" is the default one of an agent.
func modelName(model, agent string) string {
	switch {
	case model != "":
		return tty.SafeLine(model)
	case agent != "":
		return tty.SafeLine(agent) + defaultModel
	}
	return "unknown"
}

func keyOf(by By, s catalog.Session, t projection.Tally) key {
	switch by {
	case ByDay:
		return key{day: t.Time().In(time.Local).Format(time.DateOnly)}
	case ByMember:
		return key{team: s.TeamID, member: t.Member}
	case ByModel:
		if t.Model != "" {
			return key{model: t.Model}
		}
		return key{agent: t.Agent}
	case ByTeam:
		return key{team: s.TeamID}
	}
	return key{session: s.ID, dir: s.Dir(), team: s.TeamID, title: s.Title}
}

// row is a line of the table.
type row struct {
	key
	Sum
}

// sum is sums for one By.
func sum(by By, since time.Time, sessions []*catalog.Entry, prices Prices) []row {
	return sums(since, sessions, prices, by)[0]
}

// sums returns, for each By, the sums of the usage of sessions since a time; the zero time is the first. Days are in
// order, others begin with the one of the most tokens.
func sums(since time.Time, sessions []*catalog.Entry, prices Prices, by ...By) [][]row {
	found := make([]map[key]*Sum, len(by))
	for i := range found {
		found[i] = map[key]*Sum{}
	}
	for s := range catalog.Sessions(sessions) {
		for _, t := range s.Spent.Usage {
			if t.Time().Before(since) {
				continue
			}
			for i := range by {
				k := keyOf(by[i], s, t)
				if found[i][k] == nil {
					found[i][k] = new(Sum)
				}
				found[i][k].Add(t, prices)
			}
		}
	}
	all := make([][]row, len(by))
	for i := range by {
		all[i] = sorted(by[i], found[i])
	}
	return all
}

func sorted(by By, sums map[key]*Sum) []row {
	rows := make([]row, 0, len(sums))
	for k, s := range sums {
		rows = append(rows, row{k, *s})
	}
	slices.SortFunc(rows, func(a, b row) int {
		if by == ByDay {
			return strings.Compare(a.day, b.day)
		}
		return cmp.Or(cmp.Compare(b.Tokens(), a.Tokens()), cmp.Compare(b.Turns, a.Turns),
			strings.Compare(a.name(by), b.name(by)), strings.Compare(a.dir, b.dir))
	})
	return rows
}

// of returns the sum of all rows.
func of(rows []row) (all Sum) {
	for _, r := range rows {
		all.Join(r.Totals)
		all.Turns += r.Turns
		all.Unknown += r.Unknown
		all.Uncosted += r.Uncosted
		all.addOwn(r.Sum)
	}
	return all
}

// Today returns the usage of all sessions since midnight.
func Today(ctx context.Context, c *catalog.Catalog, now time.Time, prices Prices) (Sum, error) {
	since := midnight(now)
	list, err := c.List(ctx, catalog.Query{Limit: 1})
	if err != nil {
		return Sum{}, err
	}
	return of(sum(ByDay, since, updatedSince(since, list.Matches), prices)), nil
}

// updatedSince returns the sessions that were updated since a time. The others have no later usage, and their rows need
// not be decoded.
func updatedSince(since time.Time, sessions []*catalog.Entry) []*catalog.Entry {
	old := func(e *catalog.Entry) bool { return e.UpdatedAt().Before(since) }
	return slices.DeleteFunc(slices.Clone(sessions), old)
}

// midnight returns when the local day of a time began.
func midnight(t time.Time) time.Time {
	year, month, day := t.Local().Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.Local)
}

// costs returns a copy that is not nil.
func costs(t projection.Totals) map[string]float64 {
	all := map[string]float64{}
	maps.Copy(all, t.Costs)
	return all
}

// OfSession returns the sums of the members of one session, by their ids, and of all of them.
func OfSession(used []projection.Tally, prices Prices) (members map[string]Sum, all Sum) {
	members = map[string]Sum{}
	for _, t := range used {
		s := members[t.Member]
		s.Add(t, prices)
		members[t.Member] = s
		all.Add(t, prices)
	}
	return members, all
}

// SessionText describes what the members used in a session, and what all sessions used today, in lines of at most so
// many columns. name returns the name of a member with an id.
func SessionText(
	used []projection.Tally, today Sum, prices Prices, columns int, name func(id string) string,
) string {
	t := &ansi.Table{Columns: append([]ansi.Column{{Name: "MEMBER", Least: 12}}, numbers...)}
	add := func(name string, s Sum) {
		cells := row{Sum: s}.cells(ByDay)
		cells[0] = name
		t.Add(plain(cells)...)
	}
	members, all := OfSession(used, prices)
	for _, id := range slices.Sorted(maps.Keys(members)) {
		add(name(id), members[id])
	}
	add("this session", all)
	add("today (all)", today)
	var b strings.Builder
	for _, line := range t.Lines(columns) {
		b.WriteString(strings.TrimRight(ansi.NoColor.Encode(line), " ") + "\n")
	}
	if strings.Contains(b.String(), "≥") {
		b.WriteString(textLowerBound + "\n")
	}
	if all.Priced+today.Priced > 0 {
		b.WriteString(textByPrices)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// plain returns cells without a style.
func plain(cells []string) []ansi.Line {
	line := make([]ansi.Line, len(cells))
	for i, text := range cells {
		line[i] = ansi.Text(text, ansi.Style{})
	}
	return line
}

// textByPrices explains ownMark.
const textByPrices = ownMark + " by your prices in config.json: the agents reported no cost."

// textLowerBound explains the sign of a sum that lacks something.
const textLowerBound = "≥ means at least: the agents did not report all of it."
