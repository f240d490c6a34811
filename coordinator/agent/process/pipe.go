package process

import (
	"errors"
	"io"
	"os"
	"time"
)

// chunkSize is how many bytes are read at once.
const chunkSize = 32 << 10

// pump passes to sink what arrives at our end of standard output or standard error, until its
// end. The end comes when no process has the other end open; that may be long after the group has
// ended, since a process outside of the group may hold it. After the group has ended, pump reads
// only what is in the pipe: the group writes no more.
func (p *Process) pump(from *os.File, sink func([]byte)) {
	defer from.Close()
	err := relay(from, sink)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	// The supervisor has set a deadline, which wakes the reader, and sets none later.
	<-p.done
	if from.SetReadDeadline(time.Time{}) != nil {
		return
	}
	if left, err := unread(from); err == nil {
		// No read blocks: the bytes are there, and this is the only reader.
		_ = relay(io.LimitReader(from, int64(left)), sink)
	}
}

// relay passes what it reads to sink until reading fails or ends.
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
