package serve

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// margin is the light edge around a code, in modules, by which it is found.
const margin = 2

// How a row of a code is drawn.
const (
	darkOnLight = "\x1b[38;5;16;48;5;231m" // whatever the colours of the terminal are
	plainColour = "\x1b[0m"
)

// drawCode returns a QR code of a text in half blocks, two rows of modules on a line. Without colour, a block stands
// for a light module, which is right where text is light; on a light background, it is a dark one. "": the text is too
// long.
func drawCode(text string, colour, lightBackground bool) string {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for y := -margin; y < code.Size+margin; y += 2 {
		if colour {
			b.WriteString(darkOnLight)
		}
		for x := -margin; x < code.Size+margin; x++ {
			upper, lower := code.Black(x, y), code.Black(x, y+1)
			if !colour && !lightBackground {
				upper, lower = !upper, !lower
			}
			b.WriteString(block(upper, lower))
		}
		if colour {
			b.WriteString(plainColour)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// block returns the character with these halves filled.
func block(upper, lower bool) string {
	switch {
	case upper && lower:
		return "█"
	case upper:
		return "▀"
	case lower:
		return "▄"
	}
	return " "
}

// quiet is the light edge around a code on a page, in modules. On a terminal, lines are dear.
const quiet = 4

// svgCode returns a QR code of a text as a picture in SVG, dark on light whatever the colours of the page are. "": the
// text is too long.
func svgCode(text string) string {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return ""
	}
	var b strings.Builder
	size := code.Size + 2*quiet
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges" `+
		`role="img" aria-label="QR code of the address"><rect width="%d" height="%d" fill="#fff"/>`+
		`<path fill="#000" d="`, size, size, size, size)
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.String()
}
