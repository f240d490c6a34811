package markdown

import (
	"bytes"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection/runecut"
	"github.com/yuin/goldmark/parser"
)

// A Piece is the smallest part of a message that becomes final by itself: a paragraph, a heading, a table, a
// thematic break, an empty list item, or one line of a code block, which its Text then is. A Piece without a Kind
// is source that shows nothing, such as a closing fence at the end.
type Piece struct {
	Block
	Containers []Container // that it is in, outermost first
	Source     string      // the text after the piece before it, up to its own end
	Blank      bool        // a blank line separates it from the piece before it
	First      bool        // of a line of code: it is the first of its block, and has its Language
	Joined     bool        // it is the rest of the paragraph before it, which was divided

	final bool
}

// A Container is a quote, or an item of a list, that a Piece is in.
type Container struct {
	Kind    BlockKind // Quote or ListItem
	Ordered bool
	Number  int  // of an item of an ordered list
	First   bool // the piece is the first in it
}

// A Stream divides a message into pieces while it arrives. Each piece is returned once, as soon as more text
// cannot change it. The pieces do not depend on how the text is divided between calls, except that a link
// definition has an effect on pieces after it only. The zero value is ready to use.
type Stream struct {
	pending string // from the line on which the first block starts that is not final
	shown   int    // how much of pending earlier pieces cover
	gap     string // source before pending that no piece has covered

	opened bool        // pending starts with a repeated fence or head of a table, which earlier pieces cover
	number int         // of the list item at the start of pending, plus 1; 0: as its source says
	joined bool        // pending starts with the rest of a paragraph that Cut has divided
	carry  []Container // that the rest is in

	fenced bool               // the text ends in a fenced code block that is in no container
	known  []parser.Reference // link definitions before pending
	held   []Piece
}

// The bounds of a Stream. What is longer than maxPending without a final piece is divided.
const (
	maxPending = 32 << 10
	maxKnown   = 256
	maxFence   = 64      // bytes of a fence that is repeated
	maxHead    = 4 << 10 // bytes of the first two lines of a table that are repeated
)

// Write adds text to the message and returns the pieces that have become final.
func (s *Stream) Write(text string) []Piece {
	var final []Piece
	for len(text) > 0 {
		n := min(len(text), maxPending-len(s.pending))
		s.pending += text[:n]
		text = text[n:]
		final = append(final, s.advance()...)
		if len(s.pending) >= maxPending {
			final = append(final, s.divide(maxPending)...)
		}
	}
	return final
}

// Held returns the pieces of the text that are not final, as they are if no more text comes.
func (s *Stream) Held() []Piece { return s.held }

// Fenced reports whether what follows is code, unless it ends the line with a closing fence: the text ends in a
// fenced code block that is in no container.
func (s *Stream) Fenced() bool { return s.fenced }

// Pending returns the source of Held. The first shown bytes of it belong to pieces that were returned, such as the
// opening fence of a code block.
func (s *Stream) Pending() (source string, shown int) { return s.pending, s.shown }

// Close ends the message and returns its last pieces. The stream is then ready for another message that knows the
// same link definitions.
func (s *Stream) Close() []Piece {
	pieces := s.flatten(s.pending)
	s.take(pieces)
	if s.gap += s.pending[s.shown:]; s.gap != "" {
		pieces = append(pieces, Piece{Source: s.gap})
	}
	s.rebase(len(s.pending), "")
	s.gap, s.held, s.fenced = "", nil, false
	return pieces
}

// Peek returns the pieces that Cut would return.
func (s *Stream) Peek(n int) []Piece { return s.flatten(s.pending[:n]) }

// Cut makes the first n bytes of Pending final, whatever follows, and returns their pieces. The rest of a
// paragraph stays in its containers, the rest of a code block stays code, and the rest of a table has its header again.
func (s *Stream) Cut(n int) []Piece {
	before := s.pending[:n]
	pieces := s.flatten(before)
	s.take(pieces)
	fence, joined, carry := "", false, []Container(nil)
	if blocks := s.parse(before).Blocks; len(blocks) > 0 {
		last := blocks[len(blocks)-1]
		if fence = openFence(before, last); last.Kind == Table {
			fence = tableHead(before, last)
		}
	}
	if len(pieces) > 0 {
		if last := pieces[len(pieces)-1]; last.Kind == Paragraph && last.Open {
			joined, carry = true, slices.Clone(last.Containers)
			for i := range carry {
				carry[i].First = false
			}
		}
	}
	s.rebase(n, fence)
	s.joined, s.carry = joined, carry
	return append(pieces, s.advance()...)
}

// divide is Cut at the last blank in the first n bytes, or between two characters.
func (s *Stream) divide(n int) []Piece {
	if i := strings.LastIndexAny(s.pending[:n], " \n"); i >= max(s.shown, n/2) {
		return s.Cut(i + 1)
	}
	return s.Cut(len(runecut.Prefix(s.pending, n)))
}

func (s *Stream) parse(source string) Document {
	d, _ := parse(source, s.known)
	return d
}

// advance parses pending, and returns and forgets the pieces that are final.
func (s *Stream) advance() []Piece {
	d := s.parse(s.pending)
	pieces := s.pieces(d, s.pending)
	s.fenced = false
	if n := len(d.Blocks); n > 0 {
		last := d.Blocks[n-1]
		s.fenced = last.Open && last.Fence != "" && strings.Contains(s.pending[last.Start:], "\n")
	}
	n := 0
	for n < len(pieces) && pieces[n].final {
		n++
	}
	final := pieces[:n:n]
	s.held = pieces[n:]
	s.take(final)
	s.restart(d.Blocks)
	return final
}

// restart rebases to where the next parse can start: the first open block, list item or line of code.
func (s *Stream) restart(blocks []Block) {
	open := func(b Block) bool { return b.Open }
	i := slices.IndexFunc(blocks, open)
	if i < 0 {
		if n := len(blocks); n > 0 {
			s.rebase(blocks[n-1].End, "")
		}
		return
	}
	b := blocks[i]
	if b.Kind == List {
		if j := slices.IndexFunc(b.Blocks, open); j > 0 {
			number := s.itemNumber(b, j)
			s.rebase(lineStart(s.pending, b.Blocks[j].Start), "")
			s.number = number + 1
			return
		}
	}
	if fence := openFence(s.pending, b); fence != "" && i == len(blocks)-1 {
		for _, line := range slices.Backward(b.Lines) {
			if s.pending[line.End-1] == '\n' {
				s.rebase(line.End, fence)
				return
			}
		}
	}
	if at := lineStart(s.pending, b.Start); at > 0 {
		s.rebase(at, "")
	}
}

// openFence returns the opening fence of a fenced code block, on a line of its own; "" if the block is closed or has
// no line of code.
func openFence(source string, b Block) string {
	if !b.Open || len(b.Lines) == 0 || b.Fence == "" || len(b.Fence) > maxFence {
		return ""
	}
	return source[lineStart(source, b.Start):b.Start] + b.Fence + "\n"
}

// tableHead returns the first two lines of a table that is cut after one of its rows.
func tableHead(source string, table Block) string {
	if !table.Open || len(table.Rows) < 2 || !strings.HasSuffix(source, "\n") {
		return ""
	}
	start, end := lineStart(source, table.Start), table.Start
	for range 2 {
		end += strings.IndexByte(source[end:], '\n') + 1
	}
	if end-start > maxHead {
		return ""
	}
	return source[start:end]
}

func lineStart(source string, at int) int { return strings.LastIndexByte(source[:at], '\n') + 1 }

// rebase forgets the first n bytes of pending and puts a fence in their place.
func (s *Stream) rebase(n int, fence string) {
	if before := s.pending[:n]; strings.Contains(before, "]:") && len(s.known) < maxKnown {
		_, s.known = parse(before, s.known)
		slices.SortFunc(s.known, func(a, b parser.Reference) int { return bytes.Compare(a.Label(), b.Label()) })
		s.known = s.known[:min(len(s.known), maxKnown)]
	}
	s.gap += s.pending[min(s.shown, n):n]
	s.shown = max(s.shown-n, 0) + len(fence)
	s.pending = fence + s.pending[n:]
	s.opened, s.number, s.joined, s.carry = fence != "", 0, false, nil
}

// flatten returns all pieces of a source, as if it were the end of the message.
func (s *Stream) flatten(source string) []Piece { return s.pieces(s.parse(source), source) }

// take notes that pieces are returned, and sets their sources.
func (s *Stream) take(pieces []Piece) {
	for i := range pieces {
		p := &pieces[i]
		p.Source = s.gap + s.pending[s.shown:p.End]
		s.gap, s.shown = "", p.End
	}
}

// itemNumber returns the number of an item of an ordered list at the start of pending or after it.
func (s *Stream) itemNumber(list Block, i int) int {
	if s.number > 0 && lineStart(s.pending, list.Start) == 0 {
		return s.number - 1 + i
	}
	return list.Number + i
}

// pieces returns the pieces of a parsed source that were not returned before.
func (s *Stream) pieces(d Document, source string) []Piece {
	f := flattener{stream: s, source: source, at: s.shown}
	f.blocks(d.Blocks)
	if s.joined && len(f.pieces) > 0 {
		f.pieces[0].Joined = f.pieces[0].Kind == Paragraph
		f.pieces[0].Containers = append(slices.Clone(s.carry), f.pieces[0].Containers...)
	}
	return f.pieces
}
