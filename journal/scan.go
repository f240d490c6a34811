package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// blockSize is how much is read at once, in bytes; firstBlock is how much at
// first, for most journals are shorter than a block.
const (
	blockSize  = 256 << 10
	firstBlock = 16 << 10
)

// lines cuts a stream into lines. It never gives out half a line: what follows
// the last newline stays inside until its newline comes.
type lines struct {
	r       io.Reader
	max     int    // longest line with its newline, in bytes
	pending []byte // read and not yet given out; a part of the block, up to its end
	block   []byte // used again and again, as long as lines are not much longer or shorter than it
	seen    int    // of pending, how much is known to have no newline
}

var errLongLine = errors.New("it is longer than a line may be")

// next returns the next line without its newline; io.EOF when there is no
// whole line (yet). A later call goes on where this one stopped, and writes over
// the line.
func (l *lines) next() ([]byte, error) {
	for {
		if i := bytes.IndexByte(l.pending[l.seen:], '\n'); i >= 0 {
			end := l.seen + i
			if end >= l.max {
				l.seen = 0
				return nil, errLongLine
			}
			line := l.pending[:end:end]
			l.pending, l.seen = l.pending[end+1:], 0
			return line, nil
		}
		l.seen = len(l.pending)
		if l.seen >= l.max {
			return nil, errLongLine
		}
		if err := l.fill(); err != nil {
			return nil, err
		}
	}
}

// skip drops the line that next found too long, which stands behind one with
// the sum prev, and returns what could be learned of it on the way. With io.EOF
// the line has no end (yet).
func (l *lines) skip(prev Sum) (*longLine, error) {
	long := newLongLine(l.pending, prev)
	l.seen = 0
	for {
		if i := bytes.IndexByte(l.pending, '\n'); i >= 0 {
			long.add(l.pending[:i])
			long.bytes++
			l.pending = l.pending[i+1:]
			return long, nil
		}
		long.add(l.pending)
		l.pending = l.pending[:0]
		if err := l.fill(); err != nil {
			return long, err
		}
	}
}

// fill reads some more behind pending.
func (l *lines) fill() error {
	if cap(l.pending)-len(l.pending) <= len(l.block)/4 {
		l.makeRoom()
	}
	n, err := l.r.Read(l.pending[len(l.pending):cap(l.pending)])
	l.pending = l.pending[:len(l.pending)+n]
	if n > 0 {
		return nil
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// makeRoom moves what is pending to the beginning of a block, which grows to no
// more than the longest line and one block.
func (l *lines) makeRoom() {
	size := max(firstBlock, min(4*len(l.block), blockSize), min(2*len(l.pending), l.max+blockSize))
	if len(l.block) < size || len(l.block) > 2*size {
		l.block = make([]byte, size)
	}
	l.pending = l.block[:copy(l.block, l.pending)]
}

// scanner reads the events of a journal and checks each against the chain.
type scanner struct {
	lines   lines
	at      Position // behind the last line that checked
	claimed uint64   // the highest Synced of the lines that checked
	memory  *memory
}

func newScanner(r io.Reader, from Position, maxLine int) *scanner {
	return &scanner{lines: lines{r: r, max: maxLine}, at: from, memory: newMemory()}
}

// tooLong says what is wrong with a line that is longer than the limit: only
// that, or more.
func (s *scanner) tooLong() error {
	long, err := s.lines.skip(s.at.Sum)
	switch {
	case err != nil && err != io.EOF:
		return err
	case err == nil && long.checks():
		return &badLine{s.at, &limitError{long.bytes, s.lines.max}}
	}
	return &badLine{s.at, errLongLine}
}

// badLine says that the line at a position does not check. Whether that is
// damage or a torn tail, classify finds out.
type badLine struct {
	at     Position
	reason error
}

func (e *badLine) Error() string { return e.reason.Error() }

func (e *badLine) Unwrap() error { return e.reason }

// corrupt calls it damage. Lines and sequence numbers run together.
func (e *badLine) corrupt(path string) *CorruptError {
	c := &CorruptError{Path: path, Line: int64(e.at.Seq) + 1, Offset: e.at.Offset, Reason: e.reason.Error()}
	if limit := (*limitError)(nil); errors.As(e.reason, &limit) {
		c.TooLong = limit.bytes
	}
	return c
}

// next returns the next event, whose Data the next call writes over. io.EOF: there is no further whole line.
// A *badLine: there is one, and it does not check.
func (s *scanner) next() (e Event, err error) {
	line, err := s.line()
	if err != nil {
		return Event{}, err
	}
	if err := e.decode(line, s.at.Sum, s.memory); err != nil {
		return Event{}, &badLine{s.at, err}
	}
	return e, s.pass(&e, line)
}

// check is next for who wants to know only whether there is one.
func (s *scanner) check() error {
	_, err := s.next()
	return err
}

// checkChain is check for the sum and the number of the next line, and not for
// what else it says.
func (s *scanner) checkChain() error {
	line, err := s.line()
	if err != nil {
		return err
	}
	var e Event
	if err := e.decodeNumbers(line, s.at.Sum); err != nil {
		return &badLine{s.at, err}
	}
	return s.pass(&e, line)
}

// line is the next one, which may be anything.
func (s *scanner) line() ([]byte, error) {
	line, err := s.lines.next()
	if err == errLongLine {
		err = s.tooLong()
	}
	return line, err
}

// pass goes behind the line of an event, which checks but for its number.
func (s *scanner) pass(e *Event, line []byte) error {
	if e.Seq != s.at.Seq+1 {
		return &badLine{s.at, fmt.Errorf("its seq is %d, not %d", e.Seq, s.at.Seq+1)}
	}
	s.at = Position{Seq: e.Seq, Offset: s.at.Offset + int64(len(line)) + 1, Sum: e.Sum}
	s.claimed = max(s.claimed, e.Synced)
	return nil
}
