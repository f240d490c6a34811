package journal

import (
	"context"
	"errors"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/fsnotify/fsnotify"
)

// WithoutNotifications returns a Dir without file notifications, as on a system
// that refuses them.
func (d *Dir) WithoutNotifications() *Dir {
	silent := *d
	silent.watch = WatchOf(func() (*fsnotify.Watcher, error) { return nil, errors.New("none left") }, nil)
	return &silent
}

// WithFrames returns a Dir that archives with frames of the given size in bytes.
func (d *Dir) WithFrames(size int) *Dir {
	small := *d
	small.frameSize = int64(size)
	return &small
}

// Archive archives a journal.
func (d *Dir) Archive(ctx context.Context, id string) error {
	l, err := d.Open(ctx, id)
	if err != nil {
		return err
	}
	return l.Archive(ctx)
}

// Unarchive makes an archived journal live.
func (d *Dir) Unarchive(ctx context.Context, id string) error { return d.unarchive(ctx, id) }

// WatchOf returns a Watch that uses a given watcher of the system.
func WatchOf(open func() (*fsnotify.Watcher, error), refused func(error)) *Watch {
	return &Watch{open: open, Refused: refused}
}

// DecodeLine decodes a line, without its newline; prev is the sum of the previous
// line.
func DecodeLine(line []byte, prev Sum) (Event, error) { return decode(line, prev) }

// Woken adds a follower of a journal to a Watch, and returns the channel of its
// notifications, without the ticker.
func (w *Watch) Woken(d *Dir, id string) (woken <-chan struct{}, leave func()) {
	one := w.join(Files{d.path, id})
	return one.woken, one.leave
}

// EncodeLine encodes an event, without the newline; prev is the sum of the previous
// line.
func EncodeLine(e Event, prev Sum) []byte {
	line := encode(nil, &e, prev)
	return line[:len(line)-1]
}

// ReadHolder reads a lock file.
func ReadHolder(fsys vfs.FS, name string) Holder { return readHolder(fsys, name) }

// Stepper follows a journal step by step, without waiting.
type Stepper struct{ follower *follower }

// NewStepper returns a Stepper that has read nothing yet.
func (d *Dir) NewStepper(id string, from Position) *Stepper {
	return &Stepper{newFollower(d, Files{d.path, id}, from)}
}

// Step checks the journal once and returns the new events, but at most limit.
func (s *Stepper) Step(limit int) (events []Event, err error) {
	_, err = s.follower.deliver(context.Background(), func(e Event, _ error) bool {
		events = append(events, e)
		return len(events) < limit
	})
	return events, err
}

// Close closes the file.
func (s *Stepper) Close() { s.follower.close() }
