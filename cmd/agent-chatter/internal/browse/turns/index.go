package turns

import (
	"context"
	"slices"
	"sort"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// The bounds of a page, and of what is read before the rows found so far are shown. All are exceeded by at most an
// event, or the events of a turn.
const (
	pageRows  = 256
	pageBytes = 1 << 20 // of the journal
	readBytes = 8 << 20
)

// An index knows where the pages of a session begin. The zero index has read nothing. It is not changed: read returns
// another one.
type index struct {
	marks    []mark
	timeline *projection.Timeline // after the last event, with the rows of the last page; nil: nothing was read
	at       journal.Position     // after the last event
	members  []projection.Member
	after    uint64 // the rows that end after this event are listed
	common   int    // rows that no event after it changed or could change
	from     int    // the first row that is listed
	complete bool   // nothing follows, as far as is known
	torn     journal.Torn
}

// A mark is where a page begins.
type mark struct {
	at       journal.Position
	timeline *projection.Timeline // before the events after at; its first row is that of the page
}

// rows returns the number of rows that were found.
func (ix *index) rows() int {
	if ix.timeline == nil {
		return 0
	}
	return ix.timeline.First + len(ix.timeline.Rows)
}

// page returns the page of a row.
func (ix *index) page(row int) int {
	return sort.Search(len(ix.marks), func(i int) bool { return ix.marks[i].timeline.First > row }) - 1
}

// first returns the first row of a page.
func (ix *index) first(page int) int { return ix.marks[page].timeline.First }

// read returns the index with the rows of the events that follow, of about readBytes. An error other than that of ctx
// is returned with the index up to it.
func (ix index) read(ctx context.Context, dir *catalog.Dir, id string) (index, error) {
	r, err := dir.Journals().Reader(id, journal.Position{})
	if err != nil {
		return ix, err
	}
	defer r.Close()
	r.StopWith(ctx)
	if !r.Holds(ix.at) { // The journal was replaced.
		ix = index{after: ix.after}
	}
	if ix.timeline == nil {
		ix.timeline = &projection.Timeline{}
		ix.marks = []mark{{timeline: ix.timeline.Clone()}}
	}
	// Another read, which is being cancelled, may append to the same marks.
	ix.timeline, ix.marks, ix.complete = ix.timeline.Clone(), slices.Clip(ix.marks), false
	start := ix.at.Offset
	for e, err := range r.ScanAfter(ix.at) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return ix, err
		}
		ix.add(e)
		ix.at = r.Position()
		ix.mark()
		if ix.at.Offset-start >= readBytes {
			return ix, nil
		}
	}
	ix.complete, ix.torn = true, r.Torn()
	ix.skip()
	return ix, nil
}

// skip leaves out turns that were open after the common part, and to which nothing was added.
func (ix *index) skip() {
	for i := ix.from - ix.timeline.First; i >= 0 && i < len(ix.timeline.Rows); i++ {
		if ix.timeline.Rows[i].End > ix.after {
			return
		}
		ix.from++
	}
}

// add adds an event.
func (ix *index) add(e journal.Event) {
	if len(ix.members) == 0 && e.Type == projection.TypeOf(projection.SessionCreated{}) {
		if p, ok := projection.DecodeEvent(e).Payload.(projection.SessionCreated); ok {
			ix.members = p.Team.Members
		}
	}
	ix.timeline.Apply(e)
	if e.Seq <= ix.after {
		ix.common = ix.timeline.First + ix.timeline.Final()
	}
	ix.from = ix.common
}

// mark begins a page if the last one is long enough.
func (ix *index) mark() {
	last := ix.marks[len(ix.marks)-1]
	n := ix.timeline.Final()
	if n < pageRows && (n == 0 || ix.at.Offset-last.at.Offset < pageBytes) {
		return
	}
	ix.timeline.Forget()
	ix.marks = append(ix.marks, mark{ix.at, ix.timeline.Clone()})
}

// load returns the rows of a page that is not the last one.
func (ix index) load(ctx context.Context, dir *catalog.Dir, id string, page int) ([]projection.TimelineRow, error) {
	from, to := ix.marks[page], ix.marks[page+1]
	r, err := dir.Journals().Reader(id, journal.Position{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	r.StopWith(ctx)
	t := from.timeline.Clone()
	for e, err := range r.ScanAfter(from.at) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		t.Apply(e)
		if e.Seq == to.at.Seq {
			break
		}
	}
	return t.Rows[:min(len(t.Rows), to.timeline.First-from.timeline.First)], nil
}
