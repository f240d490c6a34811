//go:build !linux

package maintain

import (
	"errors"
)

// inotify is a thing of Linux.
func inotify() (instances, watches usage, err error) {
	return instances, watches, errors.ErrUnsupported
}
