package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

func TestLongLineSumDoesNotDependOnPieces(t *testing.T) {
	dir := newDir(t)
	id, length := newLongJournal(t, dir, 2, 3)
	for size := 1; size < 70; size++ {
		chopped := journal.NewDir(dir.Path(),
			journal.Options{FS: chopping{noSyncFS{vfs.OS}, size << 9}, MaxLine: 4096})
		var corrupt *journal.CorruptError
		if err := second(readEvents(chopped, id)); !errors.As(err, &corrupt) || corrupt.TooLong != int64(length) {
			t.Fatalf("in pieces of %d bytes: %v", size<<9, err)
		}
	}
}

func TestLongLineSumDoesNotDependOnTheLastPiece(t *testing.T) {
	dir := newDir(t)
	id, length := newLongJournal(t, dir, 2, 3)
	end := int64(lineEnd(readFile(t, filepath.Join(dir.Path(), id+".jsonl")), 2))
	for size := range int64(40) {
		split := journal.NewDir(dir.Path(), journal.Options{FS: splitting{noSyncFS{vfs.OS}, end - size}, MaxLine: 4096})
		var corrupt *journal.CorruptError
		if err := second(readEvents(split, id)); !errors.As(err, &corrupt) || corrupt.TooLong != int64(length) {
			t.Fatalf("with a last piece of %d bytes: %v", size, err)
		}
	}
}

// splitting is a file system that reads no range across an offset.
type splitting struct {
	vfs.FS
	at int64
}

func (s splitting) OpenFile(name string, flag int, perm os.FileMode) (vfs.File, error) {
	f, err := s.FS.OpenFile(name, flag, perm)
	return splitFile{f, s.at}, err
}

type splitFile struct {
	vfs.File
	at int64
}

func (f splitFile) ReadAt(p []byte, off int64) (int, error) {
	if off < f.at && off+int64(len(p)) > f.at {
		p = p[:f.at-off]
	}
	return f.File.ReadAt(p, off)
}

// chopping is a file system that reads at most size bytes at once.
type chopping struct {
	vfs.FS
	size int
}

func (c chopping) OpenFile(name string, flag int, perm os.FileMode) (vfs.File, error) {
	f, err := c.FS.OpenFile(name, flag, perm)
	return choppedFile{f, c.size}, err
}

type choppedFile struct {
	vfs.File
	size int
}

func (c choppedFile) ReadAt(p []byte, off int64) (int, error) {
	if len(p) <= c.size {
		return c.File.ReadAt(p, off)
	}
	return c.File.ReadAt(p[:c.size], off)
}
