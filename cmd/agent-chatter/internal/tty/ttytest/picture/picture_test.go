package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// captured is a screen as tmux captures it.
const captured = "\x1b[1m\x1b[36mAda\x1b[0m says \x1b[7m界\x1b[0m!   \n" +
	"\n" +
	"\x1b[2mdim & <small>\x1b[0m\x1b[39m  \n" +
	"\x1b[91m\x1b[44mbright\nstill\x1b[0m \x1b]8;;https://go.dev\x1b\\link\x1b]8;;\x1b\\\n\n"

func TestParse(t *testing.T) {
	want := "{bold cyan}Ada{} says {reversed}界{}!\n\n{dim}dim & <small>{}\n{bright red on blue}bright{}\n" +
		"{bright red on blue}still{} link\n"
	if got := Parse(captured).String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPicturesAreXML(t *testing.T) {
	s := Parse(captured)
	for name, svg := range map[string]string{
		"still":    Dark.Draw([]Screen{s, s}, []Size{{20, 5}, {40, 8}}),
		"animated": Dark.Animate([]Screen{s, s}, []float64{1, 2}, Size{20, 5}),
	} {
		t.Run(name, func(t *testing.T) {
			d := xml.NewDecoder(strings.NewReader(svg))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			for _, part := range []string{
				`<tspan x="12.0" fill="#56b6c2" font-weight="bold">Ada</tspan>`,
				`<tspan x="87.6" fill="#16181d">界</tspan>`, `<tspan x="104.4">!</tspan>`,
				"dim\u00a0&amp;\u00a0&lt;small&gt;",
			} {
				if strings.Count(svg, part) != 2 {
					t.Errorf("%s is not in each screen of\n%s", part, svg)
				}
			}
		})
	}
}

func TestTextAfterAWideCharacterIsInItsColumn(t *testing.T) {
	svg := Dark.Draw([]Screen{Parse("a世界  b🚀\n")}, []Size{{20, 5}})
	want := `<tspan x="12.0">a世</tspan><tspan x="37.2">界</tspan><tspan x="54.0">` + "\u00a0\u00a0" + `b🚀</tspan></text>`
	if !strings.Contains(svg, want) {
		t.Errorf("%s is not in\n%s", want, svg)
	}
}
