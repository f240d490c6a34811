//go:build !windows

package regularfile_test

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// A test that blocks here fails when the whole run times out.
func TestWhatIsNoFileIsRefusedWithoutBlocking(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // the path of a socket is short
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	wantKind(t, pipe, "a named pipe")
	wantKind(t, "socket", "a socket")
	if err := os.Symlink("socket", "tosocket"); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "tosocket", "a socket")
	wantKind(t, link, "a device")
	if _, err := regularfile.Read("/dev/zero", 1<<20); err == nil {
		t.Error("read a device")
	}
	if _, err := regularfile.Read("/proc/self/mem", 10); err == nil { // missing, or its start cannot be read
		t.Error("read what cannot be read")
	}
}

func TestFilesAreClosed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := lowestDescriptor(t)
	for _, name := range []string{name, filepath.Dir(name)} {
		regularfile.Read(name, 2)
		regularfile.Read(name, 4)
	}
	if after := lowestDescriptor(t); after != before {
		t.Errorf("the next descriptor is %d, and was %d", after, before)
	}
}

// lowestDescriptor returns the lowest descriptor that is not open.
func lowestDescriptor(t *testing.T) uintptr {
	t.Helper()
	f, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return f.Fd()
}
