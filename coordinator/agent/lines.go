package agent

import (
	"bytes"
	"io"

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// lineLimit is the length of the longest line that an agent may print, in bytes. No session has
// room for a longer reply.
const lineLimit = 64 << 20

// A lineSplitter splits the output of an agent, which arrives in pieces, into lines.
type lineSplitter struct {
	pieces bytes.Buffer // received, and not yet read by lines
	lines  *lines.Reader

	tooLong bool // a line was longer than lineLimit: the rest of the output is ignored
}

// take passes each line that the piece completes to hear, until hear returns false; then it
// returns false. The line is valid until hear returns.
func (s *lineSplitter) take(piece string, hear func(line []byte) bool) bool {
	if s.lines == nil {
		s.lines = lines.NewReader(&s.pieces, lineLimit+len("\n"))
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
		case !hear(line):
			return false
		}
	}
}

// rest returns the unterminated last line.
func (s *lineSplitter) rest() []byte {
	if s.lines == nil {
		return nil
	}
	return s.lines.Rest()
}
