package home

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// writerEnv is set in the processes of TestProcessesShareALog to the path of the log.
const writerEnv = "LOGFILE_TEST_PATH"

func TestMain(m *testing.M) {
	if path := os.Getenv(writerEnv); path != "" {
		w := writer{path: path, limit: 4 << 10, keep: 100}
		for n := range 200 {
			if _, err := fmt.Fprintf(&w, "%d %d end\n", os.Getpid(), n); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestWriterKeepsTheNewestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "log")
	w := writer{path: path, limit: 4, keep: 2}
	for i, record := range []string{"one\n", "two\n", "three\n", "four\n"} {
		if n, err := w.Write([]byte(record)); n != len(record) || err != nil {
			t.Fatalf("Write(%q) = %d, %v", record, n, err)
		}
		if i > 0 {
			continue
		}
		if err := os.WriteFile(path+".0", []byte("not one of them\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"log.0": "not one of them\n", "log": "four\n", "log.1": "three\n", "log.2": "two\n"} {
		got, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
		if string(got) != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	if _, err := os.Stat(path + ".3"); err == nil {
		t.Error("a third file is kept")
	}
	if runtime.GOOS == "windows" {
		return // no modes
	}
	for name, want := range map[string]fs.FileMode{filepath.Dir(path): fs.ModeDir | 0o700, path: 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

func TestWriterAppendsBelowTheLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	w := writer{path: path, limit: 100, keep: 2}
	for range 3 {
		if _, err := w.Write([]byte("record\n")); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(path); string(got) != "record\nrecord\nrecord\n" {
		t.Errorf("content %q", got)
	}
}

// After a disk is unmounted, its mount point is an empty directory, in which nothing must be created.
func TestWriterDoesNotRecreateADirectory(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	w := writer{path: filepath.Join(home, "logs", "log"), limit: 100, keep: 2}
	if n, err := w.Write([]byte("none\n")); n != 0 || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a home: %d bytes, error %v", n, err)
	}
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("one\n")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(home); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write([]byte("two\n")); n != 0 || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%d bytes, error %v", n, err)
	}
	if _, err := os.Stat(home); err == nil {
		t.Error("the home was created again")
	}
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("three\n")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in an empty home: %v", err)
	}
}

func TestProcessesShareALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	const processes, records = 4, 200
	var running []*exec.Cmd
	for range processes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writerEnv+"="+path)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	names, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if strings.HasSuffix(name, ".lock") {
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
			var pid, n int
			if _, err := fmt.Sscanf(lines.Text(), "%d %d end", &pid, &n); err != nil {
				t.Fatalf("%s: mixed record %q", name, lines.Text())
			}
			seen[strconv.Itoa(pid)+" "+strconv.Itoa(n)] = true
		}
	}
	if len(seen) != processes*records {
		t.Errorf("%d records, want %d", len(seen), processes*records)
	}
}

func TestWriterRefusesALink(t *testing.T) {
	dir := t.TempDir()
	target, path := filepath.Join(dir, "target"), filepath.Join(dir, "log")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	programtest.SkipOnWindows(t, os.Symlink(target, path))
	w := writer{path: path, limit: 1, keep: 2} // less than the size of the link
	if n, err := w.Write([]byte("record\n")); n != 0 || !errors.As(err, new(*regularfile.KindError)) {
		t.Errorf("%d bytes, error %v, want a KindError", n, err)
	}
	if got, _ := os.ReadFile(target); len(got) > 0 {
		t.Errorf("the target of the link has %q", got)
	}
}

// A log that cannot be rotated, since another process rotates it, exceeds its limit; other errors are returned.
func TestWriterRotates(t *testing.T) {
	isDir := func(t *testing.T, path string) {
		if err := os.MkdirAll(filepath.Join(path, "content"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name    string
		prepare func(t *testing.T, path string)
		want    string // of the log; "": an error
	}{
		{"alone", func(*testing.T, string) {}, "new\n"},
		{"while another process does", func(t *testing.T, path string) {
			lock, err := vfs.LockFile(vfs.OS, path+".lock")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { lock.Close() })
		}, "old\nnew\n"},
		{"without a lock", func(t *testing.T, path string) { isDir(t, path+".lock") }, ""},
		{"without a place for the newest file", func(t *testing.T, path string) { isDir(t, path+".1") }, "new\n"},
		{"without a place for the oldest file", func(t *testing.T, path string) {
			isDir(t, path+".2")
			if err := os.WriteFile(path+".1", nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte("old\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			test.prepare(t, path)
			w := writer{path: path, limit: 4, keep: 2}
			n, err := w.Write([]byte("new\n"))
			got, _ := os.ReadFile(path)
			if (err != nil) != (test.want == "") || err == nil && string(got) != test.want || err != nil && n != 0 {
				t.Errorf("content %q, %d bytes, error %v", got, n, err)
			}
		})
	}
}

// Between the check of the size and the lock, another process may have renamed the file.
func TestWriterRotatesOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	w := writer{path: path, limit: 4, keep: 2}
	if err := w.rotate(); err != nil {
		t.Errorf("without a file: %v", err)
	}
	if err := os.WriteFile(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.rotate(); err != nil {
		t.Errorf("with a file below the limit: %v", err)
	}
	if got, err := os.ReadFile(path); string(got) != "new" {
		t.Errorf("content %q, %v", got, err)
	}
}

func TestWriterReportsAFileInPlaceOfItsDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := writer{path: filepath.Join(dir, "log"), limit: 100, keep: 2}
	if n, err := w.Write([]byte("record\n")); n != 0 || err == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

func TestLoggerRefusesAnUnknownLevel(t *testing.T) {
	level := "loud"
	if _, err := NewLogger(t.TempDir(), LogOptions{Level: &level, Stderr: os.Stderr}); err == nil {
		t.Error("no error")
	}
}
