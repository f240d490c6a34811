//go:build !linux

package doctor

import "errors"

// inotifyUsage returns errors.ErrUnsupported: only Linux has inotify.
func inotifyUsage() (instances, watches usage, err error) {
	return instances, watches, errors.ErrUnsupported
}
