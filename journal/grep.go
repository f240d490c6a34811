package journal

import (
	"bytes"
	"cmp"
	"io"
	"iter"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Grep returns the events of the lines in which match finds something, in order.
// It neither checks nor decodes the other lines.
//
// match is called with complete lines, as many as are buffered. It returns the
// offset of a match, or -1, and is called again with the lines after that match.
// The line of a match is checked against the previous line. If it is invalid, a
// *CorruptError ends the sequence, unless the line is in a torn tail, which ends
// the events as in All.
func (r *Reader) Grep(match func(lines []byte) int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		stream, err := r.src.open(r.from.Offset)
		if err != nil {
			yield(Event{}, r.src.readError(r.from, err))
			return
		}
		defer stream.Close()
		f := finder{blocks: blocks{r: stream, max: r.maxLine}, prev: r.from.Sum}
		for {
			e, err := f.next(match)
			if err != nil {
				if err = r.grepError(err); err != nil {
					yield(Event{}, err)
				}
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// grepError returns the error to report when a finder stops. Only reading all
// lines can tell whether an invalid line is corrupt or torn, and at which line an
// archive is corrupt.
func (r *Reader) grepError(err error) error {
	if err == io.EOF {
		return nil
	}
	if !vfs.IsFileError(err) {
		_, err = r.src.scanTail(r.from, r.maxLine)
	}
	return err
}

// finder searches the lines of a stream.
type finder struct {
	blocks blocks
	rest   []byte // complete lines that match has not seen
	prev   Sum    // of the line before rest
}

func (f *finder) next(match func([]byte) int) (Event, error) {
	for {
		if len(f.rest) == 0 {
			var err error
			if f.rest, err = f.blocks.next(); err != nil {
				return Event{}, err
			}
		}
		at := match(f.rest)
		if at < 0 {
			f.skip(len(f.rest))
			continue
		}
		f.skip(bytes.LastIndexByte(f.rest[:at], '\n') + 1)
		length := bytes.IndexByte(f.rest, '\n')
		e, err := decode(bytes.Clone(f.rest[:length]), f.prev)
		if err != nil {
			return Event{}, &lineError{reason: err}
		}
		f.skip(length + 1)
		return e, nil
	}
}

// skip skips n bytes of complete lines, of which it reads only the last sum.
func (f *finder) skip(n int) {
	if n == 0 {
		return
	}
	skipped := bytes.TrimSuffix(f.rest[:n], []byte("\n"))
	if _, sum, err := decodeSum(skipped); err == nil {
		f.prev = sum
	}
	f.rest = f.rest[n:]
}

// blocks splits a stream into blocks of complete lines.
type blocks struct {
	r    io.Reader
	max  int    // longest line, in bytes
	buf  []byte // what was read
	done int    // of buf, the bytes that were returned
}

// grepBlock is how many bytes are searched at once: few enough for the caches of
// a processor.
const grepBlock = 256 << 10

// next returns the next block, which is valid until the next call. It drops an
// incomplete line at the end of the stream.
func (b *blocks) next() ([]byte, error) {
	partial := b.buf[b.done:]
	b.buf = append(b.buf[:0], partial...)
	b.done = 0
	for searched := 0; ; {
		if i := bytes.LastIndexByte(b.buf[searched:], '\n'); i >= 0 {
			b.done = searched + i + 1
			return b.buf[:b.done], nil
		}
		if len(b.buf) > b.max {
			return nil, &lineError{reason: errLongLine}
		}
		searched = len(b.buf)
		b.buf = slices.Grow(b.buf, grepBlock)
		n, err := b.r.Read(b.buf[searched : searched+grepBlock])
		b.buf = b.buf[:searched+n]
		if n == 0 {
			return nil, cmp.Or(err, io.ErrNoProgress)
		}
	}
}
