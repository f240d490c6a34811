package journal

import (
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// Described is what an FS says of one of many files.
type Described struct {
	Name    string // in its directory
	Regular bool   // it is a file, and nothing else of that name
	Size    int64  // in bytes
	ModTime time.Time
	Inode   uint64 // 0 where there is none
	Err     error  // why it could not be described; then only the Name is
}

// describedTogether is how many names of a directory are read at once. What is
// wanted of them is described while the next are read.
const describedTogether = 1024

// Describe describes files while it reads the names of others: of 100,000, the
// one takes as long as the other.
func (osFS) Describe(name string, wanted func(name string) bool) ([]Described, error) {
	dir, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	stat := statIn(dir)
	var parts [][]Described
	var describing sync.WaitGroup
	for err == nil {
		var names []string
		names, err = dir.Readdirnames(describedTogether)
		names = slices.DeleteFunc(names, func(name string) bool { return !wanted(name) })
		part := make([]Described, len(names))
		parts = append(parts, part)
		describing.Go(func() {
			for i, name := range names {
				part[i] = stat(name)
			}
		})
	}
	describing.Wait()
	if err != io.EOF {
		return nil, err
	}
	return slices.Concat(parts...), nil
}

// NewDescribed makes a Described of what Stat said of a file.
func NewDescribed(name string, info fs.FileInfo, err error) Described {
	if err != nil {
		return Described{Name: name, Err: err}
	}
	return Described{Name: name, Regular: info.Mode().IsRegular(), Size: info.Size(), ModTime: info.ModTime(), Inode: inode(info)}
}
