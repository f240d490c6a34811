package figures

import (
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
	"testing"
)

// plot is a chart of curves with logarithmic axes.
type plot struct {
	title, x, y string
	curves      []curve
}

type curve struct {
	name   string
	points []point
}

type point struct{ x, y float64 }

const (
	plotWidth, plotHeight               = 744, 420
	plotLeft, plotRight                 = 80, 48
	plotTop, plotBottom                 = 56, 64
	plotGround, plotLines, plotTextFill = "#16181d", "#3b4252", "#d8dee9" // readable on light and dark pages
)

var plotColours = []string{"#a3be8c", "#ebcb8b", "#88c0d0"}

// scale is the range of an axis, as exponents of ten.
type scale struct{ from, to float64 }

func (p plot) scales() (x, y scale) {
	x, y = scale{math.Inf(1), math.Inf(-1)}, scale{math.Inf(1), math.Inf(-1)}
	for _, c := range p.curves {
		for _, at := range c.points {
			x, y = x.with(at.x), y.with(at.y)
		}
	}
	return x, y
}

// with extends the scale to the decades around a value.
func (s scale) with(value float64) scale {
	exponent := math.Log10(value)
	return scale{min(s.from, math.Floor(exponent)), max(s.to, math.Ceil(exponent))}
}

// at is the position of a value on the axis, from 0 to 1.
func (s scale) at(value float64) float64 { return (math.Log10(value) - s.from) / (s.to - s.from) }

func (p plot) svg() string {
	x, y := p.scales()
	place := func(at point) (float64, float64) {
		return plotLeft + x.at(at.x)*(plotWidth-plotLeft-plotRight),
			plotHeight - plotBottom - y.at(at.y)*(plotHeight-plotTop-plotBottom)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d"`, plotWidth, plotHeight)
	fmt.Fprintf(&b, ` font-family="ui-sans-serif,system-ui,sans-serif" font-size="13" fill="%s">`+"\n", plotTextFill)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", plotGround)
	fmt.Fprintf(&b, `<text x="%d" y="30" font-size="16">%s</text>`+"\n", plotLeft, html.EscapeString(p.title))
	for e := x.from; e <= x.to; e++ {
		left, bottom := place(point{math.Pow(10, e), math.Pow(10, y.from)})
		plotLine(&b, left, plotTop, left, bottom)
		plotLabel(&b, left, bottom+20, "middle", decade(e))
	}
	for e := y.from; e <= y.to; e++ {
		left, height := place(point{math.Pow(10, x.from), math.Pow(10, e)})
		plotLine(&b, left, height, plotWidth-plotRight, height)
		plotLabel(&b, left-8, height+4, "end", decade(e))
	}
	plotLabel(&b, (plotLeft+plotWidth-plotRight)/2, plotHeight-18, "middle", p.x)
	fmt.Fprintf(&b, `<text transform="translate(22 %d) rotate(-90)" text-anchor="middle">%s</text>`+"\n",
		(plotTop+plotHeight-plotBottom)/2, html.EscapeString(p.y))
	for i, c := range p.curves {
		c.draw(&b, plotColours[i%len(plotColours)], place)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// draw draws a curve with its name above its last point.
func (c curve) draw(b *strings.Builder, colour string, place func(point) (x, y float64)) {
	fmt.Fprintf(b, `<g fill="%s" stroke="none">`, colour)
	fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="2.5" points="`, colour)
	var dots strings.Builder
	var x, y float64
	for _, at := range c.points {
		x, y = place(at)
		fmt.Fprintf(b, "%.1f,%.1f ", x, y)
		fmt.Fprintf(&dots, `<circle cx="%.1f" cy="%.1f" r="4"><title>%.0f: %.1f</title></circle>`, x, y, at.x, at.y)
	}
	fmt.Fprintf(b, `"/>%s`, &dots)
	plotLabel(b, x-4, y-14, "end", c.name)
	b.WriteString("</g>\n")
}

func plotLine(b *strings.Builder, x1, y1, x2, y2 float64) {
	fmt.Fprintf(b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, plotLines)
}

func plotLabel(b *strings.Builder, x, y float64, anchor, text string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(text))
}

// decade is a power of ten in digits, with commas at the thousands.
func decade(exponent float64) string {
	digits := fmt.Sprintf("%.0f", math.Pow(10, exponent))
	if exponent < 0 {
		return fmt.Sprintf("%g", math.Pow(10, exponent))
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

func TestPlotScalesValues(t *testing.T) {
	p := plot{title: "a <b>", x: "x", y: "y", curves: []curve{
		{"low & flat", []point{{100, 10}, {1_000_000, 10}}},
		{"steep", []point{{100, 1}, {10_000, 1000}}},
	}}
	svg := p.svg()
	for lines := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := lines.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		`points="80.0,256.0 696.0,256.0 "`, // a third of the height
		`points="80.0,356.0 388.0,56.0 "`,  // from the bottom to the top, in half the width
		">1,000,000<", ">low &amp; flat<", ">a &lt;b&gt;<",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s is missing in\n%s", want, svg)
		}
	}
}
