//go:build !windows

package journaltest

import "syscall"

// sys returns what package journal reads the inode number from.
func sys(inode uint64) any { return &syscall.Stat_t{Ino: inode} }
