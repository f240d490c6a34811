package chart

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

var (
	eva   = projection.Speaker{ID: "eva", DisplayName: "Eva", Type: projection.TypeHuman}
	ada   = projection.Speaker{ID: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	began = time.Date(2026, 11, 20, 9, 0, 0, 0, time.Local)
)

// drawn returns the HTML of rows.
func drawn(t *testing.T, rows ...projection.TimelineRow) string {
	t.Helper()
	var c Chart
	for _, r := range rows {
		c.Add(r)
	}
	return htmlOf(t, &c)
}

func htmlOf(t *testing.T, c *Chart) string {
	t.Helper()
	var b strings.Builder
	err := c.HTML(&b, func(id string) string { return "fg" + id[:min(len(id), 1)] }, func(text string) string {
		return strings.ReplaceAll(text, "secret", "[…]")
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// after returns a time some seconds after the beginning.
func after(seconds float64) time.Time {
	return began.Add(time.Duration(seconds * float64(time.Second)))
}

func TestChart(t *testing.T) {
	for name, rows := range map[string][]projection.TimelineRow{
		"empty":       {{Kind: projection.RowTitle, Seq: 2, Time: began, Text: "a title"}},
		"one message": {{Kind: projection.RowMessage, Seq: 2, Message: 2, Member: eva, Time: began}},
		"all": {
			{Kind: projection.RowMessage, Seq: 2, Message: 2, Member: eva, Time: began, Waiting: []string{"ada"}},
			{Kind: projection.RowTurn, Seq: 3, Message: 7, Member: ada, Time: after(5), DurationMS: 20_000,
				FinishReason: projection.Done, Tools: 3, FailedTools: 1, Usage: projection.Usage{
					Input: 1000, CachedRead: 200, Output: 50, Cost: &projection.Cost{Amount: 0.5, Currency: "EUR"}}},
			{Kind: projection.RowTurn, Seq: 9, Member: ada, Time: after(30), DurationMS: 4000,
				FinishReason: projection.Cancelled},
			{Kind: projection.RowTurn, Seq: 20, Member: ada, Time: after(90_000), DurationMS: 0, FinishReason: projection.Done},
			{Kind: projection.RowTurn, Seq: 21, Member: ada, Time: after(90_010), DurationMS: 8000},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "_")+".golden")
			apptest.Golden(t, path, drawn(t, rows...))
		})
	}
}

// TestMessagesAreCountedAsByState compares the sums of journals with those of State, which the export, sessions show
// and /status have.
func TestMessagesAreCountedAsByState(t *testing.T) {
	paths, _ := filepath.Glob("../../../../../projection/testdata/journals/*[^y].jsonl") // not .replay.jsonl
	if len(paths) == 0 {
		t.Fatal("no journals")
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var state projection.State
		var rows projection.Timeline
		for line := range bytes.Lines(data) {
			var e journal.Event
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatal(err)
			}
			state.Apply(e)
			rows.Apply(e)
		}
		var c Chart
		for _, r := range rows.Rows {
			c.Add(r)
		}
		counted := map[string]int{}
		for _, l := range c.lanes {
			if l.messages > 0 {
				counted[l.id] = l.messages
			}
		}
		if len(counted) == 0 || !maps.Equal(counted, state.Stats.ByMember) {
			t.Errorf("%s: the chart counts %v, the state %v", path, counted, state.Stats.ByMember)
		}
	}
}

// TestHostileNames checks that names never become markup.
func TestHostileNames(t *testing.T) {
	hostile := `<script>alert(1)</script>"'><img onerror=x> & secret` + "\u202e\x1b[31m"
	member := projection.Speaker{ID: hostile, DisplayName: hostile}
	text := drawn(t, projection.TimelineRow{Kind: projection.RowTurn, Seq: 2, Member: member, Time: began,
		FinishReason: projection.FinishReason(hostile), Usage: projection.Usage{
			Cost: &projection.Cost{Amount: 1, Currency: hostile}}})
	d := xml.NewDecoder(strings.NewReader(text))
	known := " section p div svg g line text title a rect circle h2 table thead tbody tr th td span "
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && !strings.Contains(known, " "+e.Name.Local+" ") {
			t.Errorf("an element %s", e.Name.Local)
		}
	}
	if strings.Contains(text, "secret") || strings.ContainsAny(text, "\u202e\x1b") || strings.Contains(text, "<script") {
		t.Errorf("%s", text)
	}
}

// TestManyTurns draws more turns, members and days than fit. The sums count all of them.
func TestManyTurns(t *testing.T) {
	const turns = 100_000
	var c Chart
	for i := range turns {
		id := fmt.Sprint("member", i%30)
		c.Add(projection.TimelineRow{
			Kind: projection.RowTurn, Seq: uint64(i + 1), Member: projection.Speaker{ID: id, DisplayName: id},
			Time: began.Add(time.Duration(i) * time.Minute), DurationMS: 30_000, FinishReason: projection.Done,
			Usage: projection.Usage{Output: 1},
		})
	}
	if len(c.spans) > maxSpans || len(c.spans) < maxSpans/4 || len(c.lanes) != maxLanes || len(c.days) != maxDays {
		t.Errorf("%d spans, %d lanes, %d days", len(c.spans), len(c.lanes), len(c.days))
	}
	inSpans, inLanes, inDays := 0, 0, 0
	for _, s := range c.spans {
		inSpans += s.turns
	}
	for _, l := range c.lanes {
		inLanes += int(l.usage.Output)
	}
	for _, d := range c.days {
		inDays += int(d.usage.Output)
	}
	if inSpans != turns || inLanes != turns || inDays != turns {
		t.Errorf("turns: %d in spans, %d in lanes, %d in days", inSpans, inLanes, inDays)
	}
	if text := htmlOf(t, &c); len(text) > 2<<20 || !strings.Contains(text, "earlier") || !strings.Contains(text, "others") {
		t.Errorf("%d bytes", len(text))
	}
}

// TestOddTimes draws a clock that goes backwards, turns without a duration, and pauses.
func TestOddTimes(t *testing.T) {
	var rows []projection.TimelineRow
	for i := range 200 {
		rows = append(rows, projection.TimelineRow{
			Kind: projection.RowTurn, Seq: uint64(i + 1), Member: ada, FinishReason: projection.Done,
			Time: began.Add(time.Duration(100-i) * time.Hour), DurationMS: int64(i%3-1) * 1000,
		})
	}
	var c Chart
	for _, r := range rows {
		c.Add(r)
	}
	a := newAxis(c.spans, width)
	for _, s := range c.spans {
		for _, at := range []time.Time{s.from, s.to} {
			if x := a.at(at); x < 0 || x > width+0.001 {
				t.Errorf("%v is at %v", at, x)
			}
		}
	}
	if len(a.works) > mostPauses || a.scale <= 0 {
		t.Errorf("%d parts, scale %v", len(a.works), a.scale)
	}
}

func TestACloneIsIndependent(t *testing.T) {
	row := projection.TimelineRow{Kind: projection.RowTurn, Seq: 1, Member: ada, Time: began,
		FinishReason: projection.Done, Usage: projection.Usage{Cost: &projection.Cost{Amount: 1, Currency: "EUR"}}}
	var c Chart
	c.Add(row)
	before := htmlOf(t, &c)
	clone := c.Clone()
	clone.Add(row)
	if got := htmlOf(t, &c); got != before {
		t.Errorf("the original has changed:\n%s\n%s", before, got)
	}
	if htmlOf(t, clone) == before {
		t.Error("the clone has not changed")
	}
}
