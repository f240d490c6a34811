package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"

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

// Compress compresses a live journal as for its archive, on one core, and returns
// the length of its frames in bytes.
func (d *Dir) Compress(id string) (size int64, err error) {
	f, err := d.files(id)
	if err != nil {
		return 0, err
	}
	src, file, err := f.openSource(d.fs)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return compressAll(io.NewSectionReader(file, 0, src.size), d.frameSize)
}

func compressAll(journal *io.SectionReader, frameSize int64) (size int64, err error) {
	w := &archiveWriter{journal: journal, frameSize: frameSize, want: make([]byte, blockSize)}
	encoders, err := newEncoders(journal.Size(), frameSize)
	if err != nil {
		return 0, err
	}
	for at, end := int64(0), int64(0); at < journal.Size(); at = end {
		if end, err = w.frameEnd(at); err != nil {
			return 0, err
		}
		encoders[0].start(journal, at, end-at)
		encoders[0].working.Wait()
		if encoders[0].err != nil {
			return 0, encoders[0].err
		}
		size += int64(encoders[0].compressed.Len())
	}
	return size, nil
}

// LooksSeekable reports whether a file starts or ends like an archive with a seek
// table.
func LooksSeekable(data []byte) bool {
	return bytes.HasPrefix(data, archiveMark) || bytes.HasPrefix(data, emptyMark) || len(data) >= 4 &&
		binary.LittleEndian.Uint32(data[len(data)-4:]) == footerMagic
}

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
	one := w.join(files{d.path, id})
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
	return &Stepper{newFollower(d, files{d.path, id}, from)}
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
