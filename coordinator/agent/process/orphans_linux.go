package process

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// EndOrphans kills the orphans of a turn and returns their number. It kills nothing and returns 0
// if the owner of one of the turn's processes is alive: the caller then has a copy of the owner's
// session. On systems other than Linux it returns 0.
func EndOrphans(turnID string) (ended int) {
	orphans := orphansOf(turnID)
	if len(orphans) > 0 {
		endDetached(turnID, nil)
	}
	return len(orphans)
}

// EndResidents kills the resident agents of a turn whose owner has died, and returns their number.
// Detached processes keep running, such as a server that an agent was asked to start: a process is
// detached if it is in the process group of its session leader, or if its session leader carries
// the turn's id. On systems other than Linux EndResidents returns 0.
func EndResidents(turnID string) (ended int) {
	killed := map[int]struct{}{}
	for deadline := time.Now().Add(KillWait); ; time.Sleep(time.Millisecond) {
		found := residentsOf(turnID)
		for _, pid := range found {
			killIf(pid, func() bool { carries, _ := carriesTurn(pid, turnID); return carries })
			killed[pid] = struct{}{}
		}
		// One that executed a program just then was not killed.
		if len(found) == 0 || time.Now().After(deadline) {
			return len(killed)
		}
	}
}

// residentsOf returns the orphans of a turn that are not detached.
func residentsOf(turnID string) (residents []int) {
	orphans := orphansOf(turnID)
	for pid := range orphans {
		status, ok := stat(pid)
		if _, detached := orphans[status.session]; ok && !detached && status.group != status.session {
			residents = append(residents, pid)
		}
	}
	return residents
}

// OrphanedTurns returns the ids of the turns that have orphans. On systems other than Linux it
// returns nil.
func OrphanedTurns() []string {
	found := map[string]struct{}{}
	for _, pid := range allPIDs() {
		env, err := os.ReadFile(procFile(pid, "environ"))
		if err != nil || !bytes.Contains(env, []byte(TurnVariable+"=")) || hasOwner(pid) {
			continue
		}
		for _, turnID := range variables(env, TurnVariable) {
			found[turnID] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// orphansOf returns the processes of a turn, or nil if the owner of one of them is alive. It waits,
// at most KillWait, for processes that are about to execute a program.
func orphansOf(turnID string) map[int]struct{} {
	if turnID == "" {
		return nil
	}
	found, all := carriers(turnID)
	for deadline := time.Now().Add(KillWait); !all && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
		found, all = carriers(turnID)
	}
	for pid := range found {
		if hasOwner(pid) {
			return nil
		}
	}
	return found
}

// thisOwner returns the value of ownerVariable for this process.
func thisOwner() string { return ownerName(os.Getpid()) }

// ownerName returns the id and the start time of a process, or "" if it has ended. The start time
// is included because ids are reused.
func ownerName(pid int) string {
	is, ok := stat(pid)
	if !ok || is.ended() {
		return ""
	}
	return strconv.Itoa(pid) + "-" + is.started
}

// hasOwner reports whether the owner of a process is alive.
func hasOwner(pid int) bool {
	env, err := os.ReadFile(procFile(pid, "environ"))
	if err != nil {
		return false // it has ended
	}
	owners := variables(env, ownerVariable)
	return len(owners) > 0 && isAlive(owners[0])
}

// isAlive reports whether the process of that name, as ownerName returns it, is alive.
func isAlive(owner string) bool {
	id, _, _ := strings.Cut(owner, "-")
	pid, err := strconv.Atoi(id)
	return err == nil && ownerName(pid) == owner
}
