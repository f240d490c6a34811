package agent

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endStrays kills the processes that left the turn's process group: those that carry its id in
// their environment, and kin. A stray may start another one while this looks, so it looks until
// there are none, for as long as killed processes are waited for at all.
func endStrays(turnID string, kin kin) {
	if turnID == "" {
		return
	}
	mark := []byte(TurnVariable + "=" + turnID)
	deadline := time.Now().Add(killWait)
	for killStrays(mark, kin) && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond) // the killed need a moment to be gone
	}
}

// killStrays kills the strays that there are now, and reports whether there may be more.
func killStrays(mark []byte, kin kin) (again bool) {
	for pid := range kin {
		if kin.still(pid) {
			again = true
			killIf(pid, func() bool { return kin.still(pid) })
		}
	}
	for _, pid := range processes() {
		if pid == os.Getpid() {
			continue
		}
		switch carries(pid, mark) {
		case unsure:
			again = true
		case yes:
			again = true
			killIf(pid, func() bool { return carries(pid, mark) == yes })
		}
	}
	return again
}

// kinOf are the living descendants of a process. Some have no environment that tells whose they
// are: it was emptied, or they have written over it.
func kinOf(root int) kin {
	below := map[int][]int{}
	started := kin{}
	for _, pid := range processes() {
		if is, ok := status(pid); ok && !is.ended() {
			below[is.parent] = append(below[is.parent], pid)
			started[pid] = is.started
		}
	}
	found := kin{}
	for next := below[root]; len(next) > 0; {
		pid := next[0]
		found[pid] = started[pid]
		next = append(next[1:], below[pid]...)
	}
	return found
}

// still reports whether a process of that id is alive that was when kin was made.
func (k kin) still(pid int) bool {
	is, ok := status(pid)
	return ok && !is.ended() && is.started == k[pid]
}

// marked are the living processes that carry the turn's id, by their ids.
func marked(turnID string) map[int]struct{} {
	mark := []byte(TurnVariable + "=" + turnID)
	found := map[int]struct{}{}
	for _, pid := range processes() {
		if carries(pid, mark) == yes {
			found[pid] = struct{}{}
		}
	}
	return found
}

// EndOrphans ends what is left of a turn whose program has died, and tells how many processes
// that were. While the program that started them is alive they are no orphans: whoever asks
// has a copy of its session. Elsewhere than on Linux it does nothing.
func EndOrphans(turnID string) (ended int) {
	left := orphans(turnID)
	if len(left) > 0 {
		endStrays(turnID, nil)
	}
	return len(left)
}

// EndResidents ends what a [Lasting] engine has kept since a turn that has ended, when its
// program has died, and tells how many processes that were. What agents have put into sessions
// of their own stays, such as a server that is meant to: it is in the group that leads its
// session, though the leader may be gone, or its leader is marked, too. Elsewhere than on Linux
// it does nothing.
func EndResidents(turnID string) (ended int) {
	left := orphans(turnID)
	for pid := range left {
		is, ok := status(pid)
		if _, apart := left[is.session]; ok && !apart && is.group != is.session {
			killIf(pid, func() bool { return carries(pid, []byte(TurnVariable+"="+turnID)) == yes })
			ended++
		}
	}
	return ended
}

// orphans are the processes of a turn, unless one of them belongs to a living program.
func orphans(turnID string) map[int]struct{} {
	if turnID == "" {
		return nil
	}
	left := marked(turnID)
	for pid := range left {
		if owned(pid) {
			return nil
		}
	}
	return left
}

// thisProgram names this process as no other one is named while it lives: its id may be
// another's later, but not with the same time of its start.
func thisProgram() string { return program(os.Getpid()) }

// program is the name of a process; "" when it has ended.
func program(pid int) string {
	is, ok := status(pid)
	if !ok || is.ended() {
		return ""
	}
	return strconv.Itoa(pid) + "-" + is.started
}

// owned reports whether the program is alive that a process belongs to.
func owned(pid int) bool {
	env, err := os.ReadFile(procFile(pid, "environ"))
	if err != nil {
		return false // it has ended
	}
	for one := range bytes.SplitSeq(env, []byte{0}) {
		if owner, ok := bytes.CutPrefix(one, []byte(OwnerVariable+"=")); ok {
			id, _, _ := strings.Cut(string(owner), "-")
			pid, err := strconv.Atoi(id)
			return err == nil && program(pid) == string(owner)
		}
	}
	return false
}

// OrphanedTurns are the ids of turns that processes carry whose program has died. Elsewhere than
// on Linux there seem to be none.
func OrphanedTurns() []string {
	found := map[string]struct{}{}
	for _, pid := range processes() {
		env, err := os.ReadFile(procFile(pid, "environ"))
		if err != nil || !bytes.Contains(env, []byte(TurnVariable+"=")) || owned(pid) {
			continue
		}
		for one := range bytes.SplitSeq(env, []byte{0}) {
			if id, ok := bytes.CutPrefix(one, []byte(TurnVariable+"=")); ok {
				found[string(id)] = struct{}{}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// killIf kills the process if it still is the one that is meant. It may have ended, and its id
// may be another's. The handle is that of one process for ever; only what is meant after the
// handle was taken is killed.
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

// An answer is what can be said of a process that may change while it is looked at.
type answer int

const (
	no answer = iota
	yes
	unsure // the process has no memory to show just now
)

// carries tells whether the process was started with the variable in its environment. Other
// people's processes cannot be read. A process that is about to run a program, or is dying,
// shows an empty environment for a moment, or the error ESRCH where the kernel is newer.
func carries(pid int, variable []byte) answer {
	env, err := os.ReadFile(procFile(pid, "environ"))
	switch {
	case err != nil && !errors.Is(err, syscall.ESRCH):
		return no
	case len(env) > 0:
		return contains(env, variable)
	case inTransition(pid):
		return unsure
	}
	// It has memory now, so what there is of an environment can be read now.
	env, _ = os.ReadFile(procFile(pid, "environ"))
	return contains(env, variable)
}

// contains looks for the variable in an environment as /proc shows it.
func contains(env, variable []byte) answer {
	for one := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(one, variable) {
			return yes
		}
	}
	return no
}

// inTransition reports whether a process that has shown no environment has no arguments
// either, as nothing has that runs: it is between two programs or between life and death.
func inTransition(pid int) bool {
	args, err := os.ReadFile(procFile(pid, "cmdline"))
	if err != nil || len(args) > 0 {
		return false
	}
	is, ok := status(pid)
	return ok && !is.ended() && !is.kernel()
}

// onlyZombies reports whether every process of the group has ended and merely waits to be
// reaped. It is false when /proc does not tell.
func onlyZombies(group int) bool {
	seen := false
	for _, pid := range processes() {
		is, ok := status(pid)
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

// A procStatus is what /proc says of a process in its file stat.
type procStatus struct {
	state   string
	parent  int
	group   int
	session int
	flags   uint64
	started string // in clock ticks since the machine was
}

// ended reports whether the process is a zombie or less.
func (s procStatus) ended() bool { return s.state == "Z" || s.state == "X" }

// kernel reports whether it is a thread of the kernel's own: PF_KTHREAD.
func (s procStatus) kernel() bool { return s.flags&0x00200000 != 0 }

// status is the status of a process, or false when there is none.
func status(pid int) (is procStatus, ok bool) {
	stat, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return is, false
	}
	// pid (name) state ppid pgrp session tty tpgid flags … and the 22nd is when it started; the
	// name may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
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
