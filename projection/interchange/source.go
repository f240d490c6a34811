package interchange

import (
	"bytes"
	"errors"
	"io"

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// Source is the file of a transcript.
type Source struct {
	Path string // absolute
	// Open opens the file for one reading. It is opened more than once: the reading
	// of a large file keeps only the places of its lines.
	Open func() (io.ReadCloser, error)
	// Subagent returns the transcript of the agent that a tool call started; false:
	// there is none. It gets the id of the call and that of the agent, one of which
	// may be empty. It may be nil.
	Subagent func(toolID, agentID string) (Source, bool)
}

// maxSourceLine is the length of the longest line of a transcript that is read,
// in bytes.
const maxSourceLine = 64 << 20

// data returns the content of the file.
func (s Source) data() ([]byte, error) {
	f, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// eachLine passes the lines that are not blank to a function until that returns
// false. A line is valid during the call; one that is too long is nil.
func (s Source) eachLine(each func(n int, line []byte) bool) error {
	f, err := s.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	r := lines.NewReader(f, maxSourceLine)
	for n := 0; ; {
		line, err := r.Next()
		last := err == io.EOF
		switch {
		case last:
			line = r.Rest()
		case errors.Is(err, lines.ErrTooLong):
			line = nil
			if _, err := r.Skip(nil); err != nil && err != io.EOF {
				return err
			}
		case err != nil:
			return err
		}
		if err != nil && !last || len(bytes.TrimSpace(line)) > 0 {
			if !each(n, line) {
				return nil
			}
			n++
		}
		if last {
			return nil
		}
	}
}
