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
	wantKind(t, link, "a device")
	if _, err := regularfile.Read("/dev/zero", 1<<20); err == nil {
		t.Error("read a device")
	}
}
