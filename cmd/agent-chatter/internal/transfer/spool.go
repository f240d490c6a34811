package transfer

import (
	"bufio"
	"context"
	"io"
	"os"
)

// A spool is the part of a file that is written before what precedes it is known. It is in a temporary file.
type spool struct {
	*bufio.Writer
	file *os.File
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "agent-chatter-*")
	if err != nil {
		return nil, err
	}
	return &spool{bufio.NewWriterSize(f, 64<<10), f}, nil
}

// reader reads what was written and flushed, until ctx is done.
func (s *spool) reader(ctx context.Context) io.Reader {
	return &untilDone{ctx, io.NewSectionReader(s.file, 0, 1<<62)}
}

// close removes the file.
func (s *spool) close() {
	s.file.Close()
	os.Remove(s.file.Name())
}

// An untilDone is a reader that fails when ctx is done.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (r *untilDone) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
