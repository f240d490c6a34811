package process

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// A procStat is the content of /proc/PID/stat.
type procStat struct {
	state   string
	parent  int
	group   int
	session int
	flags   uint64
	started string // in clock ticks since the boot
}

// kernelThread is PF_KTHREAD, the flag of kernel threads.
const kernelThread = 0x00200000

// ended reports whether the process is a zombie or dead.
func (s procStat) ended() bool { return s.state == "Z" || s.state == "X" }

// stat returns the status of a process; ok is false if there is none.
func stat(pid int) (is procStat, ok bool) {
	line, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return is, false
	}
	// pid (name) state ppid pgrp session tty tpgid flags …; field 22 is the start time. The name
	// may contain anything.
	fields := strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:]))
	if len(fields) < 20 {
		return is, false
	}
	is.state, is.started = fields[0], fields[19]
	var errs [4]error
	is.parent, errs[0] = strconv.Atoi(fields[1])
	is.group, errs[1] = strconv.Atoi(fields[2])
	is.session, errs[2] = strconv.Atoi(fields[3])
	is.flags, errs[3] = strconv.ParseUint(fields[6], 10, 64)
	return is, errors.Join(errs[:]...) == nil
}

// allPIDs returns the ids of all processes that can be seen.
func allPIDs() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func procFile(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

// variables returns the values of an environment variable in an environment as /proc shows it.
func variables(env []byte, name string) (values []string) {
	prefix := []byte(name + "=")
	for variable := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(variable, prefix); ok {
			values = append(values, string(value))
		}
	}
	return values
}

// environ returns the environment of a process. known is false if the process has none at this
// moment, because it is about to execute a program or is dying: /proc then shows an empty file,
// newer kernels return ESRCH. Processes of other users cannot be read and have none.
func environ(pid int) (env []byte, known bool) {
	env, err := os.ReadFile(procFile(pid, "environ"))
	switch {
	case err != nil && !errors.Is(err, syscall.ESRCH):
		return nil, true
	case len(env) > 0:
		return env, true
	case inTransition(pid):
		return nil, false
	}
	// It has memory now, so its environment, which may be empty, can be read now.
	env, _ = os.ReadFile(procFile(pid, "environ"))
	return env, true
}

// inTransition reports whether a process without an environment has no arguments either: it is
// between two programs, or dying.
func inTransition(pid int) bool {
	args, err := os.ReadFile(procFile(pid, "cmdline"))
	if err != nil || len(args) > 0 {
		return false
	}
	is, ok := stat(pid)
	return ok && !is.ended() && is.flags&kernelThread == 0
}

// onlyZombies reports whether every process of the group has ended and waits to be reaped. It is
// false if the group has no process in /proc.
func onlyZombies(group int) bool {
	seen := false
	for _, pid := range allPIDs() {
		is, ok := stat(pid)
		if !ok || is.group != group {
			continue
		}
		if !is.ended() {
			return false
		}
		seen = true
	}
	return seen
}

// killIf kills a process if meant returns true while a handle of the process is open. The process
// may have ended and its id may have been reused, but a handle always refers to the same process.
func killIf(pid int, meant func() bool) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if meant() {
		_ = p.Kill()
	}
}
