package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// endStrays kills the processes that left the turn's process group and carry its id in their
// environment. A stray may start another one while this looks, so it looks until there are
// none, for as long as killed processes are waited for at all.
func endStrays(turnID string) {
	if turnID == "" {
		return
	}
	deadline := time.Now().Add(killWait)
	for killStrays(turnID) > 0 && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond) // the killed need a moment to be gone
	}
}

// killStrays kills the strays that there are now, and returns how many it found.
func killStrays(turnID string) (found int) {
	mark := []byte(TurnVariable + "=" + turnID)
	for _, pid := range processes() {
		if pid == os.Getpid() || !carries(pid, mark) {
			continue
		}
		// The process may have ended since, and its id may be another's. The handle is that
		// of one process for ever; only what carries the mark after it was taken is killed.
		p, err := os.FindProcess(pid)
		if err != nil {
			continue
		}
		if carries(pid, mark) {
			found++
			_ = p.Kill()
		}
		_ = p.Release()
	}
	return found
}

// carries reports whether the process was started with the variable in its environment. Other
// people's processes cannot be read, zombies have none.
func carries(pid int, variable []byte) bool {
	env, err := os.ReadFile(procFile(pid, "environ"))
	if err != nil {
		return false
	}
	for one := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(one, variable) {
			return true
		}
	}
	return false
}

// onlyZombies reports whether every process of the group has ended and merely waits to be
// reaped. It is false when /proc does not tell.
func onlyZombies(group int) bool {
	seen := false
	for _, pid := range processes() {
		state, of, ok := status(pid)
		if !ok || of != group {
			continue
		}
		if state != "Z" && state != "X" {
			return false
		}
		seen = true
	}
	return seen
}

// status is the state and the process group of a process.
func status(pid int) (state string, group int, ok bool) {
	stat, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return "", 0, false
	}
	// pid (name) state ppid pgrp …, where the name may hold blanks and parentheses.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return "", 0, false
	}
	group, err = strconv.Atoi(string(fields[2]))
	return string(fields[0]), group, err == nil
}

// processes are the ids of all processes that can be seen.
func processes() []int {
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
