package projection

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/journal"
)

// A Tally is what a member's agent used in a session in a quarter of an hour, with one model. The turns whose cost the
// agent reported have a Tally of their own.
type Tally struct {
	// Quarter is when the turns ended: a number of quarters of an hour since 1970 in UTC. All time zones in use differ
	// from UTC by such quarters, so that the days of each can be told apart.
	Quarter int64  `json:"quarter"`
	Member  string `json:"member"`          // its id; longer ones are cut
	Agent   string `json:"agent,omitempty"` // "": unknown, as of a summary
	Model   string `json:"model,omitempty"` // "": the agent's default
	Costed  bool   `json:"costed,omitempty"`

	Turns   int `json:"turns,omitempty"`   // without the summaries that the agent wrote
	Unknown int `json:"unknown,omitempty"` // turns and summaries of which the agent reported no tokens
	Totals
}

// QuarterHour is the unit of Tally.Quarter.
const QuarterHour = 15 * time.Minute

// The bounds of State.Tallies.
const (
	// maxTallies is from how many on tallies are joined.
	maxTallies = 256
	// roomOfTallies is how many more there may be afterwards.
	roomOfTallies = 16
	// maxTallyKeys is how many members and models are told apart.
	maxTallyKeys = 50
)

// other stands for the members, agents and models from maxTallyKeys on.
const other = "(other)"

// Time returns when the quarter began.
func (t Tally) Time() time.Time { return time.Unix(t.Quarter*int64(QuarterHour/time.Second), 0) }

func (t Tally) compare(u Tally) int {
	costed := func(t Tally) int {
		if t.Costed {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(t.Quarter, u.Quarter), cmp.Compare(t.Member, u.Member), cmp.Compare(t.Agent, u.Agent),
		cmp.Compare(t.Model, u.Model), cmp.Compare(costed(t), costed(u)),
	)
}

// join adds the counts of a Tally.
func (t *Tally) join(u Tally) {
	t.Turns += u.Turns
	t.Unknown += u.Unknown
	t.Totals = t.Totals.clone()
	t.Totals.join(u.Totals)
}

// spend counts what a turn used that is about to end.
func (s *State) spend(e journal.Event, p TurnEnded) {
	by := TurnStarted{MemberID: p.MemberID}
	if t := s.turn(p.TurnID); t != nil {
		by = t.TurnStarted
	}
	s.Message.Turns++
	s.Message.Add(p.Usage)
	if s.isOwn(p.TurnID) {
		s.tally(e.Time, by, 1, p.Usage)
	}
}

// tally adds a turn, or turns = 0 for a summary, with what it used; nil is unknown.
func (s *State) tally(at time.Time, by TurnStarted, turns int, used *Usage) {
	t := Tally{
		Quarter: floorDiv(at.Unix(), int64(QuarterHour/time.Second)),
		Member:  clip(by.MemberID), Agent: clip(by.AgentType), Model: clip(by.Model), Turns: turns,
	}
	if used != nil {
		t.Totals.Add(*used)
		t.Costed = used.Cost != nil && used.Cost.Valid()
	}
	if t.Tokens() == 0 {
		t.Unknown = 1
	}
	s.addTally(t)
	if len(s.Tallies) > maxTallies {
		s.joinTallies()
	}
}

// addTally adds to the tally of the same quarter, member and model.
func (s *State) addTally(t Tally) {
	if !s.hasTallyKey(t) {
		t.Member, t.Agent, t.Model = other, other, other
	}
	i, found := slices.BinarySearchFunc(s.Tallies, t, Tally.compare)
	if found {
		s.Tallies[i].join(t)
		return
	}
	s.Tallies = slices.Insert(s.Tallies, i, t)
}

// hasTallyKey reports whether a member and a model are told apart from others.
func (s *State) hasTallyKey(t Tally) bool {
	same := func(u Tally) bool { return u.Member == t.Member && u.Agent == t.Agent && u.Model == t.Model }
	if len(s.Tallies) < maxTallyKeys || slices.ContainsFunc(s.Tallies, same) {
		return true
	}
	keys := map[[3]string]bool{}
	for _, known := range s.Tallies {
		keys[[3]string{known.Member, known.Agent, known.Model}] = true
	}
	return len(keys) < maxTallyKeys
}

// joinTallies joins tallies of the same member and model: those of a day in UTC, but for the newest two days, or of as
// many more days as it takes. A joined Tally has the first quarter.
func (s *State) joinTallies() {
	const day = int64(24 * time.Hour / QuarterHour)
	newest := s.Tallies[len(s.Tallies)-1].Quarter
	for _, join := range []struct{ span, until int64 }{
		{day, newest - 2*day}, {day, newest - day}, {day, newest}, {28 * day, newest}, {math.MaxInt64, math.MaxInt64},
	} {
		type part struct {
			key  [3]string
			cost bool
			span int64
		}
		first := map[part]int{}
		var joined []Tally
		for _, t := range s.Tallies {
			p := part{[3]string{t.Member, t.Agent, t.Model}, t.Costed, floorDiv(t.Quarter, join.span)}
			if i, ok := first[p]; ok && t.Quarter < join.until {
				joined[i].join(t)
				continue
			}
			first[p] = len(joined)
			joined = append(joined, t)
		}
		if s.Tallies = joined; len(joined) <= maxTallies-roomOfTallies {
			return
		}
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// endCopy notes, before an event is applied, that the session is no copy any more.
func (s *State) endCopy(e journal.Event) {
	if s.Copied && (e.Type == journal.TypeSealed || !e.Time.Before(timeOf(s.SessionID))) {
		s.Copied = false
	}
}

// timeOf returns the time in the id of a session; zero: it has none.
func timeOf(sessionID string) time.Time {
	id, err := ulid.ParseStrict(sessionID)
	if err != nil {
		return time.Time{}
	}
	return id.Timestamp()
}

// isOwn reports whether a turn that ends was one of this session: not copied from another one, nor imported from
// another program, whose ids of turns are no ULIDs.
func (s *State) isOwn(turnID string) bool {
	if t := s.turn(turnID); t != nil && t.Copied {
		return false
	}
	return !s.Copied && journal.ValidID(turnID)
}

// Spent is a sum of what turns used.
type Spent struct {
	Turns    int                `json:"turns,omitempty"`
	Tokens   int64              `json:"tokens,omitempty"`
	Costs    map[string]float64 `json:"costs,omitempty"`    // by currency
	Unknown  int                `json:"unknown,omitempty"`  // turns and summaries without reported tokens
	Uncosted int                `json:"uncosted,omitempty"` // without a reported cost
}

// Add adds what a turn or a summary used; nil is unknown.
func (s *Spent) Add(used *Usage) {
	t := Totals{Costs: maps.Clone(s.Costs)}
	if used != nil {
		t.Add(*used)
	}
	if t.Tokens() == 0 {
		s.Unknown++
	}
	if used == nil || used.Cost == nil {
		s.Uncosted++
	}
	s.Tokens, s.Costs = addTokens(s.Tokens, t.Tokens()), t.Costs
}

// AddTally adds what a Tally has.
func (s *Spent) AddTally(t Tally) {
	sum := Totals{Costs: maps.Clone(s.Costs)}
	sum.join(t.Totals)
	s.Turns += t.Turns
	s.Tokens, s.Costs = addTokens(s.Tokens, t.Tokens()), sum.Costs
	s.Unknown += t.Unknown
	if !t.Costed {
		s.Uncosted += max(t.Turns, 1)
	}
}

// Spent returns what the session's own turns used: not those that were copied or imported. Open turns are counted.
func (s *State) Spent() (sum Spent) {
	for _, t := range s.Tallies {
		sum.AddTally(t)
	}
	for _, t := range s.OpenTurns {
		if !t.Copied {
			sum.Turns++
		}
	}
	return sum
}

// SpentOnMessage returns what the turns since the last message of a person used. Open turns are counted.
func (s *State) SpentOnMessage() Spent {
	sum := s.Message
	sum.Turns += len(s.OpenTurns)
	return sum
}
