//go:build !windows

package journaltest

import "syscall"

// sys is where package journal looks for the number of a file.
func sys(inode uint64) any { return &syscall.Stat_t{Ino: inode} }
