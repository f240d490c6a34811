package page

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

var lightDark = regexp.MustCompile(`(?:\.(fg\d+) \{ )?--([a-z]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)`)

// stylesheetColors returns the colours of the style sheet, each in the light and in the dark scheme.
func stylesheetColors(t *testing.T) map[string][2]uint64 {
	t.Helper()
	colors := map[string][2]uint64{}
	for _, match := range lightDark.FindAllStringSubmatch(Style, -1) {
		name := match[1]
		if name == "" {
			name = match[2]
		}
		light, err := strconv.ParseUint(match[3], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		dark, err := strconv.ParseUint(match[4], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		colors[name] = [2]uint64{light, dark}
	}
	return colors
}

// contrast returns the contrast of two colours as the Web Content Accessibility Guidelines define it.
func contrast(a, b uint64) float64 {
	bright, dark := luminance(a), luminance(b)
	if bright < dark {
		bright, dark = dark, bright
	}
	return (bright + 0.05) / (dark + 0.05)
}

func luminance(color uint64) (sum float64) {
	for i, weight := range []float64{0.0722, 0.7152, 0.2126} {
		c := float64(color>>(8*i)&0xff) / 255
		if c <= 0.03928 {
			sum += weight * c / 12.92
			continue
		}
		sum += weight * math.Pow((c+0.055)/1.055, 2.4)
	}
	return sum
}
