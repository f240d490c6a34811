package workspace

import "golang.org/x/sys/unix"

func exchange(fd int, a, b string) error { return unix.Renameat2(fd, a, fd, b, unix.RENAME_EXCHANGE) }

func renameNew(fd int, from, to string) error {
	return unix.Renameat2(fd, from, fd, to, unix.RENAME_NOREPLACE)
}
