package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the memory that decompressing takes, in bytes, whatever a
// file asks for. It is what the longest frame needs, and every level of the
// zstd program up to 19.
const maxWindow = maxFrame

// maxKept is how much of a decompressed archive is kept to be read again, in
// bytes: two frames, since what is asked for may lie in both.
const maxKept = 2 * maxFrame

// archived is the compressed file of a journal, open to be read from any
// offset. Each frame says how long it is, and that is checked when its end is
// reached: a seek table that lies can lead to the wrong place, but the lines
// there do not check.
type archived struct {
	file   File
	frames []frame
	size   int64 // of the journal, in bytes
	broken error // what is wrong at the end of the last frame

	kept   []byte // a part of the journal that was decompressed
	keptAt int64
	idle   *zstd.Decoder // to be used again, with its window; nil: none
}

// openArchived reads the seek table. Where there is none, the whole file counts
// as one frame, which has to be decompressed once to know how long it is.
func openArchived(file File) (*archived, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	a := &archived{file: file}
	a.frames, err = readTable(file, info.Size())
	if err == errNoTable {
		err = a.openWhole(info.Size())
	}
	if err != nil {
		return nil, err
	}
	a.size = a.frameEnd(len(a.frames))
	return a, nil
}

// openWhole makes one frame of a file without a table. What is wrong with it is
// said where its end is reached.
func (a *archived) openWhole(packedSize int64) error {
	f := frame{packedSize: packedSize}
	dec, err := a.decoder(f)
	if err != nil {
		return err
	}
	if f.size, a.broken = io.Copy(io.Discard, dec); isOfDisk(a.broken) {
		return a.broken
	}
	a.frames = []frame{f}
	if a.broken != nil {
		return nil
	}
	mark, err := readRange(a.file, 0, min(packedSize, int64(len(archiveMark))))
	if len(mark) == 0 || bytes.Equal(mark, archiveMark) {
		a.broken = errNoTable // else it would seem whole when it was cut between two frames
	}
	return err
}

// isOfDisk tells what the system says from what is wrong with an archive.
func isOfDisk(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path)
}

// frameEnd is where the first n frames end.
func (a *archived) frameEnd(n int) int64 {
	if n == 0 {
		return 0
	}
	return a.frames[n-1].end()
}

// decoder decompresses a frame. It is the idle one, or a new one; with a
// concurrency of 1 it has nothing that would have to be closed.
func (a *archived) decoder(f frame) (*zstd.Decoder, error) {
	if dec := a.idle; dec != nil {
		a.idle = nil
		return dec, dec.Reset(a.packed(f))
	}
	return zstd.NewReader(a.packed(f), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
}

func (a *archived) packed(f frame) io.Reader {
	return io.NewSectionReader(a.file, f.packedAt, f.packedSize)
}

// frameBetween is where a frame begins, behind one offset and before another,
// near their middle; -1 when none does.
func (a *archived) frameBetween(from, to int64) int64 {
	for i := a.frameOf(from + (to-from)/2); i < len(a.frames) && a.frames[i].at < to; i++ {
		if a.frames[i].at > from {
			return a.frames[i].at
		}
	}
	return -1
}

// frameOf is the number of the frame that has the byte at an offset, or of an
// empty one directly before it, which a seek table that hides something has.
func (a *archived) frameOf(offset int64) int {
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

// open reads the journal from an offset on. What lies before it in its frame is
// decompressed and dropped, unless it is kept.
func (a *archived) open(offset int64) (io.ReadCloser, error) {
	if skip := offset - a.keptAt; skip >= 0 && skip < int64(len(a.kept)) {
		return &keptReader{a: a, kept: a.kept[skip:], end: a.keptAt + int64(len(a.kept))}, nil
	}
	next := a.frameOf(offset)
	r := &frameReader{a: a, next: next}
	if _, err := io.CopyN(io.Discard, r, offset-a.frameEnd(next)); err != nil && err != io.EOF {
		r.Close()
		return nil, err
	}
	return r, nil
}

// keep makes a part of the journal ready to be opened at any place of it and as
// often as asked. All of the frames that it lies in is kept, if that is not too
// much.
func (a *archived) keep(from, to int64) error {
	if from >= to || to > a.size || from >= a.keptAt && to <= a.keptAt+int64(len(a.kept)) {
		return nil
	}
	first, last := a.frameOf(from), a.frameOf(to-1)
	for a.frames[last].end() < to {
		last++
	}
	if start, end := a.frames[first].at, a.frames[last].end(); end-start <= maxKept {
		from, to = start, end
	} else {
		from = min(from, max(start, to-maxFrame))
	}
	a.kept, a.keptAt = nil, 0
	r, err := a.open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	part := make([]byte, to-from)
	if _, err := io.ReadFull(r, part); err != nil {
		return err
	}
	a.kept, a.keptAt = part, from
	return nil
}

// keptReader reads what is kept and then what follows.
type keptReader struct {
	a    *archived
	kept []byte
	end  int64
	rest io.ReadCloser // nil: not yet
}

func (r *keptReader) Read(p []byte) (n int, err error) {
	if len(r.kept) > 0 {
		n = copy(p, r.kept)
		r.kept = r.kept[n:]
		return n, nil
	}
	if r.rest == nil {
		if r.rest, err = r.a.open(r.end); err != nil {
			return 0, err
		}
	}
	return r.rest.Read(p)
}

func (r *keptReader) Close() error {
	if r.rest == nil {
		return nil
	}
	return r.rest.Close()
}

// frameReader reads one frame after another.
type frameReader struct {
	a    *archived
	next int
	dec  *zstd.Decoder // of the frame before next; nil: nothing was read yet
	left int64         // what that one still has to give, in bytes
}

var errFrameSize = errors.New("a part of it is not as long as its seek table says")

func (r *frameReader) Read(p []byte) (int, error) {
	for r.left == 0 {
		if err := r.advance(); err != nil {
			return 0, err
		}
	}
	n, err := r.dec.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	switch {
	case err == io.EOF && r.left > 0:
		return n, errFrameSize
	case err == io.EOF:
		return n, nil
	}
	return n, err
}

// advance ends one frame and begins the next.
func (r *frameReader) advance() (err error) {
	if r.dec != nil {
		if err := atEnd(r.dec); err != nil {
			return err
		}
	}
	if r.next == len(r.a.frames) {
		return cmp.Or(r.a.broken, io.EOF)
	}
	f := r.a.frames[r.next]
	r.Close()
	if r.dec, err = r.a.decoder(f); err != nil {
		return err
	}
	r.next, r.left = r.next+1, f.size
	return nil
}

// atEnd returns nil when a frame is over, and its checksum right.
func atEnd(r io.Reader) error {
	n, err := io.ReadFull(r, make([]byte, 1))
	switch {
	case n > 0:
		return errFrameSize
	case err == io.EOF:
		return nil
	}
	return err
}

// Close leaves the decoder to the next reader.
func (r *frameReader) Close() error {
	if r.dec != nil {
		r.a.idle, r.dec = r.dec, nil
	}
	return nil
}

// archiveSource opens the compressed journal.
func (f files) archiveSource(fsys FS) (source, io.Closer, error) {
	file, err := fsys.OpenFile(f.archivePath(), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return source{}, nil, fmt.Errorf("%s: %w", f.path(), ErrNotFound)
	}
	if err != nil {
		return source{}, nil, err
	}
	a, err := openArchived(file)
	if err != nil {
		file.Close()
		return source{}, nil, err
	}
	return source{path: f.archivePath(), size: a.size, open: a.open, keep: a.keep, cheap: a.frameBetween}, file, nil
}
