package preview

import (
	"context"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// A part is a chunk and the rows that show it. It is not changed after it was laid out.
type part struct {
	from, to journal.Position
	bytes    int                // of the events
	divided  bool               // it has events of a turn that began before it
	tail     conversation.Chunk // the chunk if the journal ended after it, to be folded with what follows; else empty
	blocks   []block
	said     []said
	rows     []row
}

// A block is a block of the conversation, or a notice.
type block struct {
	view.Block
	seq    uint64 // of the event that completed it
	notice string // "": Block is shown
}

// A said is a message, or the unfinished reply of the end of a turn, and the block that its turn begins with.
type said struct {
	seq   uint64
	block int
}

// A row is a row of the pane.
type row struct {
	line  ansi.Line
	block int // index in part.blocks
}

// An ending is what follows a chunk.
type ending int

const (
	closed ending = iota // nothing, or an event that begins another chunk: a turn without an end is unfinished
	goesOn               // the rest of the turns that are open, now or later
)

var (
	turnEnded       = projection.TypeOf(projection.TurnEnded{})
	turnStarted     = projection.TypeOf(projection.TurnStarted{})
	messageAppended = projection.TypeOf(projection.MessageAppended{})
)

// fold returns the part of a chunk. With tail, the journal ends after it.
func (l *loader) fold(ctx context.Context, c conversation.Chunk, end ending, tail bool) *part {
	p := &part{from: c.From, to: c.To, divided: c.Divided()}
	var members view.Members
	members.AddMembers(l.head.members)
	t := &view.Transcript{Members: members}
	if c.From.Seq > 0 {
		t = view.Continued(members)
	}
	c.Events = slices.Clone(c.Events)
	short := shortener{id: l.session.ID, render: l.render}
	turn := 0 // the first block of the newest turn
	add := func(blocks []view.Block, seq uint64) {
		for _, b := range blocks {
			p.blocks = append(p.blocks, block{Block: b, seq: seq})
		}
	}
	for i, e := range c.Events {
		if ctx.Err() != nil {
			break
		}
		e = short.event(e)
		c.Events[i] = e
		p.bytes += len(e.Data)
		add(t.Apply(e), e.Seq)
		switch {
		case e.Type == turnStarted:
			turn = len(p.blocks)
		case e.Type == messageAppended && t.Speaking(), e.Type == turnEnded:
			p.said = append(p.said, said{e.Seq, turn})
		case e.Type == messageAppended:
			p.said = append(p.said, said{e.Seq, max(0, len(p.blocks)-2)}) // a name and a text
		}
	}
	last := t.Held
	if end == closed {
		last = t.Close
	}
	add(last(), c.To.Seq)
	if tail {
		p.tail = c
	}
	return l.laidOut(ctx, *p)
}

// laidOut returns a part with the rows that show it, or some of them if ctx is done.
func (l *loader) laidOut(ctx context.Context, p part) *part {
	style := view.Style{Width: l.columns + 1, Profile: l.profile} // lines leave the last column of a Style empty
	p.rows = nil
	for i, b := range p.blocks {
		if ctx.Err() != nil {
			break
		}
		for _, line := range b.lines(style) {
			for _, line := range fitting(line, l.columns) {
				p.rows = append(p.rows, row{line, i})
			}
		}
	}
	return &p
}

func (b block) lines(s view.Style) []ansi.Line {
	if b.notice == "" {
		return view.Lines(b.Block, s)
	}
	lines := []ansi.Line{nil}
	for text := range strings.SplitSeq(b.notice, "\n") {
		lines = append(lines, ansi.Line{{Text: text, Style: ansi.Style{Color: ansi.Yellow}}})
	}
	return lines
}

// fitting returns a line, or the lines it is divided into if it is wider: lines that can be copied whole are.
func fitting(line ansi.Line, columns int) []ansi.Line {
	if line.Columns() <= columns {
		return []ansi.Line{line}
	}
	return ansi.Wrap(line, columns)
}

// noticePart returns a part that shows texts in place of the events between two positions.
func noticePart(from, to journal.Position, texts ...string) *part {
	p := &part{from: from, to: to}
	for _, text := range texts {
		p.blocks = append(p.blocks, block{notice: text, seq: to.Seq})
	}
	return p
}

// onHubPart is shown of a session that is only on the hub.
func onHubPart() *part {
	return noticePart(journal.Position{}, journal.Position{}, "The messages of this session are on the hub.")
}

// onlyNotice reports whether a part stands for no events.
func (p *part) onlyNotice() bool {
	return p.from == p.to && len(p.blocks) > 0 && p.blocks[0].notice != ""
}
