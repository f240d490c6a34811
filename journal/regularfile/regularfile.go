package regularfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// KindError is the error of a name that exists and is no regular file. Open, OpenFile
// and Read return it in an *fs.PathError that names the file.
type KindError struct {
	Mode fs.FileMode // its type bits say what the name is
}

func (e *KindError) Error() string {
	kind := "no regular file"
	switch {
	case e.Mode&fs.ModeSymlink != 0:
		kind = "a symbolic link"
	case e.Mode.IsDir():
		kind = "a directory"
	case e.Mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case e.Mode&fs.ModeSocket != 0:
		kind = "a socket"
	case e.Mode&fs.ModeDevice != 0:
		kind = "a device"
	}
	return "it is " + kind + ", want a regular file"
}

// SizeError is the error of a file that is longer than the limit of Read, in an
// *fs.PathError.
type SizeError struct {
	Limit int64 // in bytes
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("it is larger than the limit of %d bytes", e.Limit)
}

// Open opens a regular file for reading. It follows symbolic links, and does not
// block.
func Open(name string) (*os.File, error) { return OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens a regular file as os.OpenFile does, with the same flags and NoFollow.
// It does not block. Do not use os.O_TRUNC: it would empty the file before the check.
func OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := open(name, flag, perm)
	if err != nil {
		return nil, openError(name, flag, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: &KindError{info.Mode()}}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openError returns a *KindError instead of an error of open that only means that the
// name is no regular file, such as ENXIO for a socket.
func openError(name string, flag int, err error) error {
	stat := os.Stat
	if flag&NoFollow != 0 {
		stat = os.Lstat
	}
	if info, statErr := stat(name); statErr == nil && !info.Mode().IsRegular() && flag&os.O_EXCL == 0 {
		return &fs.PathError{Op: "open", Path: name, Err: &KindError{info.Mode()}}
	}
	return err
}

// Read returns the content of a regular file, as os.ReadFile does. If the file has
// more than limit bytes, it returns a *SizeError and reads no further.
func Read(name string, limit int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, &fs.PathError{Op: "read", Path: name, Err: &SizeError{limit}}
	}
	return data, err
}
