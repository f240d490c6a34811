package vfs

import (
	"os"
	"path/filepath"
)

// statIn returns a function that describes files of a directory.
func statIn(dir *os.File) func(name string) FileStat {
	return func(name string) FileStat {
		info, err := os.Stat(filepath.Join(dir.Name(), name))
		return NewFileStat(name, info, err)
	}
}
