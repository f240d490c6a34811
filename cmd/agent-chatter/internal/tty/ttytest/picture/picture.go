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
)

// A Palette is the colours of a terminal: of its background, of text without a colour, and the 16 colours.
type Palette struct {
	background string
	text       [17]string
}

// Dark and Light are the palettes of a terminal with a dark and with a light background.
var (
	Dark = Palette{"#16181d", [...]string{
		"#d8dee9", "#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9", "#7f8896",
		"#ff8b92", "#b5e090", "#ffd68a", "#8cc8ff", "#dfa1f0", "#7fd5e0", "#ffffff",
	}}
	Light = Palette{"#fbfbfa", [...]string{
		"#2e3440", "#2e3440", "#c0392b", "#3c7d2f", "#a06a00", "#2361b5", "#8b3fb0", "#0f7585", "#d8dee9", "#7b8290",
		"#e4604f", "#69a85b", "#d9a62e", "#5b93dd", "#b878d6", "#4ba9b8", "#ffffff",
	}}
)

// A Size is columns and rows.
type Size struct{ Columns, Rows int }

// Draw returns an SVG of screens of terminals of these sizes, below each other.
func (p *Palette) Draw(screens []Screen, sizes []Size) string {
	width, height := 0.0, 0.0
	var b strings.Builder
	for i, s := range screens {
		w, h := sizes[i].pixels()
		drawn := p.frame() + p.draw(s)
		fmt.Fprintf(&b, "<svg y=\"%.0f\" width=\"%.0f\" height=\"%.0f\">\n%s</svg>\n", height, w, h, drawn)
		width, height = max(width, w), height+h+margin
	}
	return p.head(width, height-margin) + b.String() + "</svg>\n"
}

// Animate returns an SVG that shows screens of a terminal of one size in an endless loop, each so many seconds.
func (p *Palette) Animate(screens []Screen, seconds []float64, size Size) string {
	total := 0.0
	for _, s := range seconds {
		total += s
	}
	var b strings.Builder
	b.WriteString(p.head(size.pixels()) + p.frame())
	from := 0.0
	for i, s := range screens {
		to, still := from+seconds[i]/total, "hidden"
		if i == len(screens)-1 {
			to, still = 1, "visible" // without animation
		}
		fmt.Fprintf(&b, `<g visibility="%s"><animate attributeName="visibility" calcMode="discrete" dur="%.1fs" `+
			`repeatCount="indefinite" values="hidden;visible;hidden" keyTimes="0;%.5f;%.5f"/>`+"\n%s</g>\n",
			still, total, from, to, p.draw(s))
		from = to
	}
	return b.String() + "</svg>\n"
}

func (s Size) pixels() (width, height float64) {
	return float64(s.Columns)*cellWidth + 2*margin, float64(s.Rows)*cellHeight + 2*margin
}

func (p *Palette) head(width, height float64) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" `+
		`font-family="ui-monospace,Menlo,Consolas,monospace" font-size="14" fill="%s">`+"\n",
		width, height, p.text[0])
}

func (p *Palette) frame() string {
	return `<rect width="100%" height="100%" rx="8" fill="` + p.background + `"/>` + "\n"
}

// draw returns the elements of a screen.
func (p *Palette) draw(s Screen) string {
	var b strings.Builder
	for i, row := range s {
		if len(row) == 0 {
			continue
		}
		y := float64(margin + i*cellHeight)
		for _, r := range row {
			if r.reversed || r.back > 0 {
				_, back := p.colors(r.style)
				fmt.Fprintf(&b, `<rect x="%.1f" y="%.0f" width="%.1f" height="%d" fill="%s"/>`, r.x(), y,
					float64(displaywidth.String(r.text))*cellWidth, cellHeight, back)
			}
		}
		fmt.Fprintf(&b, `<text y="%.0f">`, y+14)
		for _, r := range row {
			for _, part := range r.parts() {
				if text := strings.TrimRight(part.text, " "); text != "" {
					fmt.Fprintf(&b, `<tspan x="%.1f"%s>%s</tspan>`, part.x(), p.attributes(part.style), escape(text))
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
func (p *Palette) colors(s style) (text, back string) {
	text, back = p.text[s.color], p.background
	if s.back > 0 {
		back = p.text[s.back]
	}
	if s.reversed {
		return back, text
	}
	return text, back
}

func (p *Palette) attributes(s style) string {
	text, _ := p.colors(s)
	var all string
	for _, a := range []struct {
		is        bool
		attribute string
	}{
		{text != p.text[0], `fill="` + text + `"`}, {s.bold, `font-weight="bold"`}, {s.dim, `fill-opacity="0.6"`},
		{s.italic, `font-style="italic"`}, {s.underline, `text-decoration="underline"`},
		{s.strike, `text-decoration="line-through"`},
	} {
		if a.is {
			all += " " + a.attribute
		}
	}
	return all
}
