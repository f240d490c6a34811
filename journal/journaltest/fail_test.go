package journaltest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

func TestFailFailsOneOperation(t *testing.T) {
	disk := journaltest.New(vfs.OS)
	name := filepath.Join(t.TempDir(), "f")
	f, err := disk.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	disk.Fail(2, syscall.ENOSPC, journaltest.Write)
	disk.HalfWrites(true)
	for i, want := range []error{nil, syscall.ENOSPC, nil} {
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("abcd")); !errors.Is(err, want) {
			t.Errorf("write %d: %v, want %v", i+1, err, want)
		}
	}
	if got, _ := os.ReadFile(name); string(got) != "abcdababcd" {
		t.Errorf("the file holds %q", got)
	}
	if n := disk.Count(journaltest.Write); n != 3 || !disk.Failed() {
		t.Errorf("%d writes, failed %v", n, disk.Failed())
	}
	if log := disk.String(); !strings.Contains(log, "write "+name+", 4 bytes: ") {
		t.Errorf("the failure is not in the log:\n%s", log)
	}
}

func TestFailFromLastsUntilHeal(t *testing.T) {
	disk := journaltest.New(vfs.OS)
	path := t.TempDir()
	disk.FailFrom(2, syscall.EACCES)
	for i, want := range []error{nil, syscall.EACCES, syscall.EACCES} {
		if err := disk.Mkdir(filepath.Join(path, string(rune('a'+i))), 0o700); !errors.Is(err, want) {
			t.Errorf("mkdir %d: %v, want %v", i+1, err, want)
		}
		if _, err := disk.Stat(path); err != nil {
			t.Error("a read failed though only changes were to:", err)
		}
	}
	disk.Heal()
	if err := disk.Mkdir(filepath.Join(path, "z"), 0o700); err != nil {
		t.Error(err)
	}
}
