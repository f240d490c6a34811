package main

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// TestKillAtEachStep kills compact, repair, clean, reindex and the commands that
// copy sessions after a system call that changes a file or a directory: the first, the
// second, and so on until a run has no more. Steps that are microseconds apart are
// out of reach for TestKill. Without -kills 300, it takes one step in 24.
func TestKillAtEachStep(t *testing.T) {
	t.Parallel()
	newKiller := killers(t)
	t.Run("compact", func(t *testing.T) { compactChore(newKiller(t, 1), 2_000).killAtEachStep() })
	t.Run("repair", func(t *testing.T) { repairChore(newKiller(t, 2), 2_000).killAtEachStep() })
	t.Run("clean", func(t *testing.T) { cleanChore(newKiller(t, 3), 2, false).killAtEachStep() })
	t.Run("empty the trash", func(t *testing.T) { cleanChore(newKiller(t, 6), 2, true).killAtEachStep() })
	killCopies(t, newKiller, 600_000, (*chore).killAtEachStep)
	t.Run("reindex", func(t *testing.T) { reindexChore(newKiller(t, 7)).killAtEachStep() })
}

func (c *chore) killAtEachStep() {
	c.t.Helper()
	stride := 24
	if *kills >= enoughKills {
		stride = 1
	}
	for n, rounds := 1+c.random.IntN(stride), 0; ; n, rounds = n+stride, rounds+1 {
		c.restore()
		if !c.mustKillAtStep(n) {
			c.check(true)
			c.t.Logf("killed at %d steps, of %d to %d", rounds, max(0, n-stride), n-1)
			return
		}
		c.finish()
	}
}

// mustKillAtStep is killAtStep. Where programtest requires programs, ptrace must be permitted.
func (c *chore) mustKillAtStep(n int) (killed bool) {
	c.t.Helper()
	killed, err := c.killAtStep(n)
	if errors.Is(err, syscall.EPERM) && !programtest.Required() {
		c.t.Skip("ptrace is not permitted")
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return killed
}

// killAtStep runs the command and kills it after its n-th step. It reports false
// if there are fewer.
func (c *chore) killAtStep(n int) (killed bool, err error) {
	runtime.LockOSThread() // ptrace works per thread
	defer runtime.UnlockOSThread()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer null.Close()
	cmd := c.command(c.args...)
	pid, err := syscall.ForkExec(cmd.Path, cmd.Args, &syscall.ProcAttr{
		Dir: cmd.Dir, Env: cmd.Environ(), Files: []uintptr{null.Fd(), null.Fd(), null.Fd()},
		Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
	})
	if err != nil {
		return false, err
	}
	return (&tracer{pid: pid, steps: n, inside: map[int]bool{}}).run()
}

// tracer stops a program at each system call.
type tracer struct {
	pid    int
	steps  int          // before the kill
	inside map[int]bool // threads that are in a system call
}

func (t *tracer) run() (killed bool, err error) {
	for begun := false; ; {
		var status syscall.WaitStatus
		thread, err := syscall.Wait4(-t.pid, &status, syscall.WALL, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return killed, err
		}
		if !status.Stopped() {
			if thread == t.pid { // the last thread to exit
				return killed, nil
			}
			continue
		}
		if !begun {
			begun = true
			options := unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
			if err := syscall.PtraceSetOptions(t.pid, options); err != nil {
				return false, err
			}
		}
		if !killed && t.isStep(thread, status) {
			if t.steps--; t.steps == 0 {
				killed = true
				syscall.Kill(t.pid, syscall.SIGKILL)
				continue
			}
		}
		// The loop above waits for a thread that has exited meanwhile.
		syscall.PtraceSyscall(thread, passedOn(status))
	}
}

// passedOn returns the signal to deliver to a stopped thread: 0 for those that
// ptrace causes.
func passedOn(status syscall.WaitStatus) int {
	switch signal := status.StopSignal(); signal {
	case syscall.SIGTRAP, syscall.SIGTRAP | 0x80, syscall.SIGSTOP:
		return 0
	default:
		return int(signal)
	}
}

// isStep reports whether a thread has returned from a system call that changes a
// file or a directory. It stops before and after each call.
func (t *tracer) isStep(thread int, status syscall.WaitStatus) bool {
	if status.StopSignal() != syscall.SIGTRAP|0x80 {
		return false
	}
	t.inside[thread] = !t.inside[thread]
	var regs syscall.PtraceRegs
	if t.inside[thread] || syscall.PtraceGetRegs(thread, &regs) != nil {
		return false
	}
	switch regs.Orig_rax {
	case unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_UNLINKAT, unix.SYS_MKDIRAT,
		unix.SYS_SYMLINKAT, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_TRUNCATE, unix.SYS_FTRUNCATE, unix.SYS_PWRITE64, unix.SYS_COPY_FILE_RANGE,
		unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		return true
	case unix.SYS_OPENAT:
		return regs.Rdx&unix.O_CREAT != 0
	case unix.SYS_WRITE:
		return regs.Rdx > 8 // shorter writes wake threads
	}
	return false
}
