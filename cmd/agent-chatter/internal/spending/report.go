package spending

import (
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A Report is what the turns of sessions used, in words, as the command prints it.
type Report struct {
	Tables []Table
	Notes  []app.Message // what the numbers lack
}

// A Table has the sums of one By.
type Table struct {
	By    By     `json:"by"`
	Lines []Line `json:"lines"`
	Total Line   `json:"total"`
	Bars  string `json:"bars"` // what the bars show: TOKENS or COST
}

// A Line is a sum. What is unknown is said, and nothing is "-".
type Line struct {
	Name   string  `json:"name"`
	Turns  int     `json:"turns"`
	In     string  `json:"in"`
	Cached string  `json:"cached"`
	Out    string  `json:"out"`
	Cost   string  `json:"cost"`
	Bar    float64 `json:"bar"` // its length, from 0 to 1
}

// ReportOf returns the Report of sessions since a time, with a table for each By.
func ReportOf(since time.Time, sessions []*catalog.Entry, prices Prices, by ...By) Report {
	var r Report
	all := sums(since, updatedSince(since, sessions), prices, by...)
	for i, rows := range all {
		bars, measure := sizes(rows)
		t := Table{By: by[i], Lines: []Line{}, Total: line(row{Sum: of(rows)}, ByDay, 0), Bars: measure}
		for n, row := range rows {
			t.Lines = append(t.Lines, line(row, by[i], bars[n]))
		}
		r.Tables = append(r.Tables, t)
	}
	if len(all) > 0 {
		r.Notes = notes(of(all[0]), damaged(sessions))
	}
	return r
}

func line(r row, by By, bar float64) Line {
	return Line{r.name(by), r.Turns, r.count(r.in()), r.count(r.cached()), r.count(r.out()), r.CostText(), bar}
}

// notes say what a sum lacks.
func notes(all Sum, damaged int) (notes []app.Message) {
	if text := unknownText(all); text != "" {
		notes = append(notes, app.Text("%s", text))
	}
	if all.Priced > 0 {
		notes = append(notes, app.Text("%s", textByPrices))
	}
	if damaged > 0 {
		notes = append(notes, damagedText(damaged))
	}
	return notes
}

// damaged returns how many sessions are damaged.
func damaged(sessions []*catalog.Entry) (n int) {
	for _, s := range sessions {
		if s.Damaged {
			n++
		}
	}
	return n
}
