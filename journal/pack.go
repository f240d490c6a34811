package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/klauspost/compress/zstd"
)

// maxFrame is how much of a journal goes into one frame of its archive, in
// bytes. A frame is compressed with all of it in sight, so that a file of a
// megabyte that is quoted again and again is stored once a frame; and whoever
// looks for one line decompresses one frame.
const maxFrame = 16 << 20

// packers bounds how many frames are worked on at once. Each takes about three
// times maxFrame of memory.
const packers = 4

func workers() int { return min(packers, runtime.GOMAXPROCS(0)) }

// pack compresses a journal.
func pack(w io.Writer, journal *io.SectionReader, frameSize int, far *traveller) error {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(workers()), zstd.WithEncoderCRC(true),
		zstd.WithWindowSize(maxFrame), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return err
	}
	defer enc.Close()
	if _, err := w.Write(archiveMark); err != nil {
		return err
	}
	var frames []frame
	last := frame{packedSize: int64(len(archiveMark))}
	cut := &cutter{r: journal, size: frameSize}
	type packed struct {
		raw  int
		data []byte
	}
	err = inOrder(workers(), cut.next,
		func(part []byte) packed { return packed{len(part), enc.EncodeAll(part, nil)} },
		func(p packed) error {
			last = frame{packedAt: last.packedEnd(), packedSize: int64(len(p.data)), at: last.end(), size: int64(p.raw)}
			frames = append(frames, last)
			far.add(p.raw)
			_, err := w.Write(p.data)
			return err
		})
	if err != nil {
		return err
	}
	_, err = w.Write(appendTable(nil, frames))
	return err
}

// cutter cuts a journal into the parts that become frames. They end with a line,
// unless the line alone is longer than a frame.
type cutter struct {
	r    *io.SectionReader
	size int   // of a part at most, in bytes
	at   int64 // where the next part begins
}

func (c *cutter) next() ([]byte, error) {
	part := make([]byte, min(int64(c.size), c.r.Size()-c.at))
	if len(part) == 0 {
		return nil, io.EOF
	}
	if n, err := c.r.ReadAt(part, c.at); n < len(part) {
		return nil, err
	}
	if end := bytes.LastIndexByte(part, '\n') + 1; end > 0 {
		part = part[:end]
	}
	c.at += int64(len(part))
	return part, nil
}

var errDiffers = errors.New("what was written reads back differently")

// compare reads a new archive as its readers will, and returns an error unless
// it has all of the journal.
func compare(log File, size int64, file File, far *traveller) error {
	a, err := openArchived(file)
	if err != nil {
		return err
	}
	if a.size != size || a.broken != nil {
		return errDiffers
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(workers()), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return err
	}
	defer dec.Close()
	next := 0
	type both struct{ raw, packed []byte }
	type verdict struct {
		raw int
		err error
	}
	return inOrder(workers(), func() (b both, err error) {
		if next == len(a.frames) {
			return both{}, io.EOF
		}
		f := a.frames[next]
		next++
		if b.raw, err = readRange(log, f.at, f.end()); err == nil {
			b.packed, err = readRange(file, f.packedAt, f.packedEnd())
		}
		return b, err
	}, func(b both) verdict {
		return verdict{len(b.raw), unpacksTo(dec, b.packed, b.raw)}
	}, func(v verdict) error {
		far.add(v.raw)
		return v.err
	})
}

func unpacksTo(dec *zstd.Decoder, packed, raw []byte) error {
	got, err := dec.DecodeAll(packed, make([]byte, 0, len(raw)))
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errDiffers, err)
	case !bytes.Equal(got, raw):
		return errDiffers
	}
	return nil
}

// inOrder does work on several cores, and done with each outcome, in the order
// in which next gave out what is to be worked on; io.EOF is its end. Both next
// and done are called by the caller's goroutine alone. No more than n pieces are
// in work at once, and none when it returns.
func inOrder[In, Out any](n int, next func() (In, error), work func(In) Out, done func(Out) error) error {
	var queue []chan Out
	defer func() {
		for _, out := range queue {
			<-out
		}
	}()
	for more := true; more || len(queue) > 0; {
		if more && len(queue) < n {
			in, err := next()
			if more = err != io.EOF; !more {
				continue
			}
			if err != nil {
				return err
			}
			out := make(chan Out, 1)
			go func() { out <- work(in) }()
			queue = append(queue, out)
			continue
		}
		out := <-queue[0]
		queue = queue[1:]
		if err := done(out); err != nil {
			return err
		}
	}
	return nil
}
