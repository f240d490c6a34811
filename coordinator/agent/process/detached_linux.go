package process

import (
	"os"
	"slices"
	"time"
)

// pids are processes by id, with their start times: an id may be reused.
type pids map[int]string

// endDetached kills the processes that carry the turn's id, and descendants. One may start another
// while this searches, so it repeats until it finds none, for at most KillWait.
func endDetached(turnID string, descendants pids) {
	if turnID == "" {
		return
	}
	deadline := time.Now().Add(KillWait)
	for killDetached(turnID, descendants) && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond) // killed processes take a moment to end
	}
}

// killDetached kills the detached processes that exist now, and reports whether there may be more.
func killDetached(turnID string, descendants pids) (again bool) {
	for pid := range descendants {
		if descendants.alive(pid) {
			again = true
			killIf(pid, func() bool { return descendants.alive(pid) })
		}
	}
	for _, pid := range allPIDs() {
		if pid == os.Getpid() {
			continue
		}
		carries, known := carriesTurn(pid, turnID)
		again = again || carries || !known
		if carries {
			killIf(pid, func() bool { carries, _ := carriesTurn(pid, turnID); return carries })
		}
	}
	return again
}

// carriesTurn reports whether a process was started with the turn's id in its environment. known
// is false if that cannot be read at this moment.
func carriesTurn(pid int, turnID string) (carries, known bool) {
	env, known := environ(pid)
	return slices.Contains(variables(env, TurnVariable), turnID), known
}

// carriers returns the ids of the living processes that carry the turn's id. all is false if that
// of another one cannot be read at this moment.
func carriers(turnID string) (found map[int]struct{}, all bool) {
	found, all = map[int]struct{}{}, true
	for _, pid := range allPIDs() {
		carries, known := carriesTurn(pid, turnID)
		if carries {
			found[pid] = struct{}{}
		}
		all = all && known
	}
	return found, all
}

// descendantsOf returns the living descendants of a process. Some carry no turn in their
// environment: it was emptied, or they have overwritten it.
func descendantsOf(root int) pids {
	children := map[int][]int{}
	started := pids{}
	for _, pid := range allPIDs() {
		if is, ok := stat(pid); ok && !is.ended() {
			children[is.parent] = append(children[is.parent], pid)
			started[pid] = is.started
		}
	}
	found := pids{}
	for next := children[root]; len(next) > 0; {
		pid := next[0]
		found[pid] = started[pid]
		next = append(next[1:], children[pid]...)
	}
	return found
}

// alive reports whether the process is alive, and not another one that got its id.
func (p pids) alive(pid int) bool {
	is, ok := stat(pid)
	return ok && !is.ended() && is.started == p[pid]
}
