package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// Reader reads the events of one journal in order. It takes no lock and writes
// nothing; a writer may append meanwhile.
type Reader struct {
	src     source
	file    io.Closer
	from    Position
	maxLine int
	end     ending
}

// Reader opens a journal, live or archived, to be read from a position on. The
// zero Position is its beginning; any other must come from the same journal.
// It returns ErrNotFound when there is none.
func (d *Dir) Reader(id string, from Position) (*Reader, error) {
	f, err := d.files(id)
	if err != nil {
		return nil, err
	}
	src, file, err := f.source(d.fs)
	if err != nil {
		return nil, err
	}
	return &Reader{src: src, file: file, from: from, maxLine: d.maxLine, end: ending{at: from}}, nil
}

// Check checks the last 8 MiB of a journal as Open does, without a lock. It
// returns nil, ErrNotFound, a *CorruptError, or an error of reading. A torn tail
// is no error.
func (d *Dir) Check(id string) error {
	f, err := d.files(id)
	if err != nil {
		return err
	}
	src, file, err := f.source(d.fs)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = src.findEnding(d.maxLine)
	return err
}

// source opens whichever file the journal is in.
func (f files) source(fsys FS) (src source, file io.Closer, err error) {
	for range looks {
		if src, file, err = f.liveSource(fsys); !errors.Is(err, ErrNotFound) {
			break
		}
		if src, file, err = f.archiveSource(fsys); !errors.Is(err, ErrNotFound) {
			break
		}
	}
	return src, file, err
}

func (f files) liveSource(fsys FS) (source, io.Closer, error) {
	file, err := fsys.OpenFile(f.path(), os.O_RDONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return source{}, nil, fmt.Errorf("%s: %w", f.path(), ErrNotFound)
	}
	if err != nil {
		return source{}, nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return source{}, nil, err
	}
	return fileSource(f.path(), file, info.Size()), file, nil
}

// All yields the events up to the end of the journal as it was when the Reader
// was opened. A last error is a *CorruptError, or one of reading. A torn tail
// is no error: it ends the events, and Torn tells.
func (r *Reader) All() iter.Seq2[Event, error] { return r.After(r.from) }

// After yields the events behind a position of the journal, as All does.
func (r *Reader) After(p Position) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for e, err := range r.ScanAfter(p) {
			e.Data = bytes.Clone(e.Data)
			if !yield(e, err) {
				return
			}
		}
	}
}

// Scan is All for who keeps no event, and takes less than half of its time: the
// Data of an event is there until the next one is asked for, and then another's.
func (r *Reader) Scan() iter.Seq2[Event, error] { return r.ScanAfter(r.from) }

// ScanAfter is After for who keeps no event, as Scan is All.
func (r *Reader) ScanAfter(p Position) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r.end = ending{at: p}
		stream, err := r.src.open(p.Offset)
		if err != nil {
			yield(Event{}, r.src.unreadable(p, err))
			return
		}
		defer stream.Close()
		sc := newScanner(stream, p, r.maxLine)
		for {
			e, err := sc.next()
			if err != nil {
				if r.end, err = r.src.ended(sc, err, r.maxLine); err != nil {
					yield(Event{}, err)
				}
				return
			}
			r.end.at = sc.at
			if !yield(e, nil) {
				return
			}
		}
	}
}

// CheckChain goes through all events as Scan does, and checks their sums and
// numbers alone, which takes less time. Its error is the last one of Scan, which may end
// sooner: at a line that somebody has sealed and that is no event.
// Position and Torn tell where the events end, and how.
func (r *Reader) CheckChain() (err error) {
	r.end, err = r.src.endBy((*scanner).checkChain, r.from, r.maxLine)
	return err
}

// Position is behind the last event that was yielded.
func (r *Reader) Position() Position { return r.end.at }

// Torn is what All or its likes, once they are done, or End found behind the last
// good line.
func (r *Reader) Torn() Torn { return r.end.torn }

// Grown reports whether the file has more bytes now than when the Reader was
// opened: somebody writes to it, and what was torn may be whole.
func (r *Reader) Grown() bool {
	file, ok := r.file.(File)
	if !ok || r.src.archived() {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Size() > r.src.size
}

// Close releases the file.
func (r *Reader) Close() error { return r.file.Close() }

// Holds reports whether a position is one of this journal: whether a line with
// that sequence number and sum ends there.
func (r *Reader) Holds(p Position) bool {
	if p == (Position{}) {
		return true
	}
	if p.Offset < 0 || p.Offset > r.src.size {
		return false
	}
	line, err := r.src.lineBefore(p.Offset, r.maxLine)
	if err != nil {
		return false
	}
	before, err := r.src.sumBefore(p.Offset - int64(len(line)) - 1)
	if err != nil {
		return false
	}
	e, err := decode(line, before)
	return err == nil && e.Seq == p.Seq && e.Sum == p.Sum
}

// sumBefore returns the sum of the line that ends, with its newline, at an
// offset.
func (s source) sumBefore(offset int64) (Sum, error) {
	if offset == 0 {
		return 0, nil
	}
	end, err := s.bytes(max(0, offset-int64(trailerLen)-1), offset)
	if err != nil {
		return 0, err
	}
	_, sum, err := decodeSum(bytes.TrimSuffix(end, []byte("\n")))
	return sum, err
}

// lineBefore returns the line that ends, with its newline, at an offset.
func (s source) lineBefore(offset int64, maxLine int) ([]byte, error) {
	for window := int64(4 << 10); ; window = min(8*window, int64(maxLine)+1) {
		start := max(0, offset-window)
		chunk, err := s.bytes(start, offset)
		if err != nil {
			return nil, err
		}
		if len(chunk) == 0 || chunk[len(chunk)-1] != '\n' {
			return nil, errNoLine
		}
		chunk = chunk[:len(chunk)-1]
		if i := bytes.LastIndexByte(chunk, '\n'); i >= 0 {
			return chunk[i+1:], nil
		}
		if start == 0 {
			return chunk, nil
		}
		if window > int64(maxLine) {
			return nil, errLongLine
		}
	}
}

func (s source) bytes(from, to int64) ([]byte, error) {
	if s.keep != nil {
		if err := s.keep(from, to); err != nil {
			return nil, fmt.Errorf("%s: %w", s.path, err)
		}
	}
	r, err := s.open(from)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	chunk := make([]byte, to-from)
	if _, err := io.ReadFull(r, chunk); err != nil {
		return nil, fmt.Errorf("%s: %w", s.path, err)
	}
	return chunk, nil
}
