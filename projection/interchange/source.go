package interchange

import (
	"fmt"
	"io"
	"io/fs"
	"time"
)

// Source is the file of a transcript.
type Source struct {
	Path string // absolute
	// Open opens the file for one reading. It is opened more than once: the reading
	// of a large file keeps only the places of its lines.
	Open func() (io.ReadCloser, error)
	// Subagent returns the transcript of the agent that a tool call started; false:
	// there is none. It gets the id of the call and that of the agent, one of which
	// may be empty. It may be nil: then a format that has subagents looks for their files.
	Subagent func(toolID, agentID string) (Source, bool)
	// File returns another file of the program, such as an index; false: there is no such file, or no regular
	// one. It may be nil.
	File func(path string) (Source, bool)
	// List returns the entries of a directory; none if it cannot be read. It is set if File is.
	List func(dir string) []fs.DirEntry
	// Modified is when the file was last changed; the zero time is unknown.
	Modified time.Time
}

// readFile returns the content of another file of the program; nil if it is missing or longer than a limit.
func (s Source) readFile(path string, limit int64) []byte {
	if s.File == nil {
		return nil
	}
	other, ok := s.File(path)
	if !ok {
		return nil
	}
	f, err := other.Open()
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil || int64(len(data)) > limit {
		return nil
	}
	return data
}

// What is held of a transcript.
const (
	maxSourceLine  = 64 << 20 // bytes of a line; a longer one is skipped
	maxSourceValue = 32 << 20 // bytes of a value in an object that is the whole file
	maxSourceFile  = 16 << 20 // bytes of a file that is read as one value
	maxSourceNodes = 4 << 20  // lines with ids, of a transcript with branches
)

// LimitError: more of a transcript would be held in memory than a limit allows.
type LimitError struct {
	Part  string // of the transcript, with an article
	Limit int64
	Unit  string // plural
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s has more than the limit of %d %s", e.Part, e.Limit, e.Unit)
}

// data returns the content of the file.
func (s Source) data() ([]byte, error) {
	f, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(utf8Text(f), maxSourceFile+1))
	if len(data) > maxSourceFile {
		return nil, &LimitError{"the file", maxSourceFile, "bytes"}
	}
	return data[objectStart(data):], err
}

// eachLine passes the pieces of the file, as [eachPiece] does, to a function until that returns
// false: each piece is an object on a line of its own, or no object.
func (s Source) eachLine(each func(n int, line []byte) bool) error {
	f, err := s.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	n := -1
	return eachPiece(utf8Text(f), maxSourceLine, func(piece []byte) bool {
		n++
		return each(n, piece)
	})
}
