package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"
)

// Times are the times of a present file or directory.
type Times struct {
	Changed time.Time // of its content or inode
	Born    time.Time // zero: unknown
}

// TimesBelow returns the function of [PlanOptions] for a directory.
func TimesBelow(root string) func(name string) (Times, bool) {
	return func(name string) (Times, bool) {
		times, err := timesOf(filepath.Join(root, filepath.FromSlash(name)))
		return times, err == nil
	}
}

// FoldsCase reports whether the file system of a directory finds a name in upper and lower case. If no name in the
// directory has letters, it is that of most file systems of the operating system.
func FoldsCase(root string) bool {
	entries, err := os.ReadDir(root)
	if err != nil {
		return false
	}
	for _, entry := range entries {
		other := strings.Map(swapCase, entry.Name())
		if other == entry.Name() {
			continue
		}
		info, err := os.Lstat(filepath.Join(root, entry.Name()))
		if err != nil {
			continue
		}
		found, err := os.Lstat(filepath.Join(root, other))
		return err == nil && os.SameFile(info, found)
	}
	return runtime.GOOS == "darwin" || runtime.GOOS == "windows"
}

// swapCase returns an ASCII letter in the other case, and other characters as they are.
func swapCase(r rune) rune {
	switch {
	case r > unicode.MaxASCII:
		return r
	case unicode.IsUpper(r):
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}
