package journal

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"slices"
)

// Grep yields the events of the lines in which match finds something, in order.
// It is for who looks for a needle: the lines between are neither checked nor
// decoded.
//
// match is given whole lines, as many as there are at hand, and returns the
// offset of something that interests it, or -1. Behind the line of that offset
// it is asked again. What it finds is checked against the line before it: the
// last error is a *CorruptError when that fails, unless it is a torn tail, which
// ends the events as it does in All.
func (r *Reader) Grep(match func(lines []byte) int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		stream, err := r.src.open(r.from.Offset)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer stream.Close()
		f := finder{blocks: blocks{r: stream, max: r.maxLine}, before: r.from.Sum}
		for {
			e, err := f.next(match)
			if err != nil {
				if err = r.judge(err); err != nil {
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

// judge tells what a finder stopped at. Whether a line that does not check is
// damage or torn, only those know who read all.
func (r *Reader) judge(err error) error {
	var bad *badLine
	switch {
	case err == io.EOF:
		return nil
	case errors.As(err, &bad):
		_, err = r.src.scanEnding(r.from, r.maxLine)
	}
	return err
}

// finder walks over the lines of a stream.
type finder struct {
	blocks blocks
	rest   []byte // whole lines that match has not seen
	before Sum    // of the line before rest
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
			f.pass(len(f.rest))
			continue
		}
		f.pass(bytes.LastIndexByte(f.rest[:at], '\n') + 1)
		length := bytes.IndexByte(f.rest, '\n')
		e, err := decode(bytes.Clone(f.rest[:length]), f.before)
		if err != nil {
			return Event{}, &badLine{reason: err}
		}
		f.pass(length + 1)
		return e, nil
	}
}

// pass goes over whole lines without looking at more than the sum of the last.
func (f *finder) pass(n int) {
	if n == 0 {
		return
	}
	passed := bytes.TrimSuffix(f.rest[:n], []byte("\n"))
	if _, sum, err := decodeSum(passed); err == nil {
		f.before = sum
	}
	f.rest = f.rest[n:]
}

// blocks cuts a stream into blocks of whole lines.
type blocks struct {
	r    io.Reader
	max  int    // longest line, in bytes
	buf  []byte // what was read
	done int    // of buf, how much was given out
}

// grepBlock is how much is looked through at once, in bytes: little enough to
// stay in the caches of a processor.
const grepBlock = 256 << 10

// next returns the next block, which the one after it overwrites. Half a line
// at the end of the stream is in none.
func (b *blocks) next() ([]byte, error) {
	half := b.buf[b.done:]
	b.buf = append(b.buf[:0], half...)
	b.done = 0
	for seen := 0; ; {
		if i := bytes.LastIndexByte(b.buf[seen:], '\n'); i >= 0 {
			b.done = seen + i + 1
			return b.buf[:b.done], nil
		}
		if len(b.buf) > b.max {
			return nil, &badLine{reason: errLongLine}
		}
		seen = len(b.buf)
		b.buf = slices.Grow(b.buf, grepBlock)
		n, err := b.r.Read(b.buf[seen : seen+grepBlock])
		b.buf = b.buf[:seen+n]
		switch {
		case n > 0:
		case err != nil:
			return nil, err
		default:
			return nil, io.ErrNoProgress
		}
	}
}
