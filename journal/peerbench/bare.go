package main

import (
	"os"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// bare is a file: one write(2) per batch, at its end, then fdatasync(2). It shows the
// cost of the disk. Because the file grows, each sync also writes its new size.
type bare struct {
	vfs.File
	sync bool
}

func openBare(dir string, sync bool) (store, error) {
	f, err := vfs.OS.OpenFile(dir, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return bare{f, sync}, err
}

func (b bare) append(batch [][]byte) error {
	data := batch[0]
	if len(batch) > 1 {
		data = slices.Concat(batch...)
	}
	if _, err := b.Write(data); err != nil || !b.sync {
		return err
	}
	return b.Sync()
}

func (b bare) settle() error { return b.Sync() }
func (b bare) close() error  { return b.Close() }
