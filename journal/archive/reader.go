package archive

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory for decompression, in bytes, whatever a file
// declares. It suffices for the longest frame, and for every level of the zstd
// program up to 19.
const maxWindow = maxFrame

// MaxPrefetch bounds the bytes that Prefetch caches: two frames, since a
// requested range may extend over both.
const MaxPrefetch = 2 * maxFrame

// Archive is the compressed file of a journal. It can be read from any offset, by one goroutine.
// The length of each frame is checked when its end is reached. A wrong seek
// table can lead to a wrong place, but the lines there fail their checksums.
type Archive struct {
	file   vfs.File
	frames []frame
	size   int64 // of the journal, in bytes
	endErr error // what is wrong at the end of the last frame

	cache       []byte // a part of the journal, decompressed
	cacheOffset int64
	idle        *zstd.Decoder // reused, with its window; nil: none
	fileErr     error         // of reading the current frame; a decoder may return another error instead
}

// Open reads the seek table of an archive. A file without one is treated as one frame,
// which has to be decompressed once to know its length. The caller closes the file when it
// no longer uses the Archive.
func Open(file vfs.File) (*Archive, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	a := &Archive{file: file}
	a.frames, err = readTable(file, info.Size())
	if err == errNoTable {
		err = a.openWithoutTable(info.Size())
	}
	if err != nil {
		return nil, err
	}
	a.size = a.frameEnd(len(a.frames))
	return a, nil
}

// openWithoutTable makes one frame of the whole file. A defect of the frame is
// reported when its end is reached.
func (a *Archive) openWithoutTable(fileSize int64) error {
	f := frame{fileSize: fileSize}
	dec, err := a.decoder(f)
	if err != nil {
		return err
	}
	if f.size, a.endErr = io.Copy(io.Discard, dec); a.fileErr != nil {
		return a.fileErr
	}
	a.frames = []frame{f}
	if a.endErr != nil {
		return nil
	}
	mark, err := readRange(a.file, 0, min(fileSize, int64(len(fileMark))))
	if len(mark) == 0 || bytes.HasPrefix(mark, emptyMark) || bytes.HasPrefix(mark, fileMark[:len(emptyMark)]) {
		a.endErr = errNoTable // the file may have been cut between two frames
	}
	return err
}

// Size returns the length of the journal, in bytes.
func (a *Archive) Size() int64 { return a.size }

// frameEnd returns the offset in the journal at which the first n frames end.
func (a *Archive) frameEnd(n int) int64 {
	if n == 0 {
		return 0
	}
	return a.frames[n-1].end()
}

// decoder returns a decoder of a frame: the idle one, or a new one. With a
// concurrency of 1, a decoder needs no Close.
func (a *Archive) decoder(f frame) (*zstd.Decoder, error) {
	compressed := fileReader{io.NewSectionReader(a.file, f.fileOffset, f.fileSize), a}
	a.fileErr = nil
	if dec := a.idle; dec != nil {
		a.idle = nil
		return dec, dec.Reset(compressed)
	}
	return zstd.NewReader(compressed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
}

// fileReader reads a frame, and keeps the error of the file.
type fileReader struct {
	io.Reader
	a *Archive
}

func (r fileReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if vfs.IsFileError(err) {
		r.a.fileErr = err
	}
	return n, err
}

// FrameBetween returns the offset of a frame that starts after one offset and
// before another, near their middle, or -1 if there is none.
func (a *Archive) FrameBetween(from, to int64) int64 {
	for i := a.frameAt(from + (to-from)/2); i < len(a.frames) && a.frames[i].offset < to; i++ {
		if a.frames[i].offset > from {
			return a.frames[i].offset
		}
	}
	return -1
}

// frameAt returns the index of the frame that contains the byte at an offset, or
// of the first of the empty frames directly before it. Only a forged seek table
// has empty frames.
func (a *Archive) frameAt(offset int64) int {
	i, _ := slices.BinarySearchFunc(a.frames, offset, func(f frame, offset int64) int {
		if f.end() <= offset {
			return -1
		}
		return 1
	})
	for i > 0 && a.frames[i-1].size == 0 {
		i--
	}
	return i
}

// Reader reads the journal from an offset on. Unless that part is cached, the
// bytes of the frame before the offset are decompressed and dropped.
func (a *Archive) Reader(offset int64) (io.ReadCloser, error) {
	if skip := offset - a.cacheOffset; skip >= 0 && skip < int64(len(a.cache)) {
		return &cacheReader{a: a, cached: a.cache[skip:], end: a.cacheOffset + int64(len(a.cache))}, nil
	}
	next := a.frameAt(offset)
	r := &frameReader{a: a, next: next}
	if _, err := io.CopyN(io.Discard, r, offset-a.frameEnd(next)); err != nil && err != io.EOF {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Prefetch caches a part of the journal, so that Reader is cheap within it. It
// caches all frames of that part unless they are too long.
func (a *Archive) Prefetch(from, to int64) error {
	if from >= to || to > a.size || from >= a.cacheOffset && to <= a.cacheOffset+int64(len(a.cache)) {
		return nil
	}
	first, last := a.frameAt(from), a.frameAt(to-1)
	for a.frames[last].end() < to {
		last++
	}
	if start, end := a.frames[first].offset, a.frames[last].end(); end-start <= MaxPrefetch {
		from, to = start, end
	} else {
		from = min(from, max(start, to-maxFrame))
	}
	a.cache, a.cacheOffset = nil, 0
	r, err := a.Reader(from)
	if err != nil {
		return err
	}
	defer r.Close()
	part := make([]byte, to-from)
	if _, err := io.ReadFull(r, part); err != nil {
		return err
	}
	a.cache, a.cacheOffset = part, from
	return nil
}

// cacheReader reads the cache and then the frames after it.
type cacheReader struct {
	a      *Archive
	cached []byte
	end    int64
	frames io.ReadCloser // nil: not opened yet
}

func (r *cacheReader) Read(p []byte) (n int, err error) {
	if len(r.cached) > 0 {
		n = copy(p, r.cached)
		r.cached = r.cached[n:]
		return n, nil
	}
	if r.frames == nil {
		if r.frames, err = r.a.Reader(r.end); err != nil {
			return 0, err
		}
	}
	return r.frames.Read(p)
}

func (r *cacheReader) Close() error {
	if r.frames == nil {
		return nil
	}
	return r.frames.Close()
}

// frameReader reads one frame after another.
type frameReader struct {
	a    *Archive
	next int
	dec  *zstd.Decoder // of the frame before next; nil: nothing was read yet
	left int64         // unread bytes of that frame
}

var errFrameSize = errors.New("the length of a frame differs from the seek table")

func (r *frameReader) Read(p []byte) (int, error) {
	for r.left == 0 {
		if err := r.advance(); err != nil {
			return 0, err
		}
	}
	n, err := r.dec.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	switch {
	case r.a.fileErr != nil:
		return n, r.a.fileErr
	case n > 0:
		return n, nil // the decoder returns an error again
	case err == io.EOF:
		return 0, errFrameSize
	}
	return 0, err
}

// advance checks the end of the current frame and starts the next one.
func (r *frameReader) advance() (err error) {
	if r.dec != nil {
		if err := checkFrameEnd(r.dec); err != nil {
			return cmp.Or(r.a.fileErr, err)
		}
	}
	if r.next == len(r.a.frames) {
		return cmp.Or(r.a.endErr, io.EOF)
	}
	f := r.a.frames[r.next]
	r.Close()
	if r.dec, err = r.a.decoder(f); err != nil {
		return err
	}
	r.next, r.left = r.next+1, f.size
	return nil
}

// checkFrameEnd returns nil if the frame ends here and its checksum matches.
func checkFrameEnd(r io.Reader) error {
	n, err := io.ReadFull(r, make([]byte, 1))
	switch {
	case n > 0:
		return errFrameSize
	case err == io.EOF:
		return nil
	}
	return err
}

// Close makes the decoder available to the next reader.
func (r *frameReader) Close() error {
	if r.dec != nil {
		r.a.idle, r.dec = r.dec, nil
	}
	return nil
}
