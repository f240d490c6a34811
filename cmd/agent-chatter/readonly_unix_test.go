//go:build unix

package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/racetest"
)

// readOnly is a way to make a home read-only.
type readOnly struct {
	how string
	// command returns a program for which the home is read-only.
	command func(t *testing.T, home string, args ...string) *exec.Cmd
}

var readOnlyWays = []readOnly{
	{"its permissions", withoutPermission},
	{"its file system", onReadOnlyMount},
}

// withoutPermission removes the write permissions. They do not apply to root, in
// whose place another user runs the program.
func withoutPermission(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	eachBelow(t, home, func(path string, entry fs.DirEntry) {
		mode := fs.FileMode(0o444)
		if entry.IsDir() {
			mode = 0o555
			t.Cleanup(func() { os.Chmod(path, 0o700) }) // so that it can be removed
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	})
	if os.Getuid() != 0 {
		return exec.Command("agent-chatter", args...)
	}
	cmd := exec.Command(publicProgram(t), args...)
	cmd.Dir = filepath.Dir(cmd.Path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	letIn(t, home)
	return cmd
}

// publicProgram returns a copy of agent-chatter that every user may run.
func publicProgram(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "agent-chatter")
	if err := os.WriteFile(path, content, 0o755); err != nil {
		t.Fatal(err)
	}
	letIn(t, path)
	return path
}

// letIn makes the parents of a path in a directory of the test searchable by all users.
func letIn(t *testing.T, path string) {
	t.Helper()
	for dir := filepath.Dir(path); dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// onReadOnlyMount needs Linux and user namespaces.
func onReadOnlyMount(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	const mounted = `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"`
	in := func(args ...string) *exec.Cmd {
		return exec.Command("unshare", append([]string{"--user", "--map-root-user", "--mount", "sh", "-c", mounted,
			home}, args...)...)
	}
	if runtime.GOOS != "linux" || in("true").Run() != nil {
		t.Skip("there are no user namespaces")
	}
	return in(append([]string{"agent-chatter"}, args...)...)
}

func eachBelow(t *testing.T, dir string, do func(string, fs.DirEntry)) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil {
			do(path, entry)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// snapshotOf returns the names, times and sums of all files below a directory.
func snapshotOf(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	eachBelow(t, dir, func(path string, entry fs.DirEntry) {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(&all, path, " ", info.ModTime())
		if !entry.IsDir() {
			fmt.Fprintf(&all, " %x", sha256.Sum256([]byte(readFile(t, path))))
		}
		all.WriteByte('\n')
	})
	return all.String()
}

func TestReadOnlyHomeIsReadWithoutLockOrChange(t *testing.T) {
	skipIfShort(t)
	racetest.SkipSequential(t)
	for _, way := range readOnlyWays {
		t.Run(way.how, func(t *testing.T) {
			home := t.TempDir()
			do(t, home, exitDone, "chat", "-m", "an archived one")
			do(t, home, exitDone, "compact", "--keep", "0", "--archive-after", "0s")
			do(t, home, exitDone, "chat", "-m", "hello", "-m", "more")
			caches, _ := filepath.Glob(filepath.Join(home, "sessions", "*", "*.json"))
			for _, path := range caches { // a list would rebuild them
				os.Remove(path)
			}
			elsewhere := t.TempDir()
			if err := os.Chmod(elsewhere, 0o777); err != nil {
				t.Fatal(err)
			}

			readers := [][]string{
				{"replay", "latest"},
				{"replay", "latest", "--output", "snapshot"},
				{"sessions", "--output", "json"},
				{"sessions", "export", "latest", "-o", filepath.Join(elsewhere, "snapshot.json")},
				{"tail", "-n", "100", "--output", "json"},
				{"verify"},
			}
			run := func(args []string, code int) *program {
				p := startCommand(t, home, way.command(t, home, args...))
				p.closeInput()
				p.ends(code)
				return p
			}
			run([]string{"--version"}, exitDone) // makes the home read-only
			before := snapshotOf(t, home)
			var said []string
			for _, args := range readers {
				said = append(said, run(args, exitDone).stdout.String())
			}
			chat := run([]string{"chat", "--resume", "-m", "hello again"}, exitFailed)
			if answer, notice := chat.stdout.String(), chat.stderr.String(); !strings.Contains(answer,
				"“hello again”") || !strings.Contains(notice, "Failed to save session") {
				t.Errorf("chat prints %q, %q", answer, notice)
			}
			doctor := run([]string{"doctor"}, exitFailed)
			if found := doctor.stdout.String(); !strings.Contains(found, "wrong  locks: ") ||
				!strings.Contains(found, "wrong  disk: ") {
				t.Errorf("doctor prints\n%s", found)
			}
			if after := snapshotOf(t, home); after != before {
				t.Errorf("before\n%safter\n%s", before, after)
			}
			snapshot := readFile(t, filepath.Join(elsewhere, "snapshot.json"))

			eachBelow(t, home, func(path string, _ fs.DirEntry) { os.Chmod(path, 0o700) })
			for i, args := range readers {
				if stdout, _ := do(t, home, exitDone, args...); stdout != said[i] {
					t.Errorf("%q prints\n%s\nin a writable home\n%s", args, said[i], stdout)
				}
			}
			if readFile(t, filepath.Join(elsewhere, "snapshot.json")) != snapshot {
				t.Error("the exported snapshot differs")
			}
		})
	}
}
