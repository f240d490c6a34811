package serve

import (
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
