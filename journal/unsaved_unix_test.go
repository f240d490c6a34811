//go:build !windows

package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// setAside appends 3 and 4 to a journal that has 1 and 2 and that another program changes in between, and sets aside
// what cannot be saved, with 5.
func setAside(t *testing.T, dir *journal.Dir, change func(path string)) (*journal.Log, journal.Unsaved, error) {
	t.Helper()
	l := mustCreate(t, dir)
	mustAppend(t, l, counted(1, 0))
	must(t, l.Sync())
	early := l.Path() + ".early"
	writeFile(t, early, readFile(t, l.Path()))
	mustAppend(t, l, counted(2, 0))
	must(t, l.Sync())
	mustAppend(t, l, counted(3, 0))
	change(l.Path())
	l.Append(counted(4, 0))
	if err := l.Sync(); !errors.Is(err, journal.ErrPoisoned) {
		t.Fatalf("Sync: %v", err)
	}
	if _, err := l.Recover(t.Context()); err == nil {
		t.Fatal("recovered")
	}
	aside, err := l.SetAside(counted(5, 0))
	return l, aside, err
}

func cutTo(size int64) func(string) {
	return func(path string) { os.Truncate(path, size) }
}

// What another program made impossible to save is in a file beside the journal, and a journal of its own if that
// program replaced the journal.
func TestSetAsideKeepsWhatCannotBeSaved(t *testing.T) {
	for name, c := range map[string]struct {
		change func(path string)
		want   []int
		whole  bool
	}{
		"truncated to nothing":     {cutTo(0), []int{3, 4, 5}, false},
		"truncated to half a line": {cutTo(40), []int{3, 4, 5}, false},
		"replaced by an old copy":  {func(path string) { os.Rename(path+".early", path) }, []int{1, 2, 3, 4, 5}, true},
		"moved away and replaced": {func(path string) {
			os.Rename(path, path+".moved")
			os.WriteFile(path, []byte("not a journal\n"), 0o600)
		}, []int{1, 2, 3, 4, 5}, true},
		"replaced by a pipe": {func(path string) {
			os.Rename(path, path+".moved")
			syscall.Mkfifo(path, 0o600)
		}, []int{1, 2, 3, 4, 5}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			l, aside, err := setAside(t, dir, c.change)
			if err != nil || aside.Path != filepath.Join(dir.Path(), l.ID()+".aside-1") || aside.Whole != c.whole {
				t.Fatalf("set aside %+v, %v", aside, err)
			}
			if mode := stat(t, aside.Path).Mode(); mode != 0o600 {
				t.Errorf("it has mode %v", mode)
			}
			if got := countedInLines(t, readFile(t, aside.Path)); !slices.Equal(got, c.want) || aside.Events != 4 {
				t.Errorf("it has %v; %+v", got, aside)
			}
			if l.Close(); c.whole {
				writeFile(t, filepath.Join(dir.Path(), "whole.jsonl"), readFile(t, aside.Path))
				if got := len(validEvents(t, dir, "whole")); got != len(c.want)+1 {
					t.Errorf("as a journal it has %d events", got)
				}
			}
		})
	}
}

// countedInLines returns what lines of a journal count, whatever precedes them. One more says why they were not
// saved.
func countedInLines(t *testing.T, lines []byte) (counted []int) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		if bytes.Contains(line, []byte(`"type":"`+journal.TypeRecovered)) {
			continue
		}
		var n int
		_, data, _ := bytes.Cut(line, []byte(`"data":`))
		if _, err := fmt.Sscanf(string(data), `{"n":%d,`, &n); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		counted = append(counted, n)
	}
	return counted
}

// A file that has the name of the next one set aside stays as it is, whatever it is.
func TestSetAsideOverwritesNothing(t *testing.T) {
	dir := newDir(t)
	victim := filepath.Join(t.TempDir(), "victim")
	_, aside, err := setAside(t, dir, func(path string) {
		cutTo(0)(path)
		prefix := path[:len(path)-len("jsonl")] + "aside-"
		must(t, os.Symlink(victim, prefix+"1"))
		must(t, syscall.Mkfifo(prefix+"2", 0o600))
		must(t, os.WriteFile(prefix+"3", []byte("earlier"), 0o600))
		must(t, os.Mkdir(prefix+"4", 0o700))
	})
	if err != nil || filepath.Ext(aside.Path) != ".aside-5" {
		t.Errorf("set aside %+v, %v", aside, err)
	}
	if _, err := os.Lstat(victim); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link was followed: %v", err)
	}
	if got := string(readFile(t, aside.Path[:len(aside.Path)-1]+"3")); got != "earlier" {
		t.Errorf("the file has %q", got)
	}
}

// If the file cannot be written, the error says why, and nothing is left.
func TestSetAsideThatFailsLeavesNothing(t *testing.T) {
	for kind, cause := range map[journaltest.Kind]error{
		journaltest.Open: syscall.EACCES, journaltest.Write: syscall.ENOSPC, journaltest.Sync: syscall.EIO,
	} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			disk := journaltest.New(noSyncFS{vfs.OS})
			dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: disk})
			var before []byte
			l, aside, err := setAside(t, dir, func(path string) {
				cutTo(0)(path)
				disk.FailFrom(1, cause, kind)
			})
			before = readFile(t, l.Path())
			if !errors.Is(err, cause) || aside != (journal.Unsaved{}) {
				t.Errorf("set aside %+v, %v", aside, err)
			}
			if asides, _ := filepath.Glob(dir.Path() + "/*.aside-*"); len(asides) > 0 {
				t.Errorf("%q are left", asides)
			}
			if !bytes.Equal(readFile(t, l.Path()), before) {
				t.Error("the journal has changed")
			}
		})
	}
}

func TestSetAsideOfASavedJournalWritesNothing(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	mustAppend(t, l, counted(1, 0))
	if aside, err := l.SetAside(); err != nil || aside != (journal.Unsaved{}) {
		t.Errorf("set aside %+v, %v", aside, err)
	}
	must(t, l.Close())
	if _, err := l.SetAside(counted(2, 0)); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("of a closed journal: %v", err)
	}
}
