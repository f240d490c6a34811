package agenttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// GuardOf returns the process that ends the agents of an owner when the owner dies.
func GuardOf(t testing.TB, owner int) (pid int) {
	t.Helper()
	children, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", owner))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range children {
		of, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for child := range strings.FieldsSeq(string(of)) {
			args, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if strings.Contains(string(args), "\x00__guard\x00") {
				pid, _ = strconv.Atoi(child)
			}
		}
	}
	if pid == 0 {
		t.Fatalf("process %d has no guard", owner)
	}
	return pid
}

// ExitOf returns a function that waits until a running process, which need not be a child
// of the test, has exited.
func ExitOf(t testing.TB, pid int) (wait func()) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	readable := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}} // once the process has exited
	return func() {
		defer unix.Close(fd)
		_, err := unix.Poll(readable, -1)
		for err == unix.EINTR {
			_, err = unix.Poll(readable, -1)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
