// Command measure runs a program and writes its cost to file descriptor 3, as
// JSON. A process inherits the peak memory use of its parent, so the figures start
// programs through this small one.
//
//	measure PROGRAM [ARGUMENT…]               until it exits
//	measure -until TEXT PROGRAM [ARGUMENT…]   on a terminal, until it has written TEXT there; then it is killed
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// cost is decoded by the figures.
type cost struct {
	Wall    time.Duration
	CPU     time.Duration // user and system
	Peak    int64         // resident memory, in bytes
	Written int64         // by write(2) and similar calls, in bytes
}

func main() {
	run, args := measure, os.Args[1:]
	if args[0] == "-until" {
		text := []byte(args[1])
		run, args = func(cmd *exec.Cmd) (cost, error) { return measureUntil(cmd, text) }, args[2:]
	}
	c, err := run(exec.Command(args[0], args[1:]...))
	if err == nil {
		err = json.NewEncoder(os.NewFile(3, "cost")).Encode(c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measure(cmd *exec.Cmd) (c cost, err error) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return c, err
	}
	// It stays a zombie until its counters are read.
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		return c, err
	}
	c.Wall = time.Since(began)
	if c.Written, err = written(cmd.Process.Pid); err != nil {
		return c, err
	}
	return c, c.wait(cmd)
}

// measureUntil measures the time from the start of a program to a text that it
// writes to its terminal. What it has written is copied to standard output.
func measureUntil(cmd *exec.Cmd, text []byte) (c cost, err error) {
	terminal, theirs, err := pty.Open()
	if err != nil {
		return c, err
	}
	defer terminal.Close()
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		return c, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return c, err
	}
	theirs.Close()
	var output []byte
	for buf := make([]byte, 64<<10); !bytes.Contains(output, text); {
		n, err := terminal.Read(buf)
		if err != nil {
			os.Stdout.Write(output)
			return c, fmt.Errorf("it ended before it wrote %q: %w", text, err)
		}
		output = append(output, buf[:n]...)
	}
	c.Wall = time.Since(began)
	if err := cmd.Process.Kill(); err != nil {
		return c, err
	}
	_ = c.wait(cmd)                      // it was killed
	_, _ = io.Copy(io.Discard, terminal) // until its watcher has ended, too
	_, err = os.Stdout.Write(output)
	return c, err
}

// wait waits for the end of a program and adds what the system has counted.
func (c *cost) wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	if state := cmd.ProcessState; state != nil {
		c.CPU = state.UserTime() + state.SystemTime()
		c.Peak = state.SysUsage().(*syscall.Rusage).Maxrss << 10
	}
	return err
}

func written(pid int) (n int64, err error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0, err
	}
	var read int64
	_, err = fmt.Sscanf(string(content), "rchar: %d\nwchar: %d", &read, &n)
	return n, err
}
