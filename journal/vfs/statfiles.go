package vfs

import (
	"context"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// FileStat describes one of many files.
type FileStat struct {
	Name    string // in its directory
	Regular bool   // it is a regular file
	Size    int64  // in bytes
	ModTime time.Time
	Inode   uint64 // 0 if the system has none
	Err     error  // why the file could not be described; then only Name is set
}

// NewFileStat returns the FileStat for what Stat returned for a file.
func NewFileStat(name string, info fs.FileInfo, err error) FileStat {
	if err != nil {
		return FileStat{Name: name, Err: err}
	}
	return FileStat{
		Name: name, Regular: info.Mode().IsRegular(),
		Size: info.Size(), ModTime: info.ModTime(), Inode: inode(info),
	}
}

// statBatch is how many names of a directory are read at once. The matching ones
// are described while the next batch is read.
const statBatch = 1024

// StatFiles describes files while it reads further names: for 100,000 files, both
// take equally long.
func (osFS) StatFiles(ctx context.Context, dir string, match func(name string) bool) ([]FileStat, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	stat := statIn(d)
	var batches [][]FileStat
	var pending sync.WaitGroup
	for err == nil {
		if err = ctx.Err(); err != nil {
			break
		}
		var names []string
		names, err = d.Readdirnames(statBatch)
		names = slices.DeleteFunc(names, func(name string) bool { return !match(name) })
		batch := make([]FileStat, len(names))
		batches = append(batches, batch)
		pending.Go(func() {
			for i, name := range names {
				batch[i] = stat(name)
			}
		})
	}
	pending.Wait()
	if err != io.EOF {
		return nil, err
	}
	return slices.Concat(batches...), nil
}
