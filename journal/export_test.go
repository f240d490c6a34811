package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/fsnotify/fsnotify"
)

// WithoutNotifications makes a Dir that gets no file notifications, as on a
// system that has none left.
func (d *Dir) WithoutNotifications() *Dir {
	silent := *d
	silent.watch = WatchOf(func() (*fsnotify.Watcher, error) { return nil, errors.New("none left") }, nil)
	return &silent
}

// WithFrames makes a Dir that puts so many bytes of a journal into one frame of
// its archive.
func (d *Dir) WithFrames(size int) *Dir {
	small := *d
	small.frameSize = int64(size)
	return &small
}

// Compress compresses a live journal as on its way to the archive, on one core,
// and returns how long its frames are, in bytes.
func (d *Dir) Compress(id string) (size int64, err error) {
	f, err := d.files(id)
	if err != nil {
		return 0, err
	}
	src, file, err := f.liveSource(d.fs)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return compressAll(io.NewSectionReader(file.(File), 0, src.size), d.frameSize)
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

// SaysItHasATable reports whether a file begins or ends as an archive with a
// seek table does.
func SaysItHasATable(data []byte) bool {
	return bytes.HasPrefix(data, archiveMark) || len(data) >= 4 && binary.LittleEndian.Uint32(data[len(data)-4:]) == footerMagic
}

// WatchOf makes a Watch that gets its notifications from a given watcher.
func WatchOf(open func() (*fsnotify.Watcher, error), refused func(error)) *Watch {
	return &Watch{open: open, Refused: refused}
}

// DecodeLine reads a line, without its newline, behind one with the sum prev.
func DecodeLine(line []byte, prev Sum) (Event, error) { return decode(line, prev) }

// Woken joins a Watch as a follower of a journal does, and returns what tells of
// notifications alone, without the ticker.
func (w *Watch) Woken(d *Dir, id string) (woken <-chan struct{}, leave func()) {
	one := w.join(files{d.path, id})
	return one.woken, one.leave
}

// EncodeLine is the line of an event, without its newline, behind one with the
// sum prev.
func EncodeLine(e Event, prev Sum) []byte {
	line := encode(nil, &e, prev)
	return line[:len(line)-1]
}

// ReadHolder reads a lock file.
func ReadHolder(fsys FS, name string) Holder { return readHolder(fsys, name) }

// Stepper follows a journal when it is told to, and waits for nothing.
type Stepper struct{ follower *follower }

// NewStepper is a Follow that has not looked yet.
func (d *Dir) NewStepper(id string, from Position) *Stepper {
	return &Stepper{newFollower(d, files{d.path, id}, from)}
}

// Step looks once and returns what there is, but not more than limit events.
func (s *Stepper) Step(limit int) (events []Event, err error) {
	_, err = s.follower.deliver(context.Background(), func(e Event, _ error) bool {
		events = append(events, e)
		return len(events) < limit
	})
	return events, err
}

// Close releases the file.
func (s *Stepper) Close() { s.follower.close() }
