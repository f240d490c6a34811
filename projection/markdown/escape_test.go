package markdown

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"pgregory.net/rapid"
)

// characters are those that have a meaning in Markdown, and some that have none.
var characters = rapid.StringOf(rapid.SampledFrom([]rune("\\`*_{}[]<>()#+-=!|&~:.1a \n\t\r\u00a0é壶\u0000\u200b/@;\"'")))

func inOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// flat returns the text of inlines that must have no markup.
func flat(t *rapid.T, source string, inlines []Inline) string {
	var b strings.Builder
	for _, i := range inlines {
		if i.Kind != Text {
			t.Fatalf("%q has %+v", source, i)
		}
		b.WriteString(i.Text)
	}
	return b.String()
}

func TestEscapedTextIsShownAsItIs(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		text := inOneLine(strings.ReplaceAll(characters.Draw(t, "text"), "\x00", "")) + "x"
		for _, around := range [][2]string{{"", ""}, {"> ", ""}, {"**", "**"}} {
			source := around[0] + Escape(text) + around[1] + "\n\nnext"
			blocks := Parse(source).Blocks
			if len(blocks) != 2 || flat(t, source, blocks[1].Inlines) != "next" {
				t.Fatalf("%q becomes %+v", source, blocks)
			}
			first := blocks[0]
			if first.Kind == Quote && len(first.Blocks) == 1 {
				first = first.Blocks[0]
			}
			inlines := first.Inlines
			if around[1] != "" && len(inlines) == 1 && inlines[0].Kind == Strong {
				inlines = inlines[0].Inlines
			}
			if got := flat(t, source, inlines); first.Kind != Paragraph || got != text {
				t.Fatalf("%q is shown as %q, a %s", source, got, first.Kind)
			}
		}
	})
}

func TestCodeIsShownAsItIs(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		text := strings.NewReplacer("\r", "", "\x00", "").Replace(characters.Draw(t, "text"))
		blocks := Parse(AsCodeBlock("go", text) + "next").Blocks
		if len(blocks) != 2 || blocks[0].Language != "go" || strings.TrimSuffix(blocks[0].Text, "\n") != strings.TrimSuffix(text, "\n") {
			t.Fatalf("%q becomes %+v", text, blocks)
		}
		span := AsCodeSpan(text)
		if inOneLine(text) == "" {
			if span != "" {
				t.Fatalf("the span of %q is %q", text, span)
			}
			return
		}
		inlines := Parse("a " + span).Blocks[0].Inlines
		if len(inlines) != 2 || inlines[1].Kind != CodeSpan || inlines[1].Text != inOneLine(text) {
			t.Fatalf("%q becomes %+v", span, inlines)
		}
	})
}

func TestOpenFence(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"text":                     "",
		"```go\nx":                 "```",
		"a\n\n~~~~\nx\n~~~\n":      "~~~~",
		"```\nx\n```":              "",
		"```\nx\n```\nafter":       "",
		"- a\n  ```\n  x":          "",
		"> ```\n> x":               "",
		"    ```\n    x":           "",
		"text ``` and more":        "",
		"  ```\n  x":               "```",
		"```\nx\n```\n\n```\ny":    "```",
		"```\nx\n```\n\n````\n```": "````",
	} {
		got := OpenFence(text)
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if next := Parse(text + "\n" + got + "\n\nnext").Blocks; next[len(next)-1].Kind != Paragraph {
			t.Errorf("%q: a text after it is %+v", text, next)
		}
	}
}
