package preview

import (
	"context"
	"errors"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// A loader reads and lays out a session as it was when a pane requested it. Its methods run outside of the goroutine of
// the pane; what they return is incomplete if ctx is done.
type loader struct {
	dir     *catalog.Dir
	session catalog.Session
	head    head
	render  func(app.Message) string
	last    uint64 // event that is read; 0: that of the journal

	columns, rows int // of the conversation
	profile       ansi.Profile
}

// A place is where a session is opened. The zero place is its end.
type place struct {
	start bool
	seq   uint64 // of an event; 0: none
}

// open reads a session at a place, and about as much around it as the pane shows.
func (l *loader) open(ctx context.Context, at place) (d document) {
	r, err := l.openReader(ctx)
	if l.session.Remote && errors.Is(err, journal.ErrNotFound) {
		return document{parts: []*part{l.laidOut(ctx, *onHubPart())}, started: true, ended: true}
	}
	if err != nil {
		return document{parts: l.notices(ctx, journal.Position{}, journal.Torn{}, err), started: true, ended: true}
	}
	defer r.Close()
	l.head.read(ctx, r, l.dir, l.session.ID)
	switch {
	case at.start:
		d.started = true
		l.readOn(ctx, r, &d)
	case at.seq > 0:
		l.around(ctx, r, at.seq, &d)
	}
	if len(d.parts) == 0 {
		l.readEnd(ctx, r, &d)
	}
	for range mostReads {
		above, below := 0, 0
		if at.seq > 0 {
			from, _, _ := d.find(at.seq)
			above, below = from, d.rows()-from
		} else if at.start {
			below = d.rows()
		} else {
			above = d.rows()
		}
		switch {
		case ctx.Err() != nil:
			return d
		case below < l.rows && !d.ended:
			l.readOn(ctx, r, &d)
		case above < l.rows && !d.started:
			l.readBack(ctx, r, &d)
		default:
			return d
		}
	}
	return d
}

// least returns the bytes after which a chunk ends where it can. Each one of an archive costs the decompression of
// what precedes it in its frame.
func (l *loader) least() int {
	if l.session.Archived {
		return 8 * conversation.Enough
	}
	return conversation.Enough
}

// openReader opens the journal. Reading ends with ctx.
func (l *loader) openReader(ctx context.Context) (*journal.Reader, error) {
	r, err := l.dir.Journals().Reader(l.session.ID, journal.Position{})
	if err == nil {
		r.StopWith(ctx)
	}
	return r, err
}

// layOutAgain lays a document out.
func (l *loader) layOutAgain(ctx context.Context, d *document) bool {
	for i, p := range d.parts {
		d.parts[i] = l.laidOut(ctx, *p)
	}
	return true
}

// readMoreBefore adds the part before a document. It returns false if the journal is another one now.
func (l *loader) readMoreBefore(ctx context.Context, d *document) bool {
	return l.with(ctx, d, d.parts[0].from, func(r *journal.Reader) { l.readBack(ctx, r, d) })
}

// readMoreAfter adds the part after a document, or to its end what was appended. It returns false if the journal is
// another one now.
func (l *loader) readMoreAfter(ctx context.Context, d *document) bool {
	last, _ := d.end()
	return l.with(ctx, d, last.to, func(r *journal.Reader) { l.readOn(ctx, r, d) })
}

// refresh is readMoreAfter if the document has the end of the journal.
func (l *loader) refresh(ctx context.Context, d *document) bool {
	if last, _ := d.end(); len(last.tail.Events) > 0 {
		return l.readMoreAfter(ctx, d)
	}
	l.head.writer = l.dir.Journals().Writer(l.session.ID)
	return true
}

// with opens the journal and calls read if it has a position. If it cannot be opened, the document ends with why.
func (l *loader) with(ctx context.Context, d *document, at journal.Position, read func(*journal.Reader)) bool {
	r, err := l.openReader(ctx)
	if err != nil {
		last, n := d.end()
		d.parts = append(d.parts[:n:n], l.notices(ctx, last.to, journal.Torn{}, err)...)
		d.started, d.ended = true, true
		return true
	}
	defer r.Close()
	l.head.read(ctx, r, l.dir, l.session.ID)
	if !r.Holds(at) && ctx.Err() == nil {
		return false
	}
	d.started = d.parts[0].from.Seq == 0
	read(r)
	return true
}

// readEnd reads the last chunk.
func (l *loader) readEnd(ctx context.Context, r *journal.Reader, d *document) {
	end, torn, err := l.end(r)
	if end.Seq > 0 {
		l.addBefore(ctx, r, d, end, l.ending(), true)
	}
	d.started = d.started || end.Seq == 0
	d.parts, d.ended = append(d.parts, l.notices(ctx, end, torn, err)...), true
}

// end returns the position after the last event that can be read, the torn tail, and why no more can be read.
func (l *loader) end(r *journal.Reader) (end journal.Position, torn journal.Torn, err error) {
	if l.last > 0 {
		end, err = r.Find(l.last + 1)
		return end, torn, err
	}
	return conversation.End(r, l.session.End)
}

// ending returns what follows the last event.
func (l *loader) ending() ending {
	if l.head.live() || l.last > 0 {
		return goesOn
	}
	return closed
}

// around reads the part that has an event. It adds nothing if the event cannot be read.
func (l *loader) around(ctx context.Context, r *journal.Reader, seq uint64, d *document) {
	c, next, err := conversation.Around(ctx, r, seq, l.least(), l.last)
	if len(c.Events) == 0 {
		return
	}
	d.ended = next.Seq == 0
	d.parts, d.started = []*part{l.fold(ctx, c, l.endingBefore(&c, next), d.ended)}, c.From.Seq == 0
	if d.ended {
		d.parts = append(d.parts, l.notices(ctx, c.To, r.Torn(), err)...)
	}
}

// endingBefore returns what follows a chunk before an event, or without one, at the end of the journal.
func (l *loader) endingBefore(c *conversation.Chunk, next projection.Event) ending {
	switch {
	case next.Seq == 0:
		return l.ending()
	case c.ClosedBy(next):
		return closed
	}
	return goesOn
}

// readBack adds the part before a document.
func (l *loader) readBack(ctx context.Context, r *journal.Reader, d *document) {
	first, end := d.parts[0], closed
	if first.divided {
		end = goesOn
	}
	l.addBefore(ctx, r, d, first.from, end, false)
}

// addBefore adds the part before a position, after a notice in place of events that cannot be read. With tail, the
// journal ends at the position.
func (l *loader) addBefore(
	ctx context.Context, r *journal.Reader, d *document, to journal.Position, end ending, tail bool,
) {
	c, err := conversation.Before(ctx, r, to, l.least())
	if len(c.Events) > 0 {
		d.parts = slices.Insert(d.parts, 0, l.fold(ctx, c, end, tail))
	}
	if err != nil && ctx.Err() == nil {
		gap := l.gap(r, c.From, err)
		d.parts = slices.Insert(d.parts, 0, l.laidOut(ctx, *gap))
	}
	d.started = len(d.parts) == 0 || d.parts[0].from.Seq == 0
}

// gap returns a notice in place of the events before a position that cannot be read. Reading continues before it.
func (l *loader) gap(r *journal.Reader, to journal.Position, err error) *part {
	var from journal.Position
	var corrupt *journal.CorruptError
	if errors.As(err, &corrupt) && corrupt.Line > 2 {
		// The damage may be at the end of the line before the one that it was found in.
		if at, err := r.Find(uint64(corrupt.Line) - 1); err == nil {
			from = at
			for _, err := range r.ScanAfter(at) {
				if err != nil || r.Position().Seq >= to.Seq {
					break
				}
				from = r.Position()
			}
		}
	}
	return noticePart(from, to, l.render(view.ReadFailure(l.session, err)))
}

// readOn adds the part after a document, or to its last part what was appended since it ended there.
func (l *loader) readOn(ctx context.Context, r *journal.Reader, d *document) {
	last, n := d.end()
	d.parts = d.parts[:n:n]
	var from journal.Position
	if last != nil {
		from = last.to
	}
	c, next, err := conversation.After(ctx, r, from, l.least(), l.last)
	d.ended = next.Seq == 0
	if last != nil && len(last.tail.Events) > 0 {
		d.parts = d.parts[:n-1]
		if len(c.Events) > 0 && last.tail.EndsAt(c.Events[0], l.least()) {
			d.parts = append(d.parts, l.fold(ctx, last.tail, l.endingBefore(&last.tail, c.Events[0]), false))
		} else {
			c = last.tail.Join(c)
		}
	}
	if len(c.Events) > 0 {
		d.parts = append(d.parts, l.fold(ctx, c, l.endingBefore(&c, next), d.ended))
	}
	if d.ended {
		d.parts = append(d.parts, l.notices(ctx, c.To, r.Torn(), err)...)
	}
}

// notices returns a part with what is to be known of a session that ends at a position because of an error or nil.
func (l *loader) notices(ctx context.Context, end journal.Position, torn journal.Torn, err error) []*part {
	if l.last > 0 && err == nil { // the end is shown elsewhere
		return nil
	}
	if l.head.live() {
		torn = journal.Torn{}
	}
	var texts []string
	for _, m := range view.Faults(l.session, torn, err) {
		texts = append(texts, l.render(m))
	}
	if len(texts) == 0 {
		return nil
	}
	return []*part{l.laidOut(ctx, *noticePart(end, end, texts...))}
}
