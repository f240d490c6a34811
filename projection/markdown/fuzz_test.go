package markdown_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// FuzzParse checks what holds for every text.
func FuzzParse(f *testing.F) {
	for _, source := range []string{
		"# a\n\nb `c` *d* [e](f) ![g](h) <https://i>\n\n- j\n  1. k\n\n> l\n\n```m\nn\n```\n\n    o\n\n---\n",
		"~~a *b~~ c* ~~[d~~](e) ~~`~~` ~~~~ ~f~",
		"a\n|b|c|\n|-|:-:|\n|d `\\|`|\n\n[e]\n\n[e]: /f\n",
		"*a**b**c*)**",           // closing delimiters that are left over
		"* a\n\t-",               // an underline after a tab
		"x\n|a|\n|-|\n---",       // an underline of a table
		"- a\n\n](b\n|-- ",       // a table that is not complete
		"`a\n> `\n``` `\n~~~\n`", // backticks of several blocks
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		d := markdown.Parse(source)
		checkBlocks(t, d.Blocks, source, markdown.Range{End: len(source)}, 0)
		at := 0
		for _, r := range d.Code {
			if r.Start < at || r.End <= r.Start || r.End > len(source) {
				t.Fatalf("%q: code at %v, after %d", source, r, at)
			}
			at = r.End
		}
		checkStream(t, source, d.Blocks)
	})
}

// checkBlocks checks that blocks are sorted, within their parent, and not nested too deeply.
func checkBlocks(t *testing.T, blocks []markdown.Block, source string, parent markdown.Range, depth int) {
	t.Helper()
	if depth > 2*32 { // a list and its item are two blocks
		t.Fatalf("%q: nested too deeply", source)
	}
	at := parent.Start
	for _, b := range blocks {
		if b.Start < at || b.End <= b.Start || b.End > parent.End {
			t.Fatalf("%q: %s at %v, after %d, in %v", source, b.Kind, b.Range, at, parent)
		}
		at = b.End
		checkBlocks(t, b.Blocks, source, b.Range, depth+1)
		checkInlines(t, b.Inlines, source, b.Range)
		row := b.Range
		for _, cells := range b.Rows {
			for _, cell := range cells {
				checkInlines(t, cell, source, row)
				if len(cell) > 0 {
					row.Start = cell[len(cell)-1].End
				}
			}
		}
	}
}

func checkInlines(t *testing.T, inlines []markdown.Inline, source string, parent markdown.Range) {
	t.Helper()
	at := parent.Start
	for _, i := range inlines {
		if i.Start < at || i.End < i.Start || i.End > parent.End {
			t.Fatalf("%q: %s at %v, after %d, in %v", source, i.Kind, i.Range, at, parent)
		}
		at = i.End
		checkInlines(t, i.Inlines, source, i.Range)
	}
}

// checkStream checks for each beginning of the text that its closed blocks are blocks of the text, and that
// the others are found without the text of the closed ones.
func checkStream(t *testing.T, source string, all []markdown.Block) {
	t.Helper()
	if strings.Contains(source, "]:") { // a link definition may turn text before it into a link
		return
	}
	for cut := range min(len(source), 200) {
		for i, b := range markdown.Parse(source[:cut]).Blocks {
			if b.Open {
				line := strings.LastIndexByte(source[:b.Start], '\n') + 1
				if got, want := outline(markdown.Parse(source[line:]).Blocks), outline(all[i:]); got != want {
					t.Fatalf("%q: from byte %d on it is %q, want %q", source, line, got, want)
				}
				break
			}
			if i >= len(all) || !reflect.DeepEqual(all[i], b) {
				t.Fatalf("%q: block %d of the first %d bytes is closed: %+v", source, i, cut, b)
			}
		}
	}
}
