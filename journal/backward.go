package journal

import (
	"bytes"
	"errors"
	"io"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// End returns the position after the last event that the journal had when the
// Reader was opened. It checks the last lines, as Check does. A torn
// tail follows that position; Torn describes it.
func (r *Reader) End() (Position, error) {
	t, err := r.src.findTail(r.maxLine)
	r.tail.torn = t.torn
	return t.end, err
}

// Before returns the events before a position, in reverse order, back to where the
// Reader starts. Each event is checked against the one before it. The cost is that
// of the events returned, whatever the length of the journal. The position must
// be one of the journal, such as End. An error ends the sequence: a
// *CorruptError, or an error of reading.
func (r *Reader) Before(p Position) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if p.Seq <= r.from.Seq {
			return
		}
		b := backward{src: r.src, start: r.from, at: p, maxLine: r.maxLine, offset: p.Offset}
		for b.at != b.start {
			e, err := b.next()
			r.tail.end = b.at
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// backward reads events in reverse order.
type backward struct {
	src     source
	start   Position // the events before it are not read
	at      Position // before the last event that was returned
	maxLine int

	pending []byte // the bytes of the journal before at
	offset  int64  // of pending in the journal
}

var errNotLinked = errors.New("it does not match the line after it")

func (b *backward) next() (Event, error) {
	line, err := b.line()
	if err != nil {
		return Event{}, b.corruptAt(b.at.Offset, err)
	}
	offset := b.at.Offset - int64(len(line)) - 1
	var e Event
	prev, err := b.sumAt(offset, len(line))
	if err == nil {
		e, err = decode(line, prev)
	}
	if err == nil && (e.Seq != b.at.Seq || e.Sum != b.at.Sum) {
		err = errNotLinked
	}
	if err != nil {
		return Event{}, b.corruptAt(offset, err)
	}
	b.at = Position{Seq: e.Seq - 1, Offset: offset, Sum: prev}
	b.pending = b.pending[:len(b.pending)-len(line)-1]
	return e, nil
}

// line returns the last line of pending, reading more bytes as needed.
func (b *backward) line() ([]byte, error) {
	for searched := 0; ; {
		if n := len(b.pending); n > 0 {
			if b.pending[n-1] != '\n' {
				return nil, errNoLine
			}
			i := bytes.LastIndexByte(b.pending[:n-1-searched], '\n')
			switch {
			case n-1-i > b.maxLine:
				return nil, errLongLine
			case i >= 0 || b.offset == b.start.Offset:
				return b.pending[i+1 : n-1 : n-1], nil
			}
			searched = n - 1
		}
		if err := b.fill(); err != nil {
			return nil, err
		}
	}
}

// sumAt returns the sum of the line that ends at an offset, where the last line
// of pending starts.
func (b *backward) sumAt(offset int64, lastLine int) (Sum, error) {
	if offset == b.start.Offset {
		return b.start.Sum, nil
	}
	for offset-b.offset <= int64(trailerLen) && b.offset > b.start.Offset {
		if err := b.fill(); err != nil {
			return 0, err
		}
	}
	_, sum, err := decodeSum(b.pending[:len(b.pending)-lastLine-2])
	return sum, err
}

// fill prepends bytes to pending, in new memory: events that were returned may
// refer to the previous memory.
func (b *backward) fill() error {
	if b.offset <= b.start.Offset {
		return io.ErrUnexpectedEOF
	}
	offset := max(b.start.Offset, b.offset-max(blockSize, int64(len(b.pending))))
	more, err := b.src.bytes(offset, b.offset)
	if err != nil {
		return err
	}
	b.pending, b.offset = append(more, b.pending...), offset
	return nil
}

// corruptAt returns the error of the line before at, which is invalid. An error of
// the file system is returned unchanged.
func (b *backward) corruptAt(offset int64, err error) error {
	if vfs.IsFileError(err) {
		return err
	}
	return (&lineError{Position{Seq: b.at.Seq - 1, Offset: offset}, err}).corrupt(b.src.path)
}
