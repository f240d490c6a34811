package ansi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// A Style is how text looks. The zero value is the terminal's default.
type Style struct {
	Color                                Color
	Bold, Dim, Italic, Underline, Strike bool
	Reverse                              bool // the colours of the text and of its background are swapped
}

// A Span is text in one style.
type Span struct {
	Text string
	Style
	Link string // the address that the text leads to, which Encode checks; "" is none
}

// A Line is what one row of a terminal shows.
type Line []Span

// A Profile says which control sequences a terminal takes.
type Profile int

// The profiles.
const (
	NoColor      Profile = iota // none
	Color16                     // the 16 colours of the terminal, as they look on a dark background
	Light                       // those that can be read on a light background
	HighContrast                // nothing is dim or grey, and colours are bold
	Monochrome                  // bold, dim, underlined and reversed text, without colours
)

// Themed returns a style as the profile shows it.
func (p Profile) Themed(s Style) Style {
	switch p {
	case NoColor:
		return Style{}
	case Light:
		s.Color = onLight(s.Color)
	case HighContrast:
		s.Dim = false
		switch s.Color {
		case BrightBlack:
			s.Color = Default
		case Default:
		default:
			s.Bold = true
		}
	case Monochrome:
		s.Bold = s.Bold || s.Color == Red || s.Color == Yellow
		s.Underline = s.Underline || s.Color == Green
		s.Color = Default
	}
	return s
}

// onLight returns a colour that can be read on a light background: the bright ones, yellow and white cannot.
func onLight(c Color) Color {
	switch {
	case c == Yellow, c == BrightYellow:
		return Magenta
	case c == White, c == brightWhite:
		return Default
	case c > BrightBlack:
		return c - BrightBlack + Black
	}
	return c
}

// Style returns a text in a style, and after it the default style; the text is safe for a terminal already.
func (p Profile) Style(s Style, text string) string {
	codes := p.Themed(s).codes()
	if codes == "" || text == "" {
		return text
	}
	return "\x1b[" + codes + "m" + text + "\x1b[m"
}

// Encode returns a line as a terminal takes it, without the blanks at its end. Every line begins and ends in the
// default style.
func (p Profile) Encode(line Line) string {
	var b strings.Builder
	line = line.trimmed()
	for i, span := range line {
		text := tty.SafeLine(span.Text)
		if p == NoColor {
			b.WriteString(text)
			continue
		}
		link := SafeLink(span.Link)
		if link != "" && (i == 0 || line[i-1].Link != span.Link) {
			b.WriteString("\x1b]8;;" + link + "\x1b\\")
		}
		b.WriteString(p.Style(span.Style, text))
		if link != "" && (i == len(line)-1 || line[i+1].Link != span.Link) {
			b.WriteString("\x1b]8;;\x1b\\")
		}
	}
	return b.String()
}

// trimmed returns a line without the blanks at its end.
func (l Line) trimmed() Line {
	for n := len(l); n > 0; n-- {
		if text := strings.TrimRight(l[n-1].Text, " "); text != "" {
			trimmed := slices.Clone(l[:n])
			trimmed[n-1].Text = text
			return trimmed
		}
	}
	return nil
}

// codes returns the parameters of the sequence that selects a style.
func (s Style) codes() string {
	var codes []string
	for _, of := range []struct {
		on   bool
		code string
	}{{s.Bold, "1"}, {s.Dim, "2"}, {s.Italic, "3"}, {s.Underline, "4"}, {s.Reverse, "7"}, {s.Strike, "9"}} {
		if of.on {
			codes = append(codes, of.code)
		}
	}
	switch {
	case s.Color >= BrightBlack:
		codes = append(codes, fmt.Sprint(90+int(s.Color-BrightBlack)))
	case s.Color > Default:
		codes = append(codes, fmt.Sprint(30+int(s.Color-Black)))
	}
	return strings.Join(codes, ";")
}

// maxLink is the length of the longest address that is a link, in bytes.
const maxLink = 2000

// SafeLink returns the address of a link that a terminal may open; "" if it is of another scheme than http, https
// and mailto, or has characters that an address has only in an escaped form.
func SafeLink(address string) string {
	lower := strings.ToLower(address[:min(len(address), len("https://"))])
	known := slices.ContainsFunc([]string{"http://", "https://", "mailto:"}, func(scheme string) bool {
		return strings.HasPrefix(lower, scheme)
	})
	if !known || len(address) > maxLink ||
		strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return address
}
