package app

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Remedy returns advice for an error of the operating system about the home, on a line of
// its own; "" if there is none.
func Remedy(err error) string { return remedy(err, ", or use another directory with --home DIR") }

// remedyAnywhere is Remedy for an error that may be about a file outside of the home,
// where another home does not help.
func remedyAnywhere(err error) string {
	var file *fs.PathError
	if errors.As(err, &file) && !slices.Contains(strings.Split(filepath.ToSlash(file.Path), "/"), "sessions") {
		return remedy(err, "")
	}
	return Remedy(err)
}

func remedy(err error, elsewhere string) string {
	switch {
	case errors.Is(err, fs.ErrPermission),
		errors.Is(err, syscall.EROFS),
		errors.Is(err, syscall.ENOTDIR),
		errors.Is(err, syscall.EISDIR):
		return "\nCheck the permissions there" + elsewhere + "."
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "\nThe disk is full: free space" + elsewhere + "."
	case errors.Is(err, syscall.EFBIG):
		return "\nA file is as large as the file system or a limit of the process allows (ulimit -f): " +
			"raise the limit" + elsewhere + "."
	}
	return ""
}
