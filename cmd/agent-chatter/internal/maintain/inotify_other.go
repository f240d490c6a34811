//go:build !linux

package maintain

import "errors"

// inotifyUsage returns errors.ErrUnsupported: only Linux has inotify.
func inotifyUsage() (instances, watches usage, err error) {
	return instances, watches, errors.ErrUnsupported
}
