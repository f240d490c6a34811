package markdown_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"pgregory.net/rapid"
)

// sources are messages with all kinds of pieces.
var sources = []string{
	"", "a", "a\n\nb\n", "# a\nb\n===\n\n---\n",
	"```go\nx\n\ny\n```\nafter\n", "~~~\n```\n~~~", "    x\n\n      y\n\nz",
	"- a\n- b\n\n  c\n  - d\n    ```sh\n    e\n    ```\n* f\n",
	"1. a\n1. b\n1. c\n   1. d\n   2. e\n\n9) f\n", "1. a\n2.5 b\n-\n  c\n- \n",
	"> a\n> > b\n> - c\n>   d\n\n> ```\n> e\n> ```\n", "a\n|b|c|\n|-|:-|\n|d|e|\n\nf",
	"a *b\nc* d\n\\\n`e\n`f`",
	"- a\n\n\n\n- b\n- c\n\n      code\n", "\n\n  a\n\n\n\nb  \nc\\\nd\n",
	"- ```\n  x\n", "```x\n", "* * *\n- - -\n- - a\n",
}

func streamed(t *rapid.T, source string) []markdown.Piece {
	var s markdown.Stream
	var pieces []markdown.Piece
	for rest := source; rest != ""; {
		n := rapid.IntRange(1, min(len(rest), 9)).Draw(t, "n")
		pieces = append(pieces, s.Write(rest[:n])...)
		rest = rest[n:]
	}
	return append(pieces, s.Close()...)
}

func whole(source string) []markdown.Piece {
	var s markdown.Stream
	return append(s.Write(source), s.Close()...)
}

func checkSplits(t *rapid.T, source string) {
	got, want := streamed(t, source), whole(source)
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got) || i >= len(want):
			t.Fatalf("%q: %d pieces, want %d", source, len(got), len(want))
		case !equal(got[i], want[i]):
			t.Fatalf("%q: piece %d is\n%+v, want\n%+v", source, i, got[i], want[i])
		}
	}
	sources := ""
	for _, p := range want {
		sources += p.Source
	}
	if sources != source {
		t.Fatalf("the sources are %q, want %q", sources, source)
	}
}

// equal compares pieces without their positions.
func equal(a, b markdown.Piece) bool {
	return outline([]markdown.Block{a.Block}) == outline([]markdown.Block{b.Block}) &&
		slices.Equal(a.Containers, b.Containers) && a.Source == b.Source && a.Blank == b.Blank && a.First == b.First
}

func TestPiecesDoNotDependOnTheSplit(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(sources), 1, 3).Draw(t, "parts")
		checkSplits(t, strings.Join(parts, rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(t, "between")))
	})
}

func TestPiecesOfAnyTextDoNotDependOnTheSplit(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{
			"a", " ", "\n", "\n\n", "- ", "1. ", "> ", "```", "~~~", "    ", "# ", "|", "|-|", "*", "~~", "`", "---", "=", "  ", "\t", "b",
		}), 1, 30).Draw(t, "words")
		checkSplits(t, strings.Join(words, ""))
	})
}

func TestDefinitionsAreKnownAfterThem(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		checkSplits(t, "[a]: /b\n\n- [a]\n\n[a]: /c\n\n[a] d\n")
	})
	var s markdown.Stream
	pieces := append(s.Write("[a]\n\n"), s.Write("[a]: /b\n\n[a]")...)
	pieces = append(pieces, s.Close()...)
	if got := pieces[0].Inlines[0].Kind + pieces[1].Inlines[0].Kind; got != markdown.Text+markdown.Link {
		t.Errorf("before and after the definition there is %s", got)
	}
}

func TestItemsKeepTheirNumbers(t *testing.T) {
	var s markdown.Stream
	var numbers []int
	for _, line := range []string{"3. a\n", "3. b\n", "3. c\n\n", "   3. d\n", "3. e\n"} {
		for _, p := range s.Write(line) {
			numbers = append(numbers, p.Containers[len(p.Containers)-1].Number)
		}
	}
	for _, p := range s.Close() {
		numbers = append(numbers, p.Containers[len(p.Containers)-1].Number)
	}
	if want := []int{3, 4, 5, 3, 6}; !slices.Equal(numbers, want) {
		t.Errorf("the items are %d, want %d", numbers, want)
	}
}

func TestCutParagraphStaysInItsContainers(t *testing.T) {
	var s markdown.Stream
	s.Write("> - a b")
	cut := s.Cut(len("> - a "))
	rest := append(s.Write("c\n"), s.Close()...)
	if len(cut) != 1 || len(rest) != 1 || len(rest[0].Containers) != 2 || rest[0].Containers[1].First {
		t.Fatalf("%+v, then %+v", cut, rest)
	}
	if got := cut[0].Source + rest[0].Source; got != "> - a bc\n" {
		t.Errorf("the sources are %q", got)
	}
}

// Each of these is longer than a stream keeps.
func TestLongTextIsDivided(t *testing.T) {
	sizetest.SkipUnlessFull(t, "takes seconds")
	const size = 100 << 10
	for name, text := range hostile(size) {
		t.Run(name, func(t *testing.T) {
			var s markdown.Stream
			n := 0
			for rest := text; rest != ""; {
				chunk := rest[:min(len(rest), 10<<10)]
				rest = rest[len(chunk):]
				for _, p := range s.Write(chunk) {
					n += len(p.Source)
				}
				if pending, _ := s.Pending(); len(pending) > 64<<10 {
					t.Fatalf("it keeps %d bytes", len(pending))
				}
			}
			for _, p := range s.Close() {
				n += len(p.Source)
			}
			if n != len(text) {
				t.Errorf("the pieces have %d of %d bytes", n, len(text))
			}
		})
	}
}
