package picture

import (
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// A Screen is what a terminal shows.
type Screen [][]run

// A run is text of a row in one style.
type run struct {
	style
	text   string
	column int // of its first cell
}

// A style is how text looks.
type style struct {
	color, back                                    int // from 1 on; 0 is the default
	bold, dim, italic, underline, reversed, strike bool
}

var sequences = regexp.MustCompile(`\x1b\[([0-9;]*)m|\x1b\]8;[^\x1b]*\x1b\\|[\x0e\x0f]`)

// Parse reads the output of "tmux capture-pane -e -p". Rows have no blanks at their ends.
func Parse(capture string) (s Screen) {
	var now style
	for line := range strings.Lines(capture) {
		var row []run
		column := 0
		add := func(text string) {
			if n := len(row); n > 0 && row[n-1].style == now {
				row[n-1].text += text
			} else if text != "" {
				row = append(row, run{now, text, column})
			}
			column += displaywidth.String(text)
		}
		line = strings.TrimSuffix(line, "\n")
		at := 0
		for _, m := range sequences.FindAllStringSubmatchIndex(line, -1) {
			add(line[at:m[0]])
			if m[2] >= 0 {
				now = now.after(line[m[2]:m[3]])
			}
			at = m[1]
		}
		add(line[at:])
		for n := len(row); n > 0 && !row[n-1].reversed && row[n-1].back == 0; n = len(row) {
			if row[n-1].text = strings.TrimRight(row[n-1].text, " "); row[n-1].text != "" {
				break
			}
			row = row[:n-1]
		}
		s = append(s, row)
	}
	return s
}

// after returns the style after the parameters of a control sequence.
func (s style) after(parameters string) style {
	for p := range strings.SplitSeq(parameters, ";") {
		switch n, _ := strconv.Atoi(p); {
		case n == 0:
			s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.dim = true
		case n == 3:
			s.italic = true
		case n == 4:
			s.underline = true
		case n == 7:
			s.reversed = true
		case n == 9:
			s.strike = true
		case n >= 30 && n <= 37:
			s.color = n - 29
		case n == 39:
			s.color = 0
		case n >= 40 && n <= 47:
			s.back = n - 39
		case n == 49:
			s.back = 0
		case n >= 90 && n <= 97:
			s.color = n - 81
		}
	}
	return s
}

// String returns the screen as text. A style precedes its text: {bold red}text{}.
func (s Screen) String() string {
	var b strings.Builder
	for _, row := range s {
		for _, r := range row {
			if r.style == (style{}) {
				b.WriteString(r.text)
			} else {
				fmt.Fprintf(&b, "{%s}%s{}", r.style, r.text)
			}
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

var colorNames = [...]string{
	"", "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white", "gray", "bright red", "bright green",
	"bright yellow", "bright blue", "bright magenta", "bright cyan", "bright white",
}

func (s style) String() string {
	var words []string
	for _, w := range []struct {
		is   bool
		word string
	}{
		{s.bold, "bold"}, {s.dim, "dim"}, {s.italic, "italic"}, {s.underline, "underline"},
		{s.reversed, "reversed"}, {s.strike, "strike"}, {s.color > 0, colorNames[s.color]},
		{s.back > 0, "on " + colorNames[s.back]},
	} {
		if w.is {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, " ")
}

// The measures of a cell, and the colours of the terminal.
const (
	cellWidth, cellHeight, margin = 8.4, 18, 12

	foreground, background = "#d8dee9", "#16181d"
)

var palette = [...]string{
	foreground, "#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9", "#7f8896",
	"#ff8b92", "#b5e090", "#ffd68a", "#8cc8ff", "#dfa1f0", "#7fd5e0", "#ffffff",
}

// A Size is columns and rows.
type Size struct{ Columns, Rows int }

// Draw returns an SVG of screens of terminals of these sizes, below each other.
func Draw(screens []Screen, sizes []Size) string {
	width, height := 0.0, 0.0
	var b strings.Builder
	for i, s := range screens {
		w, h := sizes[i].pixels()
		fmt.Fprintf(&b, "<svg y=\"%.0f\" width=\"%.0f\" height=\"%.0f\">\n%s</svg>\n", height, w, h, frame+s.draw())
		width, height = max(width, w), height+h+margin
	}
	return head(width, height-margin) + b.String() + "</svg>\n"
}

// Animate returns an SVG that shows screens of a terminal of one size in an endless loop, each so many seconds.
func Animate(screens []Screen, seconds []float64, size Size) string {
	total := 0.0
	for _, s := range seconds {
		total += s
	}
	var b strings.Builder
	b.WriteString(head(size.pixels()) + frame)
	from := 0.0
	for i, s := range screens {
		to, still := from+seconds[i]/total, "hidden"
		if i == len(screens)-1 {
			to, still = 1, "visible" // without animation
		}
		fmt.Fprintf(&b, `<g visibility="%s"><animate attributeName="visibility" calcMode="discrete" dur="%.1fs" `+
			`repeatCount="indefinite" values="hidden;visible;hidden" keyTimes="0;%.5f;%.5f"/>`+"\n%s</g>\n",
			still, total, from, to, s.draw())
		from = to
	}
	return b.String() + "</svg>\n"
}

func (s Size) pixels() (width, height float64) {
	return float64(s.Columns)*cellWidth + 2*margin, float64(s.Rows)*cellHeight + 2*margin
}

func head(width, height float64) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" `+
		`font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14" fill="%s">`+"\n",
		width, height, foreground)
}

const frame = `<rect width="100%" height="100%" rx="8" fill="` + background + `"/>` + "\n"

// draw returns the elements of the screen.
func (s Screen) draw() string {
	var b strings.Builder
	for i, row := range s {
		if len(row) == 0 {
			continue
		}
		y := float64(margin + i*cellHeight)
		for _, r := range row {
			if r.reversed || r.back > 0 {
				_, back := r.colors()
				fmt.Fprintf(&b, `<rect x="%.1f" y="%.0f" width="%.1f" height="%d" fill="%s"/>`, r.x(), y,
					float64(displaywidth.String(r.text))*cellWidth, cellHeight, back)
			}
		}
		fmt.Fprintf(&b, `<text y="%.0f">`, y+14)
		for _, r := range row {
			for _, part := range r.parts() {
				if text := strings.TrimRight(part.text, " "); text != "" {
					fmt.Fprintf(&b, `<tspan x="%.1f"%s>%s</tspan>`, part.x(), part.attributes(), escape(text))
				}
			}
		}
		b.WriteString("</text>\n")
	}
	return b.String()
}

// parts divides a run after each wide character, which is not twice as wide as the others in all fonts.
func (r run) parts() (parts []run) {
	part := run{r.style, "", r.column}
	graphemes := displaywidth.StringGraphemes(r.text)
	for graphemes.Next() {
		part.text += graphemes.Value()
		if graphemes.Width() > 1 {
			parts = append(parts, part)
			part = run{r.style, "", part.column + displaywidth.String(part.text)}
		}
	}
	return append(parts, part)
}

// escape keeps blanks, which SVG would join.
func escape(text string) string { return strings.ReplaceAll(html.EscapeString(text), " ", "\u00a0") }

func (r run) x() float64 { return margin + float64(r.column)*cellWidth }

// colors returns the colours of the text and of its cells.
func (s style) colors() (text, back string) {
	text, back = palette[s.color], background
	if s.back > 0 {
		back = palette[s.back]
	}
	if s.reversed {
		return back, text
	}
	return text, back
}

func (s style) attributes() string {
	text, _ := s.colors()
	var all string
	for _, a := range []struct {
		is        bool
		attribute string
	}{
		{text != foreground, `fill="` + text + `"`}, {s.bold, `font-weight="bold"`}, {s.dim, `fill-opacity="0.6"`},
		{s.italic, `font-style="italic"`}, {s.underline, `text-decoration="underline"`},
		{s.strike, `text-decoration="line-through"`},
	} {
		if a.is {
			all += " " + a.attribute
		}
	}
	return all
}
