package browse

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

const (
	trashAgeColumns  = 8  // of the time in the trash
	trashTeamColumns = 16 // of the team
	trashWideColumns = 60 // from here on a row names the team
	detailRows       = 4  // below the list
	leastRows        = 8  // from here on there are details
)

// height is how many sessions fit into the pane.
func (p *trashPane) height() int {
	if p.rows < leastRows {
		return p.rows
	}
	return p.rows - detailRows
}

// Rows returns the rows of the pane: as many as it has, each at most as wide as it is.
func (p *trashPane) Rows() []string {
	if p.rows <= 0 || p.columns <= 0 {
		return nil
	}
	var lines []ansi.Line
	for i, item := range p.visible() {
		lines = append(lines, p.line(item, p.top+i == p.selected))
	}
	if len(lines) == 0 {
		lines = p.emptyLines()
	}
	rows := make([]string, p.rows)
	for i, line := range lines[:min(len(lines), p.height())] {
		rows[i] = p.profile.Encode(ansi.Cut(line, p.columns))
	}
	for i, line := range p.details() {
		rows[p.height()+i] = p.profile.Encode(ansi.Cut(line, p.columns))
	}
	return rows
}

// emptyLines say why there are no rows.
func (p *trashPane) emptyLines() (lines []ansi.Line) {
	text := "The trash is empty."
	switch {
	case p.problem != "":
		text = p.problem
	case !p.listed:
		text = "Reading …"
	}
	for paragraph := range strings.SplitSeq(text, "\n") {
		for _, line := range ansi.Wrap(ansi.Line{dimSafe(paragraph)}, max(p.columns-4, 1)) {
			lines = append(lines, append(ansi.Line{{Text: "  "}}, line...))
		}
	}
	return lines
}

// line is the row of a session: its title, its team, and how long it has been in the trash.
func (p *trashPane) line(item catalog.Trashed, selected bool) ansi.Line {
	line := ansi.Line{{Text: "  "}}
	if selected {
		line = ansi.Line{{Text: "▸ ", Style: ansi.Style{Color: ansi.Cyan}}}
	}
	h, known := p.heads[keyOf(item)]
	age := "unknown"
	if !item.Since.IsZero() {
		age = app.Age(item.Since, p.now())
	}
	tail := cell(ansi.Line{dimSafe(age)}, trashAgeColumns, true)
	if p.columns >= trashWideColumns {
		tail = append(cell(ansi.Line{dimSafe(h.TeamID)}, trashTeamColumns, false), tail...)
	}
	title := ansi.Line{{Text: tty.SafeLine(trashTitle(h, known)), Style: ansi.Style{Bold: selected}}}
	if h.problem != "" {
		title = ansi.Line{{Text: "✗ " + item.ID, Style: ansi.Style{Color: ansi.Red}}}
	}
	line = append(line, cell(title, max(p.columns-line.Columns()-tail.Columns(), tty.LeastShown), false)...)
	return append(line, tail...)
}

// trashTitle returns the title of a session, or what stands for it.
func trashTitle(h head, known bool) string {
	if !known {
		return "…"
	}
	return cmp.Or(strings.TrimSpace(h.Title), "(no messages)")
}

// cell cuts or fills a line to so many columns, with a blank after it.
func cell(line ansi.Line, columns int, right bool) ansi.Line {
	line = ansi.Cut(line, columns-1)
	blanks := strings.Repeat(" ", max(columns-1-line.Columns(), 0))
	if right {
		return append(append(ansi.Line{{Text: blanks}}, line...), ansi.Span{Text: " "})
	}
	return append(line, ansi.Span{Text: blanks + " "})
}

// details are what is known of the selected session.
func (p *trashPane) details() []ansi.Line {
	if p.rows < leastRows {
		return nil
	}
	lines := []ansi.Line{{dimSafe(strings.Repeat("─", p.columns))}}
	if p.selected >= len(p.items) {
		return lines
	}
	item := p.items[p.selected]
	h := p.heads[keyOf(item)]
	facts := []string{item.ID, app.Bytes(uint64(item.Bytes))}
	if !item.Since.IsZero() {
		facts = append(facts, "deleted "+timeText(item.Since))
	}
	lines = append(lines, ansi.Line{{Text: " " + strings.Join(facts, " · ")}})
	switch {
	case h.problem != "":
		lines = append(lines, ansi.Line{{Text: " " + h.problem, Style: ansi.Style{Color: ansi.Red}}})
	case h.TeamID != "":
		began := []string{"team " + h.TeamID, "began " + timeText(h.CreatedAt), h.CWD}
		lines = append(lines, ansi.Line{{Text: " " + tty.SafeLine(strings.Join(began, " · "))}})
	default:
		lines = append(lines, nil)
	}
	empty := p.app.Render(app.Message{Help: []app.Help{app.To("empty the trash", "sessions", "clean", "--trash")}})
	return append(lines, ansi.Line{dimSafe(" " + empty)})
}

// problemText says why the beginning of a session cannot be read.
func problemText(err error) string {
	var corrupt *journal.CorruptError
	var header *catalog.MissingHeaderError
	switch {
	case errors.As(err, &corrupt):
		return tty.SafeLine(fmt.Sprintf("Line %d is damaged: %s", corrupt.Line, corrupt.Reason))
	case errors.As(err, &header):
		return tty.SafeLine("It is not a session: " + header.Reason)
	}
	return tty.SafeLine(app.Sentence(err))
}

func timeText(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

func dimSafe(text string) ansi.Span {
	return ansi.Span{Text: tty.SafeLine(text), Style: ansi.Style{Color: ansi.BrightBlack}}
}
