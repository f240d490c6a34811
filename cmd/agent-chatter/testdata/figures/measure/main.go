// Command measure runs a program and writes what it cost to file descriptor 3,
// as JSON. A process inherits the highest memory use of the one that starts it,
// so programs are started by this one, which is small.
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

// cost is read by the figures.
type cost struct {
	Wall    time.Duration
	CPU     time.Duration // user and system
	Peak    int64         // resident, in bytes
	Written int64         // passed to write(2) and the like, in bytes
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
	// It is left a zombie until its counters are read.
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
