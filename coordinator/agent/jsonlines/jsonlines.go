package jsonlines

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// Limit is the length of the longest line in bytes, without the newline. A line takes several times
// its length in memory while it is decoded.
const Limit = 32 << 20

// ErrTooLong is the error of a line longer than Limit.
var ErrTooLong = fmt.Errorf("it printed a line of more than %d bytes", Limit)

// A Splitter splits output that arrives in pieces, which may be cut anywhere, into lines. The zero
// Splitter is ready to use.
type Splitter struct {
	pieces  bytes.Buffer // received, and not yet read by lines
	lines   *lines.Reader
	tooLong bool
}

// Take passes each line that the piece completes to each, without its newline, until each returns
// false; then Take returns false. The line is valid until each returns.
func (s *Splitter) Take(piece string, each func(line []byte) bool) bool {
	if s.lines == nil {
		s.lines = lines.NewReader(&s.pieces, Limit+len("\n"))
	}
	s.pieces.WriteString(piece)
	for {
		line, err := s.lines.Next()
		switch {
		case err == io.EOF:
			return true
		case err != nil:
			s.tooLong = true
			return true
		case !each(line):
			return false
		}
	}
}

// TooLong reports whether a line was longer than Limit. Lines after it are ignored.
func (s *Splitter) TooLong() bool { return s.tooLong }

// Rest returns the unterminated last line.
func (s *Splitter) Rest() []byte {
	if s.lines == nil {
		return nil
	}
	return s.lines.Rest()
}

// Decode decodes the JSON object with which a line ends like json.Unmarshal, but leaves out fields of a type that does
// not fit. What precedes the object is ignored: a program's start script, or a terminal's title, may stand there. It
// returns false if the line does not end with an object.
func Decode(line []byte, into any) bool {
	from := bytes.IndexByte(line, '{')
	if from < 0 {
		return false
	}
	err := json.Unmarshal(line[from:], into)
	mismatch := (*json.UnmarshalTypeError)(nil)
	return err == nil || errors.As(err, &mismatch)
}
