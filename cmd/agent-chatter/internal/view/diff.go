package view

import (
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// numberedColumns is how many columns a line has at least where the lines of an edit have numbers.
const numberedColumns = 60

// A diff lays out the lines that an edit changes: the number, what happens to the line, and the line in the colours of
// its language. What differs in a removed line and the added one that replaces it is underlined.
type diff struct {
	style  Style
	digits int // of the longest number; 0: no line has one
}

// DiffLines returns the lines that hunks change, in a style. If they are of several files, the name of a file precedes
// its lines. A line may be longer than the style allows, so that it can be copied whole.
func DiffLines(hunks []Hunk, s Style) []ansi.Line { return diffLines(hunks, math.MaxInt, s) }

// diffLines is DiffLines for the first n lines that are changed.
func diffLines(hunks []Hunk, n int, s Style) (lines []ansi.Line) {
	d := diff{style: s}
	several := false
	var shown []Hunk
	for _, h := range hunks {
		if h.Changes = h.Changes[:min(n, len(h.Changes))]; len(h.Changes) == 0 {
			continue
		}
		n -= len(h.Changes)
		shown = append(shown, h)
		several = several || h.Path != hunks[0].Path
		for _, number := range h.numbers() {
			if number > 0 && s.columns() >= numberedColumns {
				d.digits = max(d.digits, len(fmt.Sprint(number)))
			}
		}
	}
	for i, h := range shown {
		switch {
		case several && h.Path != "" && (i == 0 || shown[i-1].Path != h.Path):
			name := ansi.Line{{Text: resultMark + h.Path, Style: ansi.Style{Bold: true}}}
			lines = append(lines, ansi.Cut(name, s.columns()))
		case i > 0:
			gap := resultMark + strings.Repeat(" ", d.indent()) + "⋮"
			lines = append(lines, ansi.Line{{Text: gap, Style: ansi.Style{Dim: true}}})
		}
		lines = append(lines, d.hunk(h)...)
	}
	return lines
}

// indent is how many columns the number takes, with the blank after it.
func (d diff) indent() int {
	if d.digits == 0 {
		return 0
	}
	return d.digits + 1
}

// hunk returns the lines of a hunk.
func (d diff) hunk(h Hunk) (lines []ansi.Line) {
	numbers, texts := h.numbers(), texts(h, d.colored())
	for i, change := range h.Changes {
		lead, rest := d.lead(change.Kind, numbers[i]), []ansi.Line{d.changed(texts[i], change.Kind)}
		if d.style.Whole {
			rest = ansi.Wrap(rest[0], max(d.style.columns()-lead.Columns(), minColumns))
		}
		for _, part := range rest {
			lines = append(lines, joined(append(lead, part...)))
			lead = ansi.Line{{Text: strings.Repeat(" ", lead.Columns())}}
		}
	}
	return lines
}

// texts returns the lines of a hunk, coloured or not, in which words that differ are bold and underlined. What precedes
// the hunk in the file is unknown, so that its language begins there.
func texts(h Hunk, colored bool) []ansi.Line {
	var before, after Lexer
	if colored {
		before = NewLexer(languageOf(h.Path))
		after = before
	}
	texts := make([]ansi.Line, len(h.Changes))
	for i, change := range h.Changes {
		text := ansi.ExpandTabs(change.Text)
		var code ansi.Line
		if change.Kind != Added {
			code = before.Line(text)
		}
		if change.Kind != Removed {
			code = after.Line(text)
		}
		from, to := 0, 0
		if other, ok := counterpart(h.Changes, i); ok {
			from, to = differing(text, ansi.ExpandTabs(other))
		}
		texts[i] = underlined(code, from, to)
	}
	return texts
}

// joined returns a line with the spans that follow each other in the same style as one.
func joined(line ansi.Line) (all ansi.Line) {
	for _, span := range line {
		if n := len(all); n > 0 && all[n-1].Style == span.Style {
			all[n-1].Text += span.Text
		} else {
			all = append(all, span)
		}
	}
	return all
}

func (d diff) colored() bool {
	return d.style.Profile != ansi.NoColor && d.style.Profile != ansi.Monochrome
}

// lead returns what precedes a line.
func (d diff) lead(kind ChangeKind, number int) ansi.Line {
	style := changeStyles[kind]
	if !d.colored() && kind != Kept {
		style = ansi.Style{Bold: true}
	}
	sign := string(kind) + " "
	if d.digits == 0 {
		return ansi.Line{{Text: resultMark + sign, Style: style}}
	}
	text := strings.Repeat(" ", d.indent())
	if number > 0 {
		text = fmt.Sprintf("%*d ", d.digits, number)
	}
	return ansi.Line{{Text: resultMark}, {Text: text, Style: ansi.Style{Dim: true}}, {Text: sign, Style: style}}
}

// changed returns a line of code as one that is added, removed or kept. Colours that say so replace those of tokens.
func (d diff) changed(code ansi.Line, kind ChangeKind) ansi.Line {
	of := changeStyles[kind]
	if !d.colored() {
		of.Color = ansi.Default
	}
	line := make(ansi.Line, len(code))
	for i, span := range code {
		switch span.Color {
		case ansi.Default, ansi.Green, ansi.Red:
			span.Color = of.Color
		}
		span.Dim = span.Dim || of.Dim
		line[i] = span
	}
	return line
}

// underlined returns a line whose bytes from a position to another are bold and underlined.
func underlined(line ansi.Line, from, to int) (marked ansi.Line) {
	if from == to {
		return line
	}
	at := 0
	for _, span := range line {
		text, begin := span.Text, at
		at += len(text)
		first, last := min(max(from-begin, 0), len(text)), min(max(to-begin, 0), len(text))
		for i, part := range []string{text[:first], text[first:last], text[last:]} {
			if part == "" {
				continue
			}
			span.Text = part
			marked = append(marked, span)
			if i == 1 {
				of := &marked[len(marked)-1]
				of.Bold, of.Underline, of.Dim = true, true, false
			}
		}
	}
	return marked
}

// languageOf returns the name of the language of a file, which its name ends with.
func languageOf(file string) string {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	if extension := path.Ext(base); extension != "" {
		return extension[1:]
	}
	return base
}
