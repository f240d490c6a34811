//go:build !linux && !darwin

package maintain

import (
	"errors"
	"io/fs"
)

// owner is not known here.
func owner(fs.FileInfo) (uid int, known bool) { return 0, false }

// mayWrite does not know better than to try.
func mayWrite(string) error { return nil }

// space is not known here.
func space(string) (bytes, inodes uint64, err error) { return 0, 0, errors.ErrUnsupported }
