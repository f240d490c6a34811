//go:build !windows

package attachment_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// attachments returns the directory of a journal's attachments, and its path.
func attachments(t testing.TB, fsys vfs.FS, dir, id string) (attachment.Dir, string) {
	t.Helper()
	journals := journal.NewDir(dir, journal.Options{FS: fsys})
	of, err := attachment.Of(journals, id)
	must(t, err)
	return of, filepath.Join(dir, id+".attachments")
}

func TestContentIsKeptOnceUnderItsSum(t *testing.T) {
	d, path := attachments(t, nil, filepath.Join(t.TempDir(), "team"), "A")
	for _, content := range [][]byte{[]byte("picture"), {}, []byte("picture"), bytes.Repeat([]byte{0}, 1<<20)} {
		sum, err := d.Write(content)
		must(t, err)
		read, err := d.Read(sum, int64(len(content)))
		must(t, err)
		if !bytes.Equal(read, content) || sum != attachment.Sum(content) {
			t.Errorf("read %d bytes of %d as %s", len(read), len(content), sum)
		}
	}
	entries, err := os.ReadDir(path)
	must(t, err)
	if len(entries) != 3 {
		t.Errorf("%d files, want 3: %v", len(entries), entries)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		must(t, err)
		if perm := info.Mode().Perm(); perm != 0o600 {
			t.Errorf("%s has the mode %o", entry.Name(), perm)
		}
	}
}

func TestTooMuchContentIsRefused(t *testing.T) {
	d, path := attachments(t, nil, t.TempDir(), "A")
	_, err := d.Write(make([]byte, attachment.MaxBytes+1))
	var tooLarge *attachment.TooLargeError
	if !errors.As(err, &tooLarge) || tooLarge.Bytes != attachment.MaxBytes+1 {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was written: ", err)
	}
	_, err = d.Write(make([]byte, attachment.MaxBytes))
	must(t, err)
}

func TestWhatIsNotTheContentIsDamaged(t *testing.T) {
	content := []byte("picture")
	sum := attachment.Sum(content)
	for name, damage := range map[string]func(path string) error{
		"a flipped byte": func(path string) error { return os.WriteFile(path, []byte("pictura"), 0o600) },
		"a shorter file": func(path string) error { return os.Truncate(path, 3) },
		"a longer file":  func(path string) error { return os.WriteFile(path, []byte("pictures"), 0o600) },
		"a link": func(path string) error {
			return errors.Join(os.Rename(path, path+"~"), os.Symlink(path+"~", path))
		},
		"a pipe": func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) },
	} {
		d, dir := attachments(t, nil, t.TempDir(), "A")
		_, err := d.Write(content)
		must(t, err)
		must(t, damage(filepath.Join(dir, sum)))
		if _, err := d.Read(sum, int64(len(content))); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
		_, err = d.Write(content) // mends it
		must(t, err)
		read, err := d.Read(sum, int64(len(content)))
		if must(t, err); !bytes.Equal(read, content) {
			t.Errorf("%s: not mended", name)
		}
	}
}

func TestMissingAttachmentIsNotExist(t *testing.T) {
	d, _ := attachments(t, nil, t.TempDir(), "A")
	if _, err := d.Read(attachment.Sum(nil), 0); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, sum := range []string{"", "../../etc/passwd", "AA", attachment.Sum(nil) + "/"} {
		var damaged *attachment.DamagedError
		if _, err := d.Read(sum, 0); !errors.As(err, &damaged) {
			t.Errorf("%q: %v", sum, err)
		}
	}
}

func TestCopyHasTheSameContent(t *testing.T) {
	dir := t.TempDir()
	from, _ := attachments(t, nil, dir, "A")
	sum, err := from.Write([]byte("picture"))
	must(t, err)
	for _, fsys := range []vfs.FS{vfs.OS, journaltest.New(vfs.OS)} { // with links, and without
		to, _ := attachments(t, fsys, t.TempDir(), "B")
		for range 2 {
			must(t, to.CopyFrom(from, sum, 7))
		}
		read, err := to.Read(sum, 7)
		if must(t, err); string(read) != "picture" {
			t.Errorf("%q", read)
		}
		must(t, to.Remove())
		must(t, to.Remove())
		if _, err := to.Read(sum, 7); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// Whatever call of the disk fails, an error is returned or the content survives a power cut.
func TestWrittenContentSurvivesAPowerCut(t *testing.T) {
	for nth := 1; ; nth++ {
		mem := journaltest.NewMem()
		must(t, mem.Mkdir("/team", 0o700))
		must(t, mem.SyncDir("/"))
		disk := journaltest.New(mem)
		disk.Fail(nth, syscall.EIO)
		d, _ := attachments(t, disk, "/team", "A")
		sum, err := d.Write([]byte("picture"))
		failed := disk.Failed()
		if err == nil {
			after, _ := attachments(t, mem.PowerCut(func() bool { return false }), "/team", "A")
			read, err := after.Read(sum, 7)
			if err != nil || string(read) != "picture" {
				t.Errorf("call %d failed: %q, %v", nth, read, err)
			}
		}
		if !failed {
			return
		}
	}
}
