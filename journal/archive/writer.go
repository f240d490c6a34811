package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/klauspost/compress/zstd"
)

// maxFrame is how many bytes of a journal go into one frame of its archive. The
// window of a frame covers all of it, so that a text of a megabyte that is quoted
// repeatedly is stored once per frame; reading one line decompresses one frame.
const maxFrame = 16 << 20

// blockSize is how many bytes are read and compared at once.
const blockSize = 256 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maxEncoders bounds how many frames are compressed at once. Each encoder takes
// maxFrame of memory and its output; reading back takes maxFrame once.
const maxEncoders = 4

// writer writes the archive of a journal. While some frames are being
// compressed, the one before them is written, read back and compared.
type writer struct {
	journal   *io.SectionReader
	archive   *Archive // what is written of it; without a file, it is only counted
	fileSize  int64    // of the archive
	frameSize int64    // at most
	sum       uint32   // of the bytes that were written
	got, want []byte   // buffers for comparing
	progress  func(n int64)
}

// Write writes the archive of a journal to an empty file, in frames of at most frameSize
// bytes, or 16 MiB if that is 0. It returns nil only if the whole journal reads back from
// the archive. When ctx is done, it stops with its error. It calls progress, from its
// goroutine, with numbers of bytes that were written, and again when they were read back.
func Write(
	ctx context.Context, file vfs.File, journal *io.SectionReader, frameSize int64, progress func(n int64),
) error {
	w := newWriter(&Archive{file: file}, journal, frameSize, progress)
	if err := w.writeAll(ctx); err != nil {
		return err
	}
	reopened, err := Open(file)
	if err == nil && !slices.Equal(reopened.frames, w.archive.frames) {
		return errDiffers
	}
	return err
}

// Size returns the length in bytes of the archive that Write would write of a journal, which it compresses but does not
// write. When ctx is done, it stops with its error. It calls progress, from its goroutine, with numbers of bytes that
// were compressed.
func Size(
	ctx context.Context, journal *io.SectionReader, frameSize int64, progress func(n int64),
) (size int64, err error) {
	w := newWriter(&Archive{}, journal, frameSize, progress)
	err = w.writeAll(ctx)
	return w.fileSize, err
}

func newWriter(to *Archive, journal *io.SectionReader, frameSize int64, progress func(n int64)) *writer {
	if frameSize == 0 {
		frameSize = maxFrame
	}
	return &writer{
		journal: journal, archive: to, frameSize: frameSize,
		got: make([]byte, blockSize), want: make([]byte, blockSize), progress: progress,
	}
}

// writeAll writes the archive, and reads back and compares the frames.
func (w *writer) writeAll(ctx context.Context) error {
	if err := w.write(fileMark, 0); err != nil {
		return err
	}
	if err := w.writeFrames(ctx); err != nil {
		return err
	}
	w.archive.frames = append(w.archive.frames, frame{
		fileOffset: w.archive.frames[len(w.archive.frames)-1].fileEnd(), fileSize: checksumLen, offset: w.archive.size,
	})
	table := appendTable(nil, w.archive.frames)
	return w.append(append(appendChecksum(nil, w.sum, table), table...))
}

// append writes the next bytes of the archive's file, if it has one.
func (w *writer) append(data []byte) error {
	w.fileSize += int64(len(data))
	if w.archive.file == nil {
		return nil
	}
	_, err := w.archive.file.Write(data)
	return err
}

// writeFrames uses the encoders in turn, so that the frames are written in
// order.
func (w *writer) writeFrames(ctx context.Context) error {
	encoders, err := newEncoders(w.journal.Size(), w.frameSize)
	if err != nil {
		return err
	}
	defer func() {
		for _, e := range encoders {
			e.working.Wait()
		}
	}()
	started := int64(0)
	for turn := 0; w.archive.size < w.journal.Size(); turn++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := encoders[turn%len(encoders)]
		if err := w.finish(e); err != nil {
			return err
		}
		end, err := w.frameEnd(started)
		if err != nil {
			return err
		}
		e.start(w.journal, started, end-started)
		started = end
	}
	return nil
}

// frameEnd returns where the frame that starts at an offset ends: at the end of a
// line, unless that line alone is longer than a frame.
func (w *writer) frameEnd(start int64) (int64, error) {
	last := min(start+w.frameSize, w.journal.Size())
	for end := last; end > start; {
		block := w.want[:min(end-start, blockSize)]
		end -= int64(len(block))
		if n, err := w.journal.ReadAt(block, end); n < len(block) {
			return 0, err
		}
		if i := bytes.LastIndexByte(block, '\n'); i >= 0 {
			return end + int64(i) + 1, nil
		}
	}
	return last, nil
}

// finish waits for an encoder and adds its frame to the archive.
func (w *writer) finish(e *frameEncoder) error {
	e.working.Wait()
	if e.err != nil || e.size == 0 {
		return e.err
	}
	offset := w.archive.size
	if err := w.write(e.compressed.Bytes(), e.size); err != nil {
		return err
	}
	w.progress(e.size)
	if w.archive.file == nil {
		return nil
	}
	if err := w.compare(offset); err != nil {
		return err
	}
	w.progress(e.size)
	return nil
}

// write appends a frame that holds size bytes of the journal.
func (w *writer) write(compressed []byte, size int64) error {
	f := frame{offset: w.archive.size, size: size, fileSize: int64(len(compressed))}
	if n := len(w.archive.frames); n > 0 {
		f.fileOffset = w.archive.frames[n-1].fileEnd()
	}
	w.archive.frames, w.archive.size = append(w.archive.frames, f), f.end()
	w.sum = crc32.Update(w.sum, castagnoli, compressed)
	return w.append(compressed)
}

var errDiffers = errors.New("the archive reads back differently")

// compare reads the archive from an offset on, as its readers do, and returns nil
// if it has the same bytes as the journal.
func (w *writer) compare(offset int64) error {
	r, err := w.archive.Reader(offset)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		n, err := r.Read(w.got)
		if m, err := w.journal.ReadAt(w.want[:n], offset); m < n {
			return err
		}
		switch {
		case !bytes.Equal(w.got[:n], w.want[:n]):
			return errDiffers
		case err == io.EOF: // after all bytes that the frame should have
			return nil
		case err != nil:
			return fmt.Errorf("%w: %w", errDiffers, err)
		}
		offset += int64(n)
	}
}

// frameEncoder compresses one frame after another.
type frameEncoder struct {
	enc        *zstd.Encoder
	working    sync.WaitGroup
	size       int64 // of the part of the journal that it compresses; 0: none
	compressed bytes.Buffer
	err        error
}

// newEncoders returns an encoder per core, but no more than a journal of the
// given size needs.
func newEncoders(size, frameSize int64) ([]*frameEncoder, error) {
	encoders := make([]*frameEncoder, min(maxEncoders, int64(runtime.GOMAXPROCS(0)), 1+size/frameSize))
	// The smallest window that covers a frame. A smaller one is slower, since most
	// of the time goes into moving it.
	window := max(zstd.MinWindowSize, 1<<bits.Len64(uint64(max(min(size, frameSize), 1)-1)))
	for i := range encoders {
		// Entropy compression of all literals shrinks data without repetitions,
		// such as an image in base64.
		enc, err := zstd.NewWriter(nil,
			zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true), zstd.WithAllLitEntropyCompression(true),
			zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
		if err != nil {
			return nil, err
		}
		encoders[i] = &frameEncoder{enc: enc}
	}
	return encoders, nil
}

// start compresses a part of a journal, if it is not empty, in a goroutine.
func (e *frameEncoder) start(journal io.ReaderAt, offset, size int64) {
	if e.size = size; size == 0 {
		return
	}
	e.compressed.Reset()
	e.enc.ResetContentSize(&e.compressed, size)
	e.working.Go(func() {
		if _, e.err = e.enc.ReadFrom(io.NewSectionReader(journal, offset, size)); e.err == nil {
			e.err = e.enc.Close()
		}
	})
}
