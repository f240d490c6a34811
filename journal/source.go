package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/agent-chatter/agent-chatter/journal/archive"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// source reads the bytes of one journal, live or archived.
type source struct {
	path string
	size int64                                     // bytes of the file of a live journal, or uncompressed
	open func(offset int64) (io.ReadCloser, error) // may be called repeatedly

	// Of an archive, open costs the bytes before the offset in its frame.
	archive *archive.Archive // nil for a live journal
}

// fileSource returns the first bytes of a live journal. If its last line lacks only the newline, the source has it:
// a Position after that line is one byte after the end of the file.
func fileSource(path string, f vfs.File, size int64) source {
	return source{path: path, size: size, open: func(offset int64) (io.ReadCloser, error) {
		return io.NopCloser(newLineEnder(io.NewSectionReader(f, offset, max(0, size-offset)))), nil
	}}
}

// withContext returns a source whose readers fail when ctx is done.
func (s source) withContext(ctx context.Context) source {
	open := s.open
	s.open = func(offset int64) (io.ReadCloser, error) {
		r, err := open(offset)
		if err != nil {
			return nil, err
		}
		return contextReader{r, ctx, s.path}, nil
	}
	return s
}

// contextReader reads until ctx is done. Then it fails with an error of the file
// system, so that the file does not count as corrupt.
type contextReader struct {
	io.ReadCloser
	ctx  context.Context
	path string
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, &fs.PathError{Op: "read", Path: r.path, Err: err}
	}
	return r.ReadCloser.Read(p)
}

// appendFlags open a journal for appending.
const appendFlags = os.O_RDWR | os.O_APPEND | vfs.NoLink

// journalFile is the open file of a journal.
type journalFile struct {
	vfs.File
	archived bool
	writable bool // it can be appended to
}

// open opens the file of the journal, live or archived. With toAppend, a live one is
// opened for appending, unless it may only be read, and a symbolic link is refused.
func (f Files) open(fsys vfs.FS, toAppend bool) (file journalFile, err error) {
	for range locateTries {
		if file, err = f.tryOpen(fsys, toAppend); !errors.Is(err, ErrNotFound) {
			break
		}
	}
	return file, err
}

// tryOpen is open without a retry: it may return ErrNotFound for a journal that is being
// archived or unarchived.
func (f Files) tryOpen(fsys vfs.FS, toAppend bool) (journalFile, error) {
	flag := os.O_RDONLY
	if toAppend {
		if file, err := fsys.OpenFile(f.Live(), appendFlags, 0); err == nil {
			return journalFile{File: file, writable: true}, nil
		}
		flag |= vfs.NoLink
	}
	for _, archived := range []bool{false, true} {
		file, err := fsys.OpenFile(Info{ID: f.ID, Dir: f.Dir, Archived: archived}.Path(), flag, 0)
		if !errors.Is(err, fs.ErrNotExist) {
			return journalFile{File: file, archived: archived}, err
		}
	}
	return journalFile{}, fmt.Errorf("%s: %w", f.Live(), ErrNotFound)
}

// source returns the bytes of an open file of the journal.
func (f Files) source(file journalFile) (source, error) {
	return sourceAt(Info{ID: f.ID, Dir: f.Dir, Archived: file.archived}.Path(), file)
}

// endedArchive reads an archive whose last line may lack its newline, as in a live journal.
type endedArchive struct {
	*lineEnder
	io.Closer
}

// sourceAt returns the bytes of the open file of a journal at a path.
func sourceAt(path string, file journalFile) (source, error) {
	if file.archived {
		a, err := archive.Open(file)
		if err != nil {
			return source{}, err
		}
		return source{path: path, size: a.Size(), archive: a, open: func(offset int64) (io.ReadCloser, error) {
			r, err := a.Reader(offset)
			if err != nil {
				return nil, err
			}
			return endedArchive{newLineEnder(r), r}, nil
		}}, nil
	}
	info, err := file.Stat()
	if err != nil {
		return source{}, err
	}
	return fileSource(path, file, info.Size()), nil
}

// openSource opens the journal, live or archived, for reading.
func (f Files) openSource(fsys vfs.FS) (source, vfs.File, error) {
	file, err := f.open(fsys, false)
	if err != nil {
		return source{}, nil, err
	}
	src, err := f.source(file)
	if err != nil {
		file.Close()
		return source{}, nil, err
	}
	return src, file.File, nil
}

// archived reports whether the source is an archive.
func (s source) archived() bool { return s.archive != nil }

// readError returns the error for bytes after a position that cannot be read. An
// archive was compared with its journal when it was written: unless the file
// system failed, it has been corrupted.
func (s source) readError(at Position, err error) error {
	if !s.archived() || vfs.IsFileError(err) {
		return err
	}
	return (&lineError{at, err}).corrupt(s.path)
}

// bytes returns the bytes from one offset to another.
func (s source) bytes(from, to int64) ([]byte, error) {
	if s.archived() {
		if err := s.archive.Prefetch(from, to); err != nil {
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

// holds reports whether an event with the sequence number and sum of p ends at p.
func (s source) holds(p Position, maxLine int) bool {
	if p == (Position{}) {
		return true
	}
	if p.Offset < 0 || p.Offset > s.size+1 {
		return false
	}
	line, err := s.lineBefore(p.Offset, maxLine)
	if err != nil {
		return false
	}
	prev, err := s.sumBefore(p.Offset - int64(len(line)) - 1)
	if err != nil {
		return false
	}
	e, err := decode(line, prev)
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
