package catalog_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// changing is a file system that calls change before its nth read.
type changing struct {
	vfs.FS
	reads, nth int
	change     func()
}

func (c *changing) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := c.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return changingFile{f, c}, nil
}

type changingFile struct {
	vfs.File
	c *changing
}

func (f changingFile) Read(p []byte) (int, error) {
	f.c.read()
	return f.File.Read(p)
}

func (f changingFile) ReadAt(p []byte, off int64) (int, error) {
	f.c.read()
	return f.File.ReadAt(p, off)
}

func (c *changing) read() {
	if c.reads++; c.reads == c.nth {
		c.change()
	}
}

// A program that does not respect the lock appends to the journal, or truncates it, before any read of Open:
// the state is that of the position at which the log appends, or Open fails.
func TestOpenReturnsTheStateAtItsPosition(t *testing.T) {
	changed := 0
	for nth := 1; ; nth++ {
		root := t.TempDir()
		team := catalog.New(root, journal.Options{}).Team("kitchen")
		end := put(t, team, id(1), chat(id(1), "kitchen", "Soup", 2)...)
		path := list(t, catalog.New(root, journal.Options{}))[0].Path()
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		add(t, team, id(1), end, said(90, ada, "new"))
		after, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if nth%2 == 0 {
			before, after = after, before
		}
		write(t, path, before)
		dropCaches(t, root)
		disk := &changing{FS: vfs.OS, nth: (nth + 1) / 2, change: func() { write(t, path, after) }}
		log, state, _, err := catalog.New(root, journal.Options{FS: disk}).Team("kitchen").Open(t.Context(), id(1))
		switch {
		case errors.Is(err, catalog.ErrChanged):
			changed++
		case err == nil && state.Seq != log.Position().Seq:
			t.Errorf("read %d: the state is at %d, the log at %d", nth, state.Seq, log.Position().Seq)
		}
		if err == nil {
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		}
		if disk.reads < disk.nth {
			break
		}
	}
	if changed == 0 {
		t.Error("Open noticed no change")
	}
}
