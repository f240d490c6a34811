package jsonlines

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

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

// maxTorn is at how many places of a line that begin no whole object Objects looks for one: of a hostile line, each
// may be read to its end.
const maxTorn = 8

// Objects yields the whole JSON objects of a line; the line itself if it has none. There may be other text before,
// between and after them: a program's start script, the title of a terminal, a byte order mark, an object that was
// not finished, or a line break that is missing.
func Objects(line []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		found := false
		for at, torn := 0, 0; torn < maxTorn; {
			start := bytes.IndexByte(line[at:], '{')
			if start < 0 {
				break
			}
			start += at
			object, ok := firstObject(line[start:])
			if !ok || torn > 0 && isValue(line[:start]) {
				at = start + 1
				torn++
				continue
			}
			if found = true; !yield(object) {
				return
			}
			at = start + len(object)
		}
		if !found {
			yield(line)
		}
	}
}

// isValue reports whether what follows a text may be a value of an object in it that is not finished.
func isValue(before []byte) bool {
	before = bytes.TrimRight(before, " \t")
	return len(before) > 0 && bytes.IndexByte([]byte(":[,"), before[len(before)-1]) >= 0
}

// firstObject returns the object with which a text begins, unless the text continues as if another object contained it.
func firstObject(text []byte) (object []byte, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode((*json.RawMessage)(&object)); err != nil {
		return nil, false
	}
	rest := bytes.TrimLeft(text[len(object):], " \t\r")
	return object, len(rest) == 0 || bytes.IndexByte([]byte(",:]}"), rest[0]) < 0
}

// Decode decodes a JSON object like json.Unmarshal, but leaves out fields of a type that does not fit. It returns false
// if the text is no object.
func Decode(text []byte, into any) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	err := json.Unmarshal(text, into)
	mismatch := (*json.UnmarshalTypeError)(nil)
	return err == nil || errors.As(err, &mismatch)
}
