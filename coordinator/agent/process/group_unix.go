//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A group is a process group. Its id is that of the program that leads it, and stays in use while
// a process of the group is left, even after the leader has exited.
type group struct{ leader *os.Process }

// leadGroup makes the program lead a new process group. Signals from the terminal, as for Ctrl+C,
// then do not reach it; the caller of Supervise decides when it ends.
func leadGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks every process of the group to end.
func (g group) terminate() { g.ask(syscall.SIGTERM) }

// interrupt asks every process of the group to stop its work, as Ctrl+C would.
func (g group) interrupt() { g.ask(syscall.SIGINT) }

// ask sends the signal to the group. It also continues suspended processes, which could not
// handle the signal otherwise; reading from the terminal suspends a process.
func (g group) ask(s syscall.Signal) {
	_ = g.signal(s)
	_ = g.signal(syscall.SIGCONT)
}

// kill ends every process of the group. It does not wait.
func (g group) kill() { _ = g.signal(syscall.SIGKILL) }

// awaitEnd returns true when no process of the group is alive, or false at the deadline.
func (g group) awaitEnd(deadline <-chan time.Time) bool {
	for pause := time.Millisecond; g.alive(); pause = min(2*pause, 20*time.Millisecond) {
		select {
		case <-time.After(pause): // the system does not notify of a group's end
		case <-deadline:
			return false
		}
	}
	return true
}

// alive reports whether the group has a process that is not a zombie. In a container whose first
// process does not reap, zombies stay.
func (g group) alive() bool {
	return g.signal(0) == nil && !onlyZombies(g.leader.Pid)
}

func (g group) signal(s syscall.Signal) error { return syscall.Kill(-g.leader.Pid, s) }
