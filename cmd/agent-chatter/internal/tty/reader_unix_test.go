//go:build unix

package tty

import (
	"os"
	"testing"
)

func TestWatchNoticesThatAPipeIsClosed(t *testing.T) {
	for name, test := range map[string]struct {
		watched, closed int // 0: the end that reads, 1: the one that writes
	}{"reader": {1, 0}, "writer": {0, 1}} {
		t.Run(name, func(t *testing.T) {
			var ends [2]*os.File
			var err error
			if ends[0], ends[1], err = os.Pipe(); err != nil {
				t.Fatal(err)
			}
			defer ends[test.watched].Close()
			if _, err := ends[1].WriteString("not read yet"); err != nil {
				t.Fatal(err)
			}
			ends[test.closed].Close()
			closed := false
			untilClosed(t.Context(), ends[test.watched].Fd(), func() { closed = true })
			if !closed {
				t.Error("not noticed")
			}
		})
	}
}
