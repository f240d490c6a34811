package journal

import (
	"bytes"
	"errors"
	"io"
	"iter"
)

// End is the position behind the last event of the journal as it was when the
// Reader was opened. The last 8 MiB are checked for it, as Check does. A torn
// tail lies behind it, and Torn tells.
func (r *Reader) End() (Position, error) {
	end, err := r.src.findEnding(r.maxLine)
	r.end.torn = end.torn
	return end.at, err
}

// Before yields the events in front of a position, the last one first, back to
// where the Reader begins. Each is checked against the one before it, so that
// the few it is asked for cost no more than themselves, however long the
// journal. The position has to be one of the journal, such as End. A last error
// is a *CorruptError, or one of reading.
func (r *Reader) Before(p Position) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if p.Seq <= r.from.Seq {
			return
		}
		b := backward{src: r.src, floor: r.from, at: p, maxLine: r.maxLine, start: p.Offset}
		for b.at != b.floor {
			e, err := b.next()
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// backward reads one event after another, from a position to the beginning.
type backward struct {
	src     source
	floor   Position // nothing in front of it is read
	at      Position // in front of the last event
	maxLine int

	pending []byte // what is known of the journal in front of at,
	start   int64  // from this offset on
}

var errNotBehind = errors.New("it is not where the line behind it says")

func (b *backward) next() (Event, error) {
	line, err := b.line()
	if err != nil {
		return Event{}, b.damage(err)
	}
	offset := b.at.Offset - int64(len(line)) - 1
	before, err := b.sumAt(offset, len(line))
	if err != nil {
		return Event{}, b.damage(err)
	}
	e, err := decode(line, before)
	if err == nil && (e.Seq != b.at.Seq || e.Sum != b.at.Sum) {
		err = errNotBehind
	}
	if err != nil {
		return Event{}, b.damageAt(offset, err)
	}
	b.at = Position{Seq: e.Seq - 1, Offset: offset, Sum: before}
	b.pending = b.pending[:len(b.pending)-len(line)-1]
	return e, nil
}

// line is the last one of what is pending, of which it is made sure that there
// is one.
func (b *backward) line() ([]byte, error) {
	for seen := 0; ; {
		if n := len(b.pending); n > 0 {
			if b.pending[n-1] != '\n' {
				return nil, errNoLine
			}
			i := bytes.LastIndexByte(b.pending[:n-1-seen], '\n')
			switch {
			case n-1-i > b.maxLine:
				return nil, errLongLine
			case i >= 0 || b.start == b.floor.Offset:
				return b.pending[i+1 : n-1 : n-1], nil
			}
			seen = n - 1
		}
		if err := b.fill(); err != nil {
			return nil, err
		}
	}
}

// sumAt is the sum of the line that ends at an offset, where the last one of
// what is pending starts.
func (b *backward) sumAt(offset int64, line int) (Sum, error) {
	if offset == b.floor.Offset {
		return b.floor.Sum, nil
	}
	for offset-b.start <= int64(trailerLen) && b.start > b.floor.Offset {
		if err := b.fill(); err != nil {
			return 0, err
		}
	}
	_, sum, err := decodeSum(b.pending[:len(b.pending)-line-2])
	return sum, err
}

// fill puts some more in front of what is pending, in new memory: an Event may
// keep a part of the old.
func (b *backward) fill() error {
	if b.start <= b.floor.Offset {
		return io.ErrUnexpectedEOF
	}
	start := max(b.floor.Offset, b.start-max(blockSize, int64(len(b.pending))))
	more, err := b.src.bytes(start, b.start)
	if err != nil {
		return err
	}
	b.pending, b.start = append(more, b.pending...), start
	return nil
}

// damage says that the line in front of at does not check. What the system says
// is passed on.
func (b *backward) damage(err error) error { return b.damageAt(b.at.Offset, err) }

func (b *backward) damageAt(offset int64, err error) error {
	if isOfDisk(err) {
		return err
	}
	return (&badLine{Position{Seq: b.at.Seq - 1, Offset: offset}, err}).corrupt(b.src.path)
}
