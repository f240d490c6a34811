package console

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestEditedTextIsTakenIfItsFileIsLeft(t *testing.T) {
	dir := t.TempDir()
	asNobody(t, dir)
	t.Setenv("TMPDIR", dir)
	got, problem := edit(t.Context(), "text", `sh -c 'echo other >"$1"; chmod 500 "${1%/*}"' sh`)
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if len(left) != 1 || got != "other" || !strings.Contains(problem, "is left") {
		t.Errorf("got %q, %q, left %q", got, problem, left)
	}
}

// asNobody lets the goroutine of the test use files as a user without permissions, if it is root, who
// may remove every file.
func asNobody(t *testing.T, writable string) {
	t.Helper()
	const nobody = 65534
	if os.Geteuid() != 0 {
		return
	}
	for dir := writable; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	runtime.LockOSThread() // the thread ends with the test
	if err := unix.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Setfsuid(0) })
	if now, _ := unix.SetfsuidRetUid(-1); now != nobody {
		t.Skip("this user cannot become another one")
	}
	if _, err := os.ReadDir(writable); err != nil {
		t.Skip("only this user can use the directory for temporary files: ", err)
	}
}
