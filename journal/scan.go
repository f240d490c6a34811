package journal

import (
	"errors"
	"fmt"
	"io"

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// blockSize is how many bytes are copied or compared at once.
const blockSize = 256 << 10

var errLongLine = errors.New("it is longer than a line may be")

// skipLine discards the line that Next found too long, which follows one with
// the sum prev, and returns what could be learned of it. With io.EOF the line
// has no end (yet).
func skipLine(l *lines.Reader, prev Sum) (*longLine, error) {
	long := newLongLine(prev)
	var err error
	long.bytes, err = l.Skip(long.add)
	return long, err
}

// scanner reads the events of a journal and checks each against the chain.
type scanner struct {
	lines   *lines.Reader
	at      Position // behind the last line that checked
	claimed uint64   // the highest Synced of the lines that checked
	memory  *memory
}

func newScanner(r io.Reader, from Position, maxLine int) *scanner {
	return &scanner{lines: lines.NewReader(r, maxLine), at: from, memory: newMemory()}
}

// tooLong says what is wrong with a line that is longer than the limit: only
// that, or more.
func (s *scanner) tooLong() error {
	long, err := skipLine(s.lines, s.at.Sum)
	switch {
	case err != nil && err != io.EOF:
		return err
	case err == nil && long.checks():
		return &badLine{s.at, &limitError{long.bytes, s.lines.Limit()}}
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
	line, err := s.lines.Next()
	if err == lines.ErrTooLong {
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
