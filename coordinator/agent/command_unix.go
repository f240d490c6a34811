//go:build unix

package agent

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A group is the process group of a turn. Its id is that of the program that leads it, and
// stays taken while any process of the group is left, even when the leader is gone.
type group struct{ leader *os.Process }

// leadGroup makes the program lead a process group of its own. Signals from the terminal, as
// for Ctrl+C, then no longer reach it; whoever runs the turn decides.
func leadGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks every process of the group to end.
func (g group) terminate() { g.ask(syscall.SIGTERM) }

// interrupt asks every process of the group to leave off what it does, as Ctrl+C would.
func (g group) interrupt() { g.ask(syscall.SIGINT) }

// ask sends the signal to the group. A process that is suspended, as after an attempt to read
// from the terminal, is woken to hear it.
func (g group) ask(s syscall.Signal) {
	_ = g.signal(s)
	_ = g.signal(syscall.SIGCONT)
}

// kill ends every process of the group, as soon as the kernel gets to it.
func (g group) kill() { _ = g.signal(syscall.SIGKILL) }

// awaitEnd returns when no process of the group is alive, or false at the deadline.
func (g group) awaitEnd(deadline <-chan time.Time) bool {
	for pause := time.Millisecond; g.alive(); pause = min(2*pause, 20*time.Millisecond) {
		select {
		case <-time.After(pause): // the system gives no notice of a group's end
		case <-deadline:
			return false
		}
	}
	return true
}

// alive reports whether the group has a process that can still do something. Zombies, which
// nobody may ever reap where the first process of a container does not, cannot.
func (g group) alive() bool {
	return g.signal(0) == nil && !onlyZombies(g.leader.Pid)
}

func (g group) signal(s syscall.Signal) error { return syscall.Kill(-g.leader.Pid, s) }
