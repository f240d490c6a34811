//go:build linux || darwin

package tty

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

func TestTerminalReportsKeys(t *testing.T) {
	m := ttytest.Start(t, 60, 40, program(t, "events"))
	m.Expect("ready")
	m.Press("a", "M-b", "C-Left", "Home", "界", "C-c", "S-Enter", "Escape")
	m.Expect("key -4 0")
	m.Run("set-buffer", "one\ntwo")
	m.Run("paste-buffer", "-p")
	m.Expect("Paste{Text:\"one\\ntwo\", Dropped:0}\n> live")
	want := []string{
		"ready", "key 'a' 0", "key 'b' 2", "key -7 4", "key -9 0", "key '界' 0", "key 'c' 4", "key -1 1", "key -4 0",
		`tty.Paste{Text:"one\ntwo", Dropped:0}`, "> live",
	}
	if got := strings.TrimRight(m.Text(), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("it shows\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// Over a slow line the halves of a sequence arrive apart.
func TestPatientTerminalWaitsForTheRestOfAKey(t *testing.T) {
	other, file, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	terminal, err := Open(file, file)
	if err != nil {
		t.Fatal(err)
	}
	terminal.SetPatient(true)
	for {
		begun := time.Now()
		write(t, other, "\x1b")
		time.Sleep(2 * keyWait) // the gap is the input that is tested
		write(t, other, "[A")
		got := <-terminal.Events()
		if want := (Key{Code: Up}); got == Event(want) {
			break
		}
		if time.Since(begun) < patientKeyWait {
			t.Fatalf("got %#v", got)
		}
		for _, rest := range "[A" { // the machine was busy: once more
			if got := <-terminal.Events(); got != Event(Key{Code: Code(rest)}) {
				t.Fatalf("got %#v", got)
			}
		}
	}
	if err := terminal.Close(); err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, file *os.File, text string) {
	t.Helper()
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestLendRestoresBlockingReads(t *testing.T) {
	other, file, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	fd, err := unix.Dup(int(file.Fd())) // as the standard files are: the runtime does not poll them
	if err != nil {
		t.Fatal(err)
	}
	file = os.NewFile(uintptr(fd), "terminal")
	terminal, err := Open(file, file)
	if err != nil {
		t.Fatal(err)
	}
	if err := terminal.Lend(func() error { return unix.SetNonblock(int(file.Fd()), true) }); err != nil {
		t.Fatal(err)
	}
	if flags, err := unix.FcntlInt(file.Fd(), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("the flags are %#x, %v", flags, err)
	}
	if err := terminal.Close(); err != nil {
		t.Error(err)
	}
}

// TestSuspendStopsTheGroup stops a program in all ways. Its parent in the group stands for go run.
func TestSuspendStopsTheGroup(t *testing.T) {
	m := ttytest.Start(t, 60, 40, "bash --norc --noprofile")
	dir := t.TempDir()
	before := m.Settings("before")
	m.Press(fmt.Sprintf("sh -c 'echo $$ > %s/parent; %s; echo it ended; exit 1'", dir, program(t, "events")), "Enter")
	for i, stop := range []func(){
		func() { m.Press("C-z") },
		func() { signalGroup(t, dir, syscall.SIGTSTP) },
		func() { signalGroup(t, dir, syscall.SIGSTOP) },
	} {
		m.Expect("> live")
		stop()
		m.ExpectTimes("Stopped", i+1)
		if stopped := m.Settings(fmt.Sprint("stopped", i)); stopped != before {
			t.Errorf("after stop %d, the settings are %s, before %s", i, stopped, before)
		}
		m.Press("fg", "Enter")
		m.ExpectTimes("drawn", i+1)
		m.Press("x")
		m.ExpectTimes("key 'x' 0", i+1)
	}
	m.Press("q")
	m.Expect("\nit ended")
	if after := m.Settings("after"); after != before {
		t.Errorf("at the end, the settings are %s, before %s", after, before)
	}
}

// signalGroup sends a signal to the group of the process whose number is in a file.
func signalGroup(t *testing.T, dir string, signal syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(-readPID(t, filepath.Join(dir, "parent")), signal); err != nil {
		t.Fatal(err)
	}
}

func readPID(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
