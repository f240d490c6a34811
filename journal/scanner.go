package journal

import (
	"errors"
	"fmt"
	"io"

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// blockSize is how many bytes are copied or compared at once.
const blockSize = 256 << 10

var errLongLine = errors.New("the line is too long")

// scanner reads the events of a journal and verifies the chain of sums.
type scanner struct {
	lines     *lines.Reader
	at        Position // after the last valid line
	maxSynced uint64   // the highest Synced of the valid lines
	cache     *decodeCache
}

func newScanner(r io.Reader, from Position, maxLine int) *scanner {
	cache := &decodeCache{types: map[string]string{}}
	return &scanner{lines: lines.NewReader(r, maxLine), at: from, cache: cache}
}

// lineError is the error of an invalid line. Whether the line is corrupt or starts
// a torn tail is decided by classify.
type lineError struct {
	at     Position // where the line starts
	reason error
}

func (e *lineError) Error() string { return e.reason.Error() }

func (e *lineError) Unwrap() error { return e.reason }

// corrupt returns the CorruptError of the line. Line numbers equal sequence
// numbers.
func (e *lineError) corrupt(path string) *CorruptError {
	c := &CorruptError{Path: path, Line: int64(e.at.Seq) + 1, Offset: e.at.Offset, Reason: e.reason.Error()}
	if limit := (*limitError)(nil); errors.As(e.reason, &limit) {
		c.TooLong = limit.bytes
	}
	return c
}

// next returns the next event, whose Data is valid until the next call. It
// returns io.EOF if there is no further complete line, and a *lineError if that
// line is invalid.
func (s *scanner) next() (e Event, err error) {
	line, err := s.line()
	if err != nil {
		return Event{}, err
	}
	if err := e.decode(line, s.at.Sum, s.cache); err != nil {
		return Event{}, &lineError{s.at, err}
	}
	return e, s.advance(&e, line)
}

// check is next without the event.
func (s *scanner) check() error {
	_, err := s.next()
	return err
}

// checkChain is check for the sum and the sequence number of the line alone.
func (s *scanner) checkChain() error {
	line, err := s.line()
	if err != nil {
		return err
	}
	var e Event
	if err := e.decodeSeq(line, s.at.Sum); err != nil {
		return &lineError{s.at, err}
	}
	return s.advance(&e, line)
}

// line returns the next line, which may be invalid. A line over the limit is a
// *lineError with a *limitError if it is valid, and with errLongLine if not.
func (s *scanner) line() ([]byte, error) {
	line, err := s.lines.Next()
	if err != lines.ErrTooLong {
		return line, err
	}
	long, err := skipLine(s.lines, s.at.Sum)
	switch {
	case err != nil && err != io.EOF:
		return nil, err
	case err == nil && long.valid():
		return nil, &lineError{s.at, &limitError{long.bytes, s.lines.Limit()}}
	}
	return nil, &lineError{s.at, errLongLine}
}

// advance moves past the line of an event, after checking its sequence number.
func (s *scanner) advance(e *Event, line []byte) error {
	if e.Seq != s.at.Seq+1 {
		return &lineError{s.at, fmt.Errorf("its seq is %d, not %d", e.Seq, s.at.Seq+1)}
	}
	s.at = Position{Seq: e.Seq, Offset: s.at.Offset + int64(len(line)) + 1, Sum: e.Sum}
	s.maxSynced = max(s.maxSynced, e.Synced)
	return nil
}
