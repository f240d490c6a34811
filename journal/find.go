package journal

import (
	"github.com/agent-chatter/agent-chatter/journal/archive"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// findWindow is the length in bytes below which a search stops halving and reads
// on to the line.
const findWindow = 64 << 10

// Find returns the position before the event with sequence number seq, or the end of
// the journal if it has fewer events, but no position before the Reader's start. It
// uses binary search, so most of the lines before the position are not checked. If the
// search meets an invalid line, Find reads from the Reader's start and reports the first
// corrupt line.
func (r *Reader) Find(seq uint64) (Position, error) {
	if seq <= r.from.Seq+1 {
		return r.from, nil
	}
	near, err := r.src.near(seq, r.from, r.maxLine)
	if err == nil {
		if near, err = r.src.readTo(seq, near, r.maxLine); err == nil {
			return near, nil
		}
	}
	if vfs.IsFileError(err) {
		return Position{}, err
	}
	// A line that the search relied on is corrupt: finding the first corrupt line
	// requires reading all of them.
	return r.src.readTo(seq, r.from, r.maxLine)
}

// near returns a position before an event: at most findWindow bytes before it, or in an
// archive of very long frames the start of a frame. The line before the position is not
// verified.
func (s source) near(seq uint64, from Position, maxLine int) (Position, error) {
	if !s.archived() {
		from, _ = s.bisect(seq, from, s.size, maxLine, nil)
		return from, nil
	}
	from, to := s.bisect(seq, from, s.size, maxLine, s.archive.FrameBetween)
	if to-from.Offset > archive.MaxPrefetch {
		return from, nil
	}
	if err := s.archive.Prefetch(from.Offset, to); err != nil {
		return Position{}, err
	}
	from, _ = s.bisect(seq, from, to, maxLine, nil)
	return from, nil
}

// bisect narrows the range from, to in which the line of event seq starts to at most
// findWindow bytes, and returns it. With frameBetween it splits only where a frame of an
// archive starts, and the range may remain longer.
func (s source) bisect(
	seq uint64, from Position, to int64, maxLine int, frameBetween func(from, to int64) int64,
) (Position, int64) {
	for to-from.Offset > findWindow {
		middle := from.Offset + (to-from.Offset)/2
		if frameBetween != nil {
			if middle = frameBetween(from.Offset, to); middle < 0 {
				break
			}
		}
		p, err := s.lineAfter(middle, maxLine)
		if err == nil && p.Seq < seq {
			from = p
		} else {
			to = middle
		}
	}
	return from, to
}

// readTo checks the lines from a position up to an event.
func (s source) readTo(seq uint64, from Position, maxLine int) (Position, error) {
	r, err := s.open(from.Offset)
	if err != nil {
		return Position{}, s.readError(from, err)
	}
	defer r.Close()
	sc := newScanner(r, from, maxLine)
	for sc.at.Seq+1 < seq {
		if _, err := sc.next(); err != nil {
			t, err := s.tailAt(sc, err, maxLine)
			return t.end, err
		}
	}
	return sc.at, nil
}
