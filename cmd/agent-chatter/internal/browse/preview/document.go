package preview

import (
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// A document is the parts of a session that are loaded, in order. They follow each other without a gap.
type document struct {
	parts   []*part
	started bool // nothing precedes the first part
	ended   bool // nothing is known to follow the last part
}

// rows returns the number of rows.
func (d *document) rows() int {
	n := 0
	for _, p := range d.parts {
		n += len(p.rows)
	}
	return n
}

// locate returns the part of a row, and the row in it. It is len(d.parts), 0 after the last row.
func (d *document) locate(row int) (part, at int) {
	for i, p := range d.parts {
		if row < len(p.rows) {
			return i, row
		}
		row -= len(p.rows)
	}
	return len(d.parts), 0
}

// A placed is a row and the part that it is in.
type placed struct {
	row
	part *part
}

// between returns the rows from one up to another.
func (d *document) between(from, to int) []placed {
	var rows []placed
	first := 0
	for _, p := range d.parts {
		for i := max(from-first, 0); i < min(to-first, len(p.rows)); i++ {
			rows = append(rows, placed{p.rows[i], p})
		}
		first += len(p.rows)
	}
	return rows
}

// trim removes the blank lines before the first line of a session, as replay does.
func (d *document) trim() {
	if !d.started {
		return
	}
	for i, p := range d.parts {
		rest := slices.IndexFunc(p.rows, func(r row) bool { return ansi.NoColor.Encode(r.line) != "" })
		if rest > 0 {
			trimmed := *p
			trimmed.rows = p.rows[rest:]
			d.parts[i] = &trimmed
		}
		if rest >= 0 {
			return
		}
	}
}

// end returns the last part that stands for events and the index after it. Notices may follow.
func (d *document) end() (last *part, after int) {
	after = len(d.parts)
	for after > 0 && d.parts[after-1].onlyNotice() {
		after--
	}
	if after == 0 {
		return nil, 0
	}
	return d.parts[after-1], after
}

// find returns the rows that show a message: from the first one of its turn to the last one of its event, or
// if it is no message, those of an event. ok is false if the event is not loaded.
func (d *document) find(seq uint64) (from, to int, ok bool) {
	row := 0
	for _, p := range d.parts {
		if p.from.Seq < seq && seq <= p.to.Seq {
			from, to := p.find(seq)
			return row + from, row + to, true
		}
		row += len(p.rows)
	}
	return 0, 0, false
}

func (p *part) find(seq uint64) (from, to int) {
	block := slices.IndexFunc(p.blocks, func(b block) bool { return b.seq >= seq })
	for _, s := range p.said {
		if s.seq == seq {
			block = s.block
		}
	}
	from = slices.IndexFunc(p.rows, func(r row) bool { return r.block >= block })
	to = slices.IndexFunc(p.rows, func(r row) bool { return p.blocks[r.block].seq > seq })
	if to < 0 {
		to = len(p.rows)
	}
	if block < 0 || from < 0 {
		return max(0, to-1), to
	}
	for from+1 < to && len(p.rows[from].line) == 0 { // a blank line before a name
		from++
	}
	return from, to
}

// A spot is a row by what it shows, whatever the columns.
type spot struct {
	from  uint64 // of the part
	block int
	row   int // of rows that show the block
	rows  int
}

// spot returns the spot of a row.
func (d *document) spot(row int) (s spot, ok bool) {
	i, at := d.locate(row)
	if i == len(d.parts) {
		return spot{}, false
	}
	p := d.parts[i]
	s = spot{from: p.from.Seq, block: p.rows[at].block}
	first, n := p.rowsOf(s.block)
	s.row, s.rows = at-first, n
	return s, true
}

// row returns the row of a spot, or of the nearest one after it.
func (d *document) row(s spot) int {
	row := 0
	for _, p := range d.parts {
		if p.from.Seq == s.from && !p.onlyNotice() {
			first, n := p.rowsOf(s.block)
			return row + first + s.row*n/s.rows
		}
		if p.from.Seq > s.from {
			break
		}
		row += len(p.rows)
	}
	return row
}

// rowsOf returns the first row of a block and how many it has.
func (p *part) rowsOf(block int) (first, n int) {
	first, _ = slices.BinarySearchFunc(p.rows, block, func(r row, block int) int { return r.block - block })
	for first+n < len(p.rows) && p.rows[first+n].block == block {
		n++
	}
	return first, n
}
