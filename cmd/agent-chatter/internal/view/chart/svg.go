package chart

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/clipperhouse/displaywidth"
)

// Style is the style sheet of what HTML writes.
//
//go:embed chart.css
var Style string

//go:embed chart.tmpl
var files embed.FS

var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(files, "chart.tmpl"))
})

// The measures of the picture, in pixels.
const (
	width      = 960.0
	laneHeight = 34.0
	barHeight  = 16.0
	leastBar   = 3.0
	axisHeight = 26.0
	nameWidth  = 130.0
)

// HTML writes the chart: the picture, and the sums of each member and of each day in tables. A turn links to
// #seq-N. class returns the class of the colour of a member, and secrets replaces secrets in names.
func (c *Chart) HTML(w io.Writer, class func(memberID string) string, secrets func(string) string) error {
	a := newAxis(c.spans, width)
	shown := shownChart{
		Width: width, Height: axisHeight + laneHeight*float64(len(c.lanes)), Pauses: a.pauses,
		Members: sumsOf(c.lanes, func(l lane) (string, string, sums, projection.Totals) {
			return tty.SafeLine(secrets(l.name)), class(l.id), l.sums, l.usage
		}),
		Days: sumsOf(c.days, func(d day) (string, string, sums, projection.Totals) {
			return cmp.Or(d.date, "earlier"), "", d.sums, d.usage
		}),
	}
	for i, l := range c.lanes {
		shown.Lanes = append(shown.Lanes, shownLane{
			Name: tty.SafeLine(secrets(l.name)), Class: class(l.id), Y: axisHeight + laneHeight*float64(i),
		})
	}
	for _, s := range c.spans {
		shown.Lanes[s.lane].Spans = append(shown.Lanes[s.lane].Spans, a.shown(s, shown.Lanes[s.lane]))
	}
	shown.Ticks = a.ticks()
	return templates().ExecuteTemplate(w, "chart.tmpl", shown)
}

// A shownChart is what the template shows.
type shownChart struct {
	Width, Height float64
	Pauses        int
	Lanes         []shownLane
	Ticks         []tick
	Members, Days []shownSums
}

// Empty reports whether there is nothing to draw.
func (c shownChart) Empty() bool { return len(c.Lanes) == 0 }

// Total is the width with the names.
func (c shownChart) Total() float64 { return c.Width + nameWidth + 10 }

// A table has the sums of members or days.
type table struct {
	What string
	Rows []shownSums
}

// MembersTable returns the sums of the members.
func (c shownChart) MembersTable() table { return table{"member", c.Members} }

// DaysTable returns the sums of the days.
func (c shownChart) DaysTable() table { return table{"day", c.Days} }

// A shownLane is a member and its spans.
type shownLane struct {
	Name, Class string
	Y           float64 // of its upper edge
	Spans       []shownSpan
}

// Short returns the name as far as there is room.
func (l shownLane) Short() string {
	return displaywidth.TruncateString(l.Name, 15, "…")
}

// Middle is where the text of the lane stands.
func (l shownLane) Middle() float64 { return l.Y + laneHeight/2 }

// A shownSpan is a bar, or the dot of a message.
type shownSpan struct {
	Seq        uint64
	Text       string // what it is
	X, Y, W, H float64
	Wait       float64 // where the line of waiting begins; X: there is none
	Middle     float64
	Dot        bool
	Unfinished bool
	Open       bool
	Tools      []float64 // where the marks of tool calls are
	Failed     bool      // a tool call failed
}

// Center is the middle of the bar.
func (s shownSpan) Center() float64 { return s.X + s.W/2 }

// maxMarks is the number of marks of tool calls on a bar.
const maxMarks = 8

func (a *axis) shown(s span, l shownLane) shownSpan {
	x := min(a.at(s.from), width-leastBar)
	shown := shownSpan{
		Seq: s.seq, Text: s.text(l.Name), X: x, Y: l.Y + (laneHeight-barHeight)/2, H: barHeight,
		W: min(max(a.at(s.to)-x, leastBar), width-x), Wait: x, Middle: l.Middle(),
		Dot: s.turns == 0, Unfinished: s.unfinished, Open: s.open, Failed: s.failedTools > 0,
	}
	if !s.waiting.IsZero() && s.waiting.Before(s.from) {
		shown.Wait = min(a.at(s.waiting), x)
	}
	marks := min(s.tools, maxMarks, int(shown.W/5))
	for i := range marks {
		shown.Tools = append(shown.Tools, x+shown.W*(float64(i)+0.5)/float64(marks))
	}
	return shown
}

// text says what a span is: who, when, how long, and what was used.
func (s span) text(name string) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch {
	case s.turns+s.alone > 1 && s.turns > 0:
		add("%s, %s from %s", name, app.Count(s.turns, "turn"), clock(s.from))
	case s.alone > 1:
		add("%s, %s from %s", name, app.Count(s.alone, "message"), clock(s.from))
	default:
		add("%s, %s", name, clock(s.from))
	}
	if s.turns > 0 {
		add("%s", view.DurationText(s.to.Sub(s.from)))
	}
	if !s.waiting.IsZero() && s.from.Sub(s.waiting) >= time.Second {
		add("waited %s", view.DurationText(s.from.Sub(s.waiting)))
	}
	if s.tools > 0 {
		tools := app.Count(s.tools, "tool call")
		if s.failedTools > 0 {
			tools += fmt.Sprintf(", %d failed", s.failedTools)
		}
		add("%s", tools)
	}
	var used projection.Totals
	used.Add(s.usage)
	parts = append(parts, figures(used)...)
	switch {
	case s.open:
		add("not ended")
	case s.unfinished:
		add("unfinished")
	}
	return strings.Join(parts, " · ")
}

// figures returns the tokens and the cost.
func figures(t projection.Totals) []string {
	var figures []string
	if in := t.Input + t.CachedRead + t.CachedWrite; in > 0 {
		figures = append(figures, view.CountText(in)+" tokens in")
	}
	if out := t.Output + t.Thought; out > 0 {
		figures = append(figures, view.CountText(out)+" out")
	}
	if cost := view.CostText(t); cost != "" {
		figures = append(figures, cost)
	}
	return figures
}

func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// A tick is a time on the axis.
type tick struct {
	X    float64
	Text string
	End  bool // the text ends there
}

// ticks returns the beginning of each work that has room for it, and the end of the last one.
func (a *axis) ticks() []tick {
	const room = 130.0
	if len(a.works) == 0 {
		return nil
	}
	end := a.works[len(a.works)-1].to
	ticks := []tick{{X: width, Text: clock(end), End: true}}
	last := -room
	for _, w := range a.works {
		if w.at-last >= room && w.at <= width-2*room || w.at == 0 {
			ticks = append(ticks, tick{X: w.at, Text: clock(w.from)})
			last = w.at
		}
	}
	return ticks
}

// shownSums is a row of a table.
type shownSums struct {
	Name, Class        string
	Turns, Messages    int
	Unfinished         int
	Tools, FailedTools int
	Work, In, Out      string
	Cost               string
	Tokens             float64 // the length of the bar, in pixels of maxBar
}

// maxBar is the length of the longest bar in a table, in pixels.
const maxBar = 120.0

// sumsOf returns the rows of a table.
func sumsOf[T any](rows []T, of func(T) (name, class string, s sums, usage projection.Totals)) []shownSums {
	var shown []shownSums
	var tokens []float64
	for _, row := range rows {
		name, class, s, u := of(row)
		in, out := u.Input+u.CachedRead+u.CachedWrite, u.Output+u.Thought
		shown = append(shown, shownSums{
			Name: name, Class: class, Turns: s.turns, Messages: s.messages, Unfinished: s.unfinished,
			Tools: s.tools, FailedTools: s.failedTools, Work: view.DurationText(s.work),
			In: view.CountText(in), Out: view.CountText(out), Cost: view.CostText(u),
		})
		tokens = append(tokens, float64(in)+float64(out))
	}
	if len(tokens) > 0 {
		most := max(slices.Max(tokens), 1)
		for i := range shown {
			shown[i].Tokens = maxBar * tokens[i] / most
		}
	}
	return shown
}
