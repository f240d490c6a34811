package lines

import (
	"bytes"
	"errors"
	"io"
	"math"
)

// blockSize is how many bytes are read at once; firstBlock is how many are read
// at first, since most streams are shorter than a block.
const (
	blockSize  = 256 << 10
	firstBlock = 16 << 10
)

// ErrTooLong is returned by Next for a line longer than the limit.
var ErrTooLong = errors.New("line is too long")

// Reader reads the lines of a stream. It returns only lines that end in a
// newline: what follows the last newline stays buffered until the stream has
// grown. So a Reader can also read a file that is still being written, or a
// bytes.Buffer to which the caller writes.
type Reader struct {
	r     io.Reader
	limit int
	err   error // returned by r together with data; not yet reported

	pending  []byte // read and not yet returned; a part of block, up to its end
	block    []byte // reused while lines are not much longer or shorter than it
	searched int    // the first bytes of pending that contain no newline
}

// NewReader returns a Reader of the lines of r that have at most limit bytes,
// the newline included.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{r: r, limit: min(limit, math.MaxInt-blockSize)}
}

// Limit returns the length of the longest line that Next returns, in bytes,
// the newline included.
func (l *Reader) Limit() int { return l.limit }

// Next returns the next line without its newline. The line is valid until the
// next call of Next or Skip. It returns io.EOF at the end of the stream; Rest
// returns an unterminated last line, and a later Next continues if the stream
// has grown. It returns ErrTooLong, repeatedly, until Skip discards the line.
func (l *Reader) Next() ([]byte, error) {
	for {
		if i := bytes.IndexByte(l.pending[l.searched:], '\n'); i >= 0 {
			end := l.searched + i
			if end >= l.limit {
				return nil, ErrTooLong
			}
			line := l.pending[:end:end]
			l.pending, l.searched = l.pending[end+1:], 0
			return line, nil
		}
		if len(l.pending) > l.limit {
			return nil, ErrTooLong
		}
		l.searched = len(l.pending)
		if err := l.fill(); err != nil {
			return nil, err
		}
	}
}

// Rest returns the bytes after the last line that Next returned or Skip
// discarded, as far as they have been read. After io.EOF that is the
// unterminated last line. It is valid until the next call of Next or Skip.
func (l *Reader) Rest() []byte { return l.pending }

// More reports whether the stream has another byte. It blocks until that is
// known, and returns an error of reading other than io.EOF.
func (l *Reader) More() (bool, error) {
	if len(l.pending) > 0 {
		return true, nil
	}
	err := l.fill()
	if err == io.EOF {
		return false, nil
	}
	return err == nil, err
}

// Skip discards the next line, whatever its length, and returns that length in
// bytes, the newline included. It passes the pieces of the line, without the
// newline, to each, which may be nil. It returns io.EOF if the stream ends
// before the line does; a later Skip or Next then continues within the line.
func (l *Reader) Skip(each func(piece []byte)) (length int64, err error) {
	if each == nil {
		each = func([]byte) {}
	}
	l.searched = 0
	for {
		if i := bytes.IndexByte(l.pending, '\n'); i >= 0 {
			each(l.pending[:i])
			l.pending = l.pending[i+1:]
			return length + int64(i) + 1, nil
		}
		each(l.pending)
		length += int64(len(l.pending))
		l.pending = l.pending[:0]
		if err := l.fill(); err != nil {
			return length, err
		}
	}
}

// fill reads more bytes to the end of pending.
func (l *Reader) fill() error {
	if err := l.err; err != nil {
		l.err = nil
		return err
	}
	if cap(l.pending)-len(l.pending) <= len(l.block)/4 {
		// Move pending to the beginning of a block, which grows to at most the longest
		// line and one block.
		size := max(firstBlock, min(4*len(l.block), blockSize), min(2*len(l.pending), l.limit+blockSize))
		resize := len(l.block) < size || len(l.block) > 2*size
		if resize {
			l.block = make([]byte, size)
		}
		// A line at the start of its block stays there: copying it for each read would take
		// quadratic time.
		if resize || cap(l.pending) < len(l.block) {
			l.pending = l.block[:copy(l.block, l.pending)]
		}
	}
	for range 100 {
		n, err := l.r.Read(l.pending[len(l.pending):cap(l.pending)])
		l.pending = l.pending[:len(l.pending)+n]
		if n > 0 {
			l.err = err
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}
