package journal

import (
	"errors"

	"github.com/fsnotify/fsnotify"
)

// WithoutNotifications makes a Dir that gets no file notifications, as on a
// system that has none left.
func (d *Dir) WithoutNotifications() *Dir {
	silent := *d
	silent.notify = func() (*fsnotify.Watcher, error) { return nil, errors.New("none left") }
	return &silent
}

// DecodeLine reads a line, without its newline, behind one with the sum prev.
func DecodeLine(line []byte, prev Sum) (Event, error) { return decode(line, prev) }
