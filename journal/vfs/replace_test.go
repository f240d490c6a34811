package vfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

func content(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func ExampleReplace() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "config.json")
	err = vfs.Replace(vfs.OS, name, 0o600, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, `{"window": 20}`)
		return err
	})
	text, _ := os.ReadFile(name)
	fmt.Printf("%v %s", err, text)
	// Output: <nil> {"window": 20}
}

func TestReplaceCreatesAndReplaces(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	for _, replace := range []func(string) error{
		func(text string) error { return vfs.WriteFile(vfs.OS, name, []byte(text)) },
		func(text string) error { return vfs.Replace(vfs.OS, name, 0o640, content(text)) },
	} {
		for _, text := range []string{"first", "second, which is longer", ""} {
			if err := replace(text); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(name); string(got) != text || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, text)
			}
		}
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if perm := info.Mode().Perm(); perm != 0o640 && runtime.GOOS != "windows" {
		t.Errorf("the permissions are %o", perm)
	}
	wantFiles(t, name)
}

func TestFailureLeavesThePreviousContent(t *testing.T) {
	broken := errors.New("broken")
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("previous"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := vfs.Replace(vfs.OS, name, 0o600, func(w io.Writer) error {
		fmt.Fprint(w, "half of ")
		return broken
	})
	if err != broken {
		t.Errorf("got %v, want the error of write", err)
	}
	wantFiles(t, name)
	for _, failure := range []error{syscall.ENOSPC, syscall.EIO} {
		for n := 1; ; n++ {
			if err := os.WriteFile(name, []byte("previous"), 0o600); err != nil {
				t.Fatal(err)
			}
			disk := journaltest.New(vfs.OS)
			disk.FailFrom(n, failure)
			err := vfs.Replace(disk, name, 0o600, content("new"))
			disk.Heal()
			got, readErr := os.ReadFile(name)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if err == nil {
				if string(got) != "new" || n == 1 {
					t.Errorf("%v from operation %d: no error, content %q", failure, n, got)
				}
				break
			}
			if !errors.Is(err, failure) {
				t.Errorf("%v from operation %d: got %v", failure, n, err)
			}
			if s := string(got); s != "previous" && s != "new" {
				t.Errorf("%v from operation %d: content %q", failure, n, s)
			}
		}
	}
}

// Whatever has the name of a new file stays as it is.
func TestCreateReplacesNothing(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"nothing":           func(string) error { return nil },
		"a file":            func(path string) error { return os.WriteFile(path, []byte("previous"), 0o600) },
		"a directory":       func(path string) error { return os.Mkdir(path, 0o700) },
		"a link to nothing": func(path string) error { return os.Symlink("missing", path) },
		"a link to a file": func(path string) error {
			return errors.Join(os.WriteFile(path+".target", []byte("previous"), 0o600), os.Symlink("file.target", path))
		},
		"a link to a directory": func(path string) error { return os.Symlink(".", path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			err := put(path)
			if _, missing := os.Lstat(path); err == nil && name != "nothing" {
				err = missing // Wine reports links that it has not made
			}
			programtest.SkipOnWindows(t, err)
			before := describe(t, path)
			err = vfs.Create(vfs.OS, path, 0o640, content("new"))
			switch {
			case before == "":
				info, statErr := os.Stat(path)
				if got := describe(t, path); err != nil || statErr != nil || got != "file: "+info.Mode().String()+" new" {
					t.Errorf("got %v; the directory has %q", err, got)
				}
			case !errors.Is(err, fs.ErrExist) || describe(t, path) != before:
				t.Errorf("got %v; the directory has %q, had %q", err, describe(t, path), before)
			}
		})
	}
}

// describe returns the names, the modes and the contents of the files in the directory of a file.
func describe(t *testing.T, path string) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(filepath.Join(filepath.Dir(path), entry.Name())) // none of a directory
		all = append(all, fmt.Sprintf("%s: %s %s", entry.Name(), info.Mode(), text))
	}
	return strings.Join(all, "\n")
}

// A file that could not be written whole is removed.
func TestCreateFailures(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	broken := errors.New("broken")
	if err := vfs.Create(vfs.OS, name, 0o600, func(w io.Writer) error {
		return errors.Join(content("new")(w), broken)
	}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := vfs.Create(unclosable{vfs.OS}, name, 0o600, content("new")); !errors.Is(err, syscall.EDQUOT) {
		t.Errorf("a failed Close: got %v", err)
	}
	if err := vfs.Create(noDirSync{vfs.OS}, name, 0o600, content("new")); err != nil {
		t.Errorf("a directory that cannot be synced: %v", err)
	}
	for n := 1; ; n++ {
		os.Remove(name)
		disk := journaltest.New(vfs.OS)
		disk.Fail(n, syscall.ENOSPC)
		disk.HalfWrites(true)
		err := vfs.Create(disk, name, 0o600, content("new"))
		got := describe(t, name)
		if !disk.Failed() {
			if disk.Count(journaltest.Sync, journaltest.SyncDir) != 2 || err != nil {
				t.Errorf("%v; it is not synced:\n%s", err, disk)
			}
			return
		}
		whole := strings.HasSuffix(got, " new") && disk.Count(journaltest.SyncDir) == 1
		if !errors.Is(err, syscall.ENOSPC) || got != "" && !whole {
			t.Errorf("operation %d fails: got %v; the directory has %q\n%s", n, err, got, disk)
		}
	}
}

func TestEachFailureIsReported(t *testing.T) {
	for _, c := range []struct {
		name    string
		replace func(vfs.FS, string) error
		syncs   int // of the file and of the directory
	}{
		{"Replace", func(fsys vfs.FS, name string) error {
			return vfs.Replace(fsys, name, 0o600, content("new"))
		}, 2},
		{"WriteFile", func(fsys vfs.FS, name string) error {
			return vfs.WriteFile(fsys, name, []byte("new"))
		}, 0},
	} {
		name := filepath.Join(t.TempDir(), "file")
		for n := 1; ; n++ {
			disk := journaltest.New(vfs.OS)
			disk.Fail(n, syscall.EIO)
			err := c.replace(disk, name)
			if !disk.Failed() {
				if syncs := disk.Count(journaltest.Sync, journaltest.SyncDir); syncs != c.syncs {
					t.Errorf("%s: %d syncs, want %d\n%s", c.name, syncs, c.syncs, disk)
				}
				break
			}
			if !errors.Is(err, syscall.EIO) {
				t.Errorf("%s: got %v\n%s", c.name, err, disk)
			}
		}
		wantFiles(t, name)
		if err := c.replace(unclosable{vfs.OS}, name); !errors.Is(err, syscall.EDQUOT) {
			t.Errorf("%s: a failed Close: got %v", c.name, err)
		}
		wantFiles(t, name)
	}
}

// unclosable is a file system that reports a failed write at Close, as NFS does.
type unclosable struct{ vfs.FS }

func (u unclosable) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := u.FS.OpenFile(name, flag, perm)
	return unclosableFile{f}, err
}

type unclosableFile struct{ vfs.File }

func (f unclosableFile) Close() error { return errors.Join(f.File.Close(), syscall.EDQUOT) }

// wantFiles checks that the directory has no other file than name.
func wantFiles(t *testing.T, name string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != filepath.Base(name) {
		t.Errorf("the directory has %v", entries)
	}
}

// noDirSync is a file system that cannot sync directories.
type noDirSync struct{ vfs.FS }

func (noDirSync) SyncDir(name string) error {
	return &fs.PathError{Op: "sync", Path: name, Err: syscall.EINVAL}
}

func TestDirectoriesThatCannotBeSynced(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := vfs.Replace(noDirSync{vfs.OS}, name, 0o600, content("new")); err != nil {
		t.Error(err)
	}
}
