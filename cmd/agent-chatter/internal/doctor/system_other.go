//go:build !linux && !darwin

package doctor

import (
	"errors"
	"io/fs"
)

// owner returns false: the owner of a file is unknown on this system.
func owner(fs.FileInfo) (uid int, known bool) { return 0, false }

// checkWritable returns nil: only writing shows whether a directory is writable.
func checkWritable(string) error { return nil }

// freeSpace returns errors.ErrUnsupported.
func freeSpace(string) (bytes, inodes uint64, err error) { return 0, 0, errors.ErrUnsupported }
