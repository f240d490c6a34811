package chart

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// The bounds of a Chart.
const (
	maxSpans = 1500 // drawn turns and messages
	maxLanes = 24   // members; others share the last one
	maxDays  = 60   // days in the table; earlier ones share the first one
)

// A Chart has what is drawn of a session. The zero Chart is that of a session without events.
type Chart struct {
	lanes   []lane
	spans   []span // by the time of their start, mostly
	merge   int    // how many rows of a lane in succession are drawn as one; 0: one
	days    []day
	waiting map[string]time.Time // since when a member is in the queue
}

// A lane is a member, and the sums of its turns.
type lane struct {
	id, name string
	sums
	usage projection.Totals
}

// A day is a date and the sums of its turns.
type day struct {
	date string // local; "": before the other days
	sums
	usage projection.Totals
}

// sums are what some turns amount to.
type sums struct {
	turns, unfinished  int
	messages           int // those of turns included
	alone              int // messages without a turn
	tools, failedTools int
	work               time.Duration
}

func (s *sums) add(r projection.TimelineRow) {
	switch r.Kind {
	case projection.RowTurn:
		s.turns++
		if unfinished(r) {
			s.unfinished++
		}
	case projection.RowMessage:
		s.alone++
	}
	if r.Message > 0 {
		s.messages++
	}
	s.tools, s.failedTools = s.tools+r.Tools, s.failedTools+r.FailedTools
	s.work += time.Duration(r.DurationMS) * time.Millisecond
}

// unfinished reports whether a turn has ended without a reply as it was meant.
func unfinished(r projection.TimelineRow) bool {
	return r.Kind == projection.RowTurn && r.FinishReason != "" && r.FinishReason != projection.Done
}

// A span is a turn or a message, or several of a member in succession.
type span struct {
	lane       int
	seq        uint64 // of the first event
	from, to   time.Time
	waiting    time.Time // when the member was queued; zero: unknown
	unfinished bool      // at least one of them
	open       bool      // the turn has no end
	sums
	usage projection.Usage
}

// Add adds a row. Changes of the session are ignored.
func (c *Chart) Add(r projection.TimelineRow) {
	if r.Kind != projection.RowTurn && r.Kind != projection.RowMessage {
		c.queue(r)
		return
	}
	at := c.lane(r.Member)
	day := c.day(r.Time)
	c.lanes[at].add(r)
	c.lanes[at].usage.Add(r.Usage)
	day.add(r)
	day.usage.Add(r.Usage)
	if n := len(c.spans); n > 0 && c.spans[n-1].lane == at && c.spans[n-1].turns+c.spans[n-1].alone < c.merge {
		c.spans[n-1].extend(spanOf(at, r, time.Time{}))
	} else {
		c.spans = append(c.spans, spanOf(at, r, c.waiting[r.Member.ID]))
	}
	if len(c.spans) > maxSpans {
		c.shrink()
	}
	c.queue(r)
}

func spanOf(lane int, r projection.TimelineRow, waiting time.Time) span {
	s := span{lane: lane, seq: r.Seq, from: r.Time, to: r.Time, waiting: waiting, unfinished: unfinished(r)}
	if r.Message > 0 {
		s.seq = r.Message
	}
	if r.Kind == projection.RowTurn {
		s.to = r.Time.Add(time.Duration(max(r.DurationMS, 0)) * time.Millisecond)
		s.open = r.FinishReason == ""
	}
	s.add(r)
	s.usage.Add(r.Usage)
	return s
}

// extend makes a span stand for another one, too.
func (s *span) extend(other span) {
	if other.to.After(s.to) {
		s.to = other.to
	}
	s.unfinished, s.open = s.unfinished || other.unfinished, other.open
	s.join(other.sums)
	s.usage.Add(other.usage)
}

func (s *sums) join(o sums) {
	s.turns, s.unfinished = s.turns+o.turns, s.unfinished+o.unfinished
	s.messages, s.alone = s.messages+o.messages, s.alone+o.alone
	s.tools, s.failedTools, s.work = s.tools+o.tools, s.failedTools+o.failedTools, s.work+o.work
}

// shrink draws more spans of a lane in succession as one, so that a quarter of maxSpans is free.
func (c *Chart) shrink() {
	for c.join(); len(c.spans) > maxSpans*3/4; c.join() {
		c.merge = max(2*c.merge, 2)
	}
}

// join joins each span to the one before it in its lane, as far as merge allows.
func (c *Chart) join() {
	last := make([]int, len(c.lanes)) // by lane: one more than the index of its newest span, or 0
	kept := c.spans[:0]
	for _, s := range c.spans {
		if i := last[s.lane] - 1; i >= 0 && kept[i].turns+kept[i].alone+s.turns+s.alone <= c.merge {
			kept[i].extend(s)
			continue
		}
		kept = append(kept, s)
		last[s.lane] = len(kept)
	}
	c.spans = kept
}

// lane returns the index of the lane of a member.
func (c *Chart) lane(m projection.Speaker) int {
	i := slices.IndexFunc(c.lanes, func(l lane) bool { return l.id == m.ID })
	switch {
	case i >= 0:
		return i
	case len(c.lanes) == maxLanes:
		c.lanes[maxLanes-1].id, c.lanes[maxLanes-1].name = "", "others"
		return maxLanes - 1
	}
	c.lanes = append(c.lanes, lane{id: m.ID, name: m.DisplayName})
	return len(c.lanes) - 1
}

// day returns the day of a time.
func (c *Chart) day(t time.Time) *day {
	date := t.Local().Format(time.DateOnly)
	i := slices.IndexFunc(c.days, func(d day) bool { return d.date == date })
	if i < 0 {
		c.days = append(c.days, day{date: date})
		slices.SortFunc(c.days, func(a, b day) int { return strings.Compare(a.date, b.date) })
		if len(c.days) > maxDays {
			c.days[1].join(c.days[0].sums)
			joinTotals(&c.days[1].usage, c.days[0].usage)
			c.days = slices.Delete(c.days, 0, 1)
			c.days[0].date = ""
		}
		i = max(slices.IndexFunc(c.days, func(d day) bool { return d.date == date }), 0)
	}
	return &c.days[i]
}

// queue notes since when members wait.
func (c *Chart) queue(r projection.TimelineRow) {
	end := r.Time.Add(time.Duration(max(r.DurationMS, 0)) * time.Millisecond)
	waiting := map[string]time.Time{}
	for _, id := range r.Waiting {
		waiting[id] = end
		if since, ok := c.waiting[id]; ok {
			waiting[id] = since
		}
	}
	c.waiting = waiting
}

// Clone returns a copy. Adding to one of them does not change the other.
func (c *Chart) Clone() *Chart {
	clone := *c
	clone.lanes, clone.spans, clone.days = slices.Clone(c.lanes), slices.Clone(c.spans), slices.Clone(c.days)
	for i := range clone.lanes {
		clone.lanes[i].usage.Costs = maps.Clone(c.lanes[i].usage.Costs)
	}
	for i := range clone.days {
		clone.days[i].usage.Costs = maps.Clone(c.days[i].usage.Costs)
	}
	return &clone
}

// joinTotals adds sums to others.
func joinTotals(t *projection.Totals, more projection.Totals) {
	t.Add(projection.Usage{
		Input: more.Input, CachedRead: more.CachedRead, CachedWrite: more.CachedWrite,
		Output: more.Output, Thought: more.Thought,
	})
	for currency, amount := range more.Costs {
		t.Add(projection.Usage{Cost: &projection.Cost{Amount: amount, Currency: currency}})
	}
}
