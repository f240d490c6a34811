//go:build unix && !linux && !darwin

package workspace

import "golang.org/x/sys/unix"

func exchange(int, string, string) error { return unix.ENOSYS }

func renameNew(int, string, string) error { return unix.ENOSYS }
