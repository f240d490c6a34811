//go:build !linux

package vfs

import "os"

// syncFile uses F_FULLFSYNC on macOS and FlushFileBuffers on Windows.
func syncFile(f *os.File) error { return f.Sync() }
