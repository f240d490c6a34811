//go:build !unix

package tty

import (
	"context"
)

// WatchReader does nothing: the next write fails if the reader is gone.
func WatchReader(context.Context, uintptr, func()) {}
