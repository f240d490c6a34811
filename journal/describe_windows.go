package journal

import (
	"os"
	"path/filepath"
)

// statIn describes files of a directory.
func statIn(dir *os.File) func(name string) Described {
	return func(name string) Described {
		info, err := os.Stat(filepath.Join(dir.Name(), name))
		return NewDescribed(name, info, err)
	}
}
