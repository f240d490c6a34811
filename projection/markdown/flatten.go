package markdown

import (
	"slices"
	"strings"
)

// A flattener turns nested blocks into pieces.
type flattener struct {
	stream *Stream
	source string
	at     int         // the end of the last piece
	in     []Container // that the next piece is in
	pieces []Piece
}

func (f *flattener) blocks(blocks []Block) {
	for _, b := range blocks {
		switch b.Kind {
		case Quote:
			f.container(b, Container{Kind: Quote, First: true})
		case List:
			for i, item := range b.Blocks {
				c := Container{Kind: ListItem, Ordered: b.Ordered, First: true}
				switch {
				case b.Ordered && len(f.in) == 0:
					c.Number = f.stream.itemNumber(b, i)
				case b.Ordered:
					c.Number = b.Number + i
				}
				f.container(item, c)
			}
		case CodeBlock:
			f.code(b)
		default:
			f.add(Piece{Block: b, final: !b.Open})
		}
	}
}

// container adds what is in a quote or an item, which may be empty.
func (f *flattener) container(b Block, c Container) {
	f.in = append(f.in, c)
	if len(b.Blocks) == 0 {
		f.add(Piece{Block: b, final: !b.Open})
	}
	f.blocks(b.Blocks)
	f.in = f.in[:len(f.in)-1]
}

// code adds the lines of a code block. A line is final at its line break.
func (f *flattener) code(b Block) {
	lines := strings.SplitAfter(b.Text, "\n")
	again := f.stream.opened && b.Start < f.stream.shown
	for i, r := range b.Lines {
		line := b
		line.Text, line.Range, line.Lines = lines[i], r, nil
		if i > 0 || again {
			line.Language = ""
		}
		complete := r.End > 0 && f.source[r.End-1] == '\n'
		f.add(Piece{Block: line, First: i == 0 && !again, final: complete || !b.Open})
	}
}

// add adds a piece unless it was returned before.
func (f *flattener) add(p Piece) {
	p.Containers = slices.Clone(f.in)
	for i := range f.in {
		f.in[i].First = false
	}
	if p.End <= f.at {
		return
	}
	gap := f.stream.gap
	if len(f.pieces) > 0 {
		gap = ""
	}
	if start := lineStart(f.source, p.Start); start > f.at {
		gap += f.source[f.at:start]
	}
	for line := range strings.Lines(gap) {
		p.Blank = p.Blank || strings.Trim(line, "> \t\r\n") == ""
	}
	f.at = p.End
	f.pieces = append(f.pieces, p)
}
