package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Budget has the limits of what turns may use, beside those of the team's file. Of two limits the lower one holds.
// Those of the session, which [Coordinator.SetLimit] has set, precede both.
type Budget struct {
	Home team.Budget  // of the configuration
	Run  []team.Bound // of this run, instead of all others with their name until SetLimit
	Day  Day          // nil: a day has no limit
}

// Day counts what the turns of all sessions of a home use on a day, also those of other processes.
type Day interface {
	// Begin counts turns, 0 or more, that are about to start, unless one of the bounds is reached by what is recorded.
	// It returns what the turns that were counted before have used, and the day.
	Begin(ctx context.Context, turns int, bounds []team.Bound) (spent projection.Spent, day string, err error)
	// Add adds what a turn or a summary has used; nil is unknown.
	Add(used *projection.Usage) error
}

// nearPart is the part of a limit from which on the listener is notified.
const nearPart = 0.8

// BudgetError is the error of Say, Retry and Summarize if a limit is reached, so that no turn was started, and that of
// a turn that was stopped because it passed a limit.
type BudgetError struct {
	Bound     team.Bound
	Used      float64
	Currency  string // of a cost
	Stopped   bool   // a turn was
	SessionID string
	Day       string // with team.PerDay: the day
	Next      int    // the turns of a panel that do not fit into a limit of turns; 0: one turn, or another limit
}

func (e *BudgetError) Error() string {
	what := "no turn is started"
	if e.Stopped {
		what = "the turn is stopped"
	}
	return fmt.Sprintf("%s: %s", what, e.Amounts())
}

// Amounts returns what is used, of what, and the name of the limit.
func (e *BudgetError) Amounts() string {
	whole := map[string]string{
		team.PerMessage: "since the last message of a person", team.PerSession: "in this session",
		team.PerDay: "on " + e.Day,
	}[e.Bound.Per]
	next := ""
	if e.Next > 0 {
		next = fmt.Sprintf(", and %d are next", e.Next)
	}
	return fmt.Sprintf("%s of %s %s used %s%s (budget.%s)", team.Amount(e.Used), team.Amount(e.Bound.Most),
		cmp.Or(e.Currency, e.Bound.Of), whole, next, e.Bound.Name())
}

// Hint returns the command that continues the session in a run with twice the limit.
func (e *BudgetError) Hint() hint.Hint {
	if e.SessionID == "" {
		return hint.Hint{}
	}
	raised := e.Bound.Name() + "=" + team.Amount(2*max(e.Used+float64(e.Next), e.Bound.Most))
	return hint.Hint{Kind: hint.Command, Argv: []string{"chat", "--resume", e.SessionID, "--budget", raised}}
}

// Reached returns the error for the first of some bounds that is reached, so that turns, 0 for a summary, cannot start;
// nil if none is. Several turns start only if all do.
func Reached(bounds []team.Bound, spent projection.Spent, turns int) *BudgetError {
	all := spent
	all.Turns += max(turns, 1) - 1
	for _, b := range bounds {
		if after, currency, _ := b.Used(all); after >= b.Most {
			e := &BudgetError{Bound: b, Currency: currency}
			if e.Used, _, _ = b.Used(spent); after > e.Used {
				e.Next = turns
			}
			return e
		}
	}
	return nil
}

// spent is what was used before a turn, by the names of the parts of a budget.
type spent map[string]projection.Spent

// SetLimit sets a limit for this session, instead of all others with its name; nil: that of the configuration holds
// again. It records that, as SetModel does. Errors are those of an unknown name, and of appending.
func (c *Coordinator) SetLimit(name string, most *float64) error {
	if c.team == nil {
		return ErrNoTeam
	}
	if !slices.Contains(team.BoundNames(), name) {
		return fmt.Errorf("%w: %q", errNoLimit, name)
	}
	if err := c.beginSession(); err != nil { // which makes the home
		return err
	}
	c.loadHomeKey()
	p := projection.BudgetChanged{Limit: name, Most: most}
	p.Host = c.limitHost(p)
	if err := c.change(p); err != nil {
		return err
	}
	isReplaced := func(b team.Bound) bool { return b.Name() == name }
	c.o.Budget.Run = slices.DeleteFunc(slices.Clone(c.o.Budget.Run), isReplaced)
	return nil
}

var errNoLimit = errors.New("there is no such limit")

// limitHost returns projection.BudgetChanged.Host.
func (c *Coordinator) limitHost(p projection.BudgetChanged) string {
	return c.hash("limit", c.configured.ID, p.Limit, p.Most)
}

// AdoptLimits sets the limits that another session has, as far as they count here.
func (c *Coordinator) AdoptLimits(of *projection.State) error {
	in, ignored := c.limited(of)
	c.notifyLimits(in, ignored)
	for _, p := range in {
		if err := c.SetLimit(p.Limit, p.Most); err != nil {
			return err
		}
	}
	return nil
}

// limited returns the limits of a session that count, and those that do not: from elsewhere, no limit is raised.
func (c *Coordinator) limited(state *projection.State) (in, ignored []projection.BudgetChanged) {
	configured := c.configuredBounds()
	for _, p := range state.LastLimits() {
		c.loadHomeKey()
		own := slices.ContainsFunc(state.Budget, func(of projection.BudgetChanged) bool {
			return of.Limit == p.Limit && of.Host != "" && of.Host == c.limitHost(of)
		})
		before, ok := configured[p.Limit]
		lowers := *p.Most > 0 && (!ok || *p.Most <= before.Most)
		switch {
		case !slices.Contains(team.BoundNames(), p.Limit): // of a later version
		case own, lowers:
			in = append(in, p)
		default:
			ignored = append(ignored, p)
		}
	}
	return in, ignored
}

func (c *Coordinator) notifyLimits(in, ignored []projection.BudgetChanged) {
	if len(in)+len(ignored) > 0 {
		c.notify(LimitsChanged{in, ignored})
	}
}

// configuredBounds returns the limits that the team's file and the configuration have, by name.
func (c *Coordinator) configuredBounds() map[string]team.Bound {
	lowest := map[string]team.Bound{}
	for _, b := range append(c.team.Budget.Bounds(), c.o.Budget.Home.Bounds()...) {
		if known, ok := lowest[b.Name()]; !ok || b.Most < known.Most {
			lowest[b.Name()] = b
		}
	}
	return lowest
}

// Bounds returns the limits that hold.
func (c *Coordinator) Bounds() (all []team.Bound) {
	holds := c.configuredBounds()
	set := func(name string, most float64) {
		per, of, _ := strings.Cut(name, ".")
		holds[name] = team.Bound{Per: per, Of: of, Most: most}
	}
	if c.conv != nil {
		in, _ := c.limited(c.conv.state)
		for _, p := range in {
			set(p.Limit, *p.Most)
		}
	}
	for _, b := range c.o.Budget.Run {
		set(b.Name(), b.Most)
	}
	for _, name := range team.BoundNames() {
		if b := holds[name]; b.Most > 0 {
			all = append(all, b)
		}
	}
	return all
}

// budget returns the limits as a session records them; nil: none.
func (c *Coordinator) budget() map[string]float64 {
	var all map[string]float64
	for _, b := range c.Bounds() {
		if all == nil {
			all = map[string]float64{}
		}
		all[b.Name()] = b.Most
	}
	return all
}

// beginSpending notes that turns, 0 for a summary, are about to start, and what was used before. If a limit is reached,
// it returns a *BudgetError.
func (c *Coordinator) beginSpending(ctx context.Context, turns int) error {
	before := spent{team.PerMessage: c.conv.state.SpentOnMessage(), team.PerSession: c.conv.state.Spent()}
	var ofDay []team.Bound
	for _, b := range c.Bounds() {
		if b.Per == team.PerDay {
			ofDay = append(ofDay, b)
			continue
		}
		if e := Reached([]team.Bound{b}, before[b.Per], turns); e != nil {
			return c.refuse(e)
		}
	}
	day, err := "", error(nil)
	switch {
	case c.o.Budget.Day != nil:
		before[team.PerDay], day, err = c.o.Budget.Day.Begin(ctx, turns, ofDay)
	case len(ofDay) > 0:
		err = errNoDay
	}
	if e, ok := errors.AsType[*BudgetError](err); ok {
		return c.refuse(e)
	}
	if err != nil && len(ofDay) > 0 {
		return fmt.Errorf("no turn is started: what was used today is unknown: %w", err)
	}
	c.before, c.day = before, day
	for _, b := range c.Bounds() {
		c.notifyBudget(b, before[b.Per])
	}
	return nil
}

var errNoDay = errors.New("it is not counted here")

func (c *Coordinator) refuse(e *BudgetError) *BudgetError {
	e.SessionID = c.conv.log.SessionID()
	return e
}

// notifyBudget notifies the listener, once, that a limit is near, or that it is not known how near.
func (c *Coordinator) notifyBudget(b team.Bound, spent projection.Spent) {
	day := ""
	if b.Per == team.PerDay {
		day = c.day
	}
	used, currency, unknown := b.Used(spent)
	if unknown > 0 && c.first("unknown", b, day) {
		c.notify(BudgetUnknown{b, unknown})
	}
	refused := used >= b.Most && c.agentIsNext() // which says more
	if used >= nearPart*b.Most && !refused && c.first("near", b, day) {
		c.notify(BudgetNear{BudgetError{Bound: b, Used: used, Currency: currency, Day: day}})
	}
}

// agentIsNext reports whether the queue has an agent who is next.
func (c *Coordinator) agentIsNext() bool {
	return !c.queue.empty() && c.queue.order(c.last)[0].member.Type != team.Human
}

// first reports whether this is the first notice about a bound in this conversation, or on the day. Say forgets those
// about messages.
func (c *Coordinator) first(what string, b team.Bound, day string) bool {
	key := strings.Join([]string{what, b.Name(), day}, " ")
	if c.budgetNotices[key] {
		return false
	}
	if c.budgetNotices == nil {
		c.budgetNotices = map[string]bool{}
	}
	c.budgetNotices[key] = true
	return true
}

// spend counts what a turn or a summary, turns = 0, has used for the day; nil is unknown. It notifies the listener of
// the limits that are near since.
func (c *Coordinator) spend(turns int, used *projection.Usage) {
	if c.o.Budget.Day != nil {
		_ = c.o.Budget.Day.Add(used) // the next Begin returns an error, too
	}
	for per, sum := range c.before {
		sum.Turns += turns
		sum.Add(used)
		c.before[per] = sum
	}
	for _, b := range c.Bounds() {
		c.notifyBudget(b, c.before[b.Per])
	}
}

// passed returns the error of the turns that run if they have passed a limit with what they have used so far; nil: they
// have not.
func (c *Coordinator) passed() *BudgetError {
	for _, b := range c.Bounds() {
		if b.Of == team.Turns {
			continue
		}
		sum := c.before[b.Per]
		for _, t := range c.turns {
			if t.usage != nil {
				sum.Add(t.usage)
			}
		}
		if used, currency, _ := b.Used(sum); used > b.Most {
			return c.refuse(&BudgetError{Bound: b, Used: used, Currency: currency, Stopped: true})
		}
	}
	return nil
}

// continues reports whether an event shows that the agent continues to work.
func continues(e agent.Event) bool {
	switch e.(type) {
	case agent.Text, agent.ToolStarted, agent.ToolCompleted, agent.Plan:
		return true
	}
	return false
}
