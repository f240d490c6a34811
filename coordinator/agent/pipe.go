package agent

import (
	"errors"
	"io"
	"os"
	"time"
)

// chunkSize is how many bytes are read at once.
const chunkSize = 32 << 10

// pump hands to sink what is written to our end of the program's standard output or standard
// error, until its end. The end comes when nobody has the other end open for writing; that
// may be long after the group is over, since a process outside of the group may hold it. Once
// the group is over only what is in the pipe then is read: nothing more can come from it.
func (p *process) pump(from *os.File, sink func([]byte)) {
	defer from.Close()
	err := relay(from, sink)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	// The supervisor has set a deadline, which is how it wakes a reader, and sets none later.
	<-p.over
	if from.SetReadDeadline(time.Time{}) != nil {
		return
	}
	if left, err := unread(from); err == nil {
		// No read blocks: the bytes are there, and nobody else reads them.
		_ = relay(io.LimitReader(from, int64(left)), sink)
	}
}

// relay hands what it reads to sink until reading fails or ends.
func relay(from io.Reader, sink func([]byte)) error {
	buf := make([]byte, chunkSize)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			sink(buf[:n])
		}
		if err != nil {
			return err
		}
	}
}
