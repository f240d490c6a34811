// Command measure runs a program and writes its cost to file descriptor 3, as
// JSON. A process inherits the peak memory use of its parent, so the figures start
// programs through this small one.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

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
	c, err := measure(exec.Command(os.Args[1], os.Args[2:]...))
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
	if err := cmd.Wait(); err != nil {
		return c, err
	}
	c.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	c.Peak = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	return c, nil
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
