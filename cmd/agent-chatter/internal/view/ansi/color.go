package ansi

import (
	"strconv"
	"strings"
)

// A Color is one of the 16 colours of a terminal. The zero value is its default colour.
type Color uint8

// The colours.
const (
	Default Color = iota
	Black
	Red
	Green
	Yellow
	Blue
	Magenta
	Cyan
	White
	BrightBlack
	BrightRed
	BrightGreen
	BrightYellow
	BrightBlue
	BrightMagenta
	BrightCyan
	brightWhite
)

// colorNames are the names of the colours from Black on.
var colorNames = [...]string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

// usualRGB is how terminals usually show the colours from Black on.
var usualRGB = [...]uint32{
	0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
	0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
}

// ParseColor returns the colour with a name such as "red", "brightRed" or "red-bright", or the one next to #rrggbb;
// Default if it is neither.
func ParseColor(name string) Color {
	name = strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	if hex, ok := strings.CutPrefix(name, "#"); ok {
		if len(hex) == 3 {
			hex = hex[:1] + hex[:1] + hex[1:2] + hex[1:2] + hex[2:] + hex[2:]
		}
		rgb, err := strconv.ParseUint(hex, 16, 32)
		if err != nil || len(hex) != 6 {
			return Default
		}
		return nearest(uint32(rgb))
	}
	if name == "gray" || name == "grey" {
		return BrightBlack
	}
	base := strings.Replace(name, "bright", "", 1)
	for i, known := range colorNames {
		switch {
		case name == known:
			return Black + Color(i)
		case base == known:
			return BrightBlack + Color(i)
		}
	}
	return Default
}

func nearest(rgb uint32) Color {
	best, least := Default, 1<<30
	for i, known := range usualRGB {
		distance := 0
		for shift := 0; shift < 24; shift += 8 {
			d := int(rgb>>shift&0xff) - int(known>>shift&0xff)
			distance += d * d
		}
		if distance < least {
			best, least = Black+Color(i), distance
		}
	}
	return best
}
