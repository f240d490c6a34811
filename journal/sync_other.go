//go:build !linux

package journal

import "os"

// syncFile is F_FULLFSYNC on macOS, FlushFileBuffers on Windows.
func syncFile(f *os.File) error { return f.Sync() }
