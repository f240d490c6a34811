package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// source reads the bytes of one journal, live or archived.
type source struct {
	path string
	size int64                                     // of the journal, in bytes
	open func(offset int64) (io.ReadCloser, error) // may be called repeatedly

	// Set for an archive, where open costs the bytes before the offset in its
	// frame.
	prefetch     func(from, to int64) error      // makes open cheap in a part
	frameBetween func(from, to int64) (at int64) // see archive.frameBetween
	checksum     func(context.Context) (ok bool, err error)
}

func fileSource(path string, f File, size int64) source {
	return source{path: path, size: size, open: func(offset int64) (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(f, offset, size-offset)), nil
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

// source opens the file of the journal, live or archived.
func (f files) source(fsys FS) (src source, file File, err error) {
	for range locateTries {
		var live *openedFile
		if live, err = f.openLive(fsys, os.O_RDONLY); err == nil {
			return live.src, live.file, nil
		}
		if !errors.Is(err, ErrNotFound) {
			return source{}, nil, err
		}
		if src, file, err = f.archiveSource(fsys); !errors.Is(err, ErrNotFound) {
			break
		}
	}
	return src, file, err
}

// openedFile is the open file of a journal.
type openedFile struct {
	src      source
	file     File
	writable File // the file if it can be appended to, otherwise nil
}

// openedFileOf describes a live journal that is open for appending.
func openedFileOf(path string, f File, size int64) *openedFile {
	return &openedFile{src: fileSource(path, f, size), file: f, writable: f}
}

// open opens the file of a journal for appending, or only for reading if it is an archive or may not
// be written.
func (f files) open(fsys FS) (*openedFile, error) {
	o, err := f.openLive(fsys, os.O_RDWR|os.O_APPEND)
	if err == nil {
		return o, nil
	}
	src, file, readErr := f.source(fsys)
	if readErr != nil {
		return nil, readErr
	}
	return &openedFile{src: src, file: file}, nil
}

func (f files) openLive(fsys FS, flag int) (*openedFile, error) {
	file, err := fsys.OpenFile(f.path(), flag, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", f.path(), ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	o := openedFileOf(f.path(), file, info.Size())
	if flag == os.O_RDONLY {
		o.writable = nil
	}
	return o, nil
}

// archived reports whether the source is an archive.
func (s source) archived() bool { return s.prefetch != nil }

// readError returns the error for bytes after a position that cannot be read. An
// archive was compared with its journal when it was written: unless the file
// system failed, it has been corrupted.
func (s source) readError(at Position, err error) error {
	if !s.archived() || isFileError(err) {
		return err
	}
	return (&lineError{at, err}).corrupt(s.path)
}

// bytes returns the bytes from one offset to another.
func (s source) bytes(from, to int64) ([]byte, error) {
	if s.prefetch != nil {
		if err := s.prefetch(from, to); err != nil {
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
	if p.Offset < 0 || p.Offset > s.size {
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
