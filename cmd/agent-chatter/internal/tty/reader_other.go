//go:build !unix

package tty

import (
	"context"
)

// WatchReader does nothing: the next write fails if the reader is gone.
func WatchReader(context.Context, uintptr, func()) {}

// WatchWriter does nothing: there, nothing reports that the writer of a pipe has closed it.
func WatchWriter(context.Context, uintptr, func()) {}
