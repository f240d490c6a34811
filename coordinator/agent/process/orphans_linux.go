package process

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// EndOrphans kills the orphans of a turn and returns their number. If the owner of one of them is
// alive they are no orphans: the caller has a copy of the owner's session. It returns 0 on other
// systems than Linux.
func EndOrphans(turnID string) (ended int) {
	orphans := orphansOf(turnID)
	if len(orphans) > 0 {
		endDetached(turnID, nil)
	}
	return len(orphans)
}

// EndResidents kills the agents that were kept after a turn and whose owner has died, and returns
// their number. Detached processes keep running, such as a server that is meant to stay: a process
// is detached if its group is the one that leads its session, or if the leader of its session
// carries the turn's id. EndResidents returns 0 on other systems than Linux.
func EndResidents(turnID string) (ended int) {
	orphans := orphansOf(turnID)
	for pid := range orphans {
		is, ok := stat(pid)
		if _, detached := orphans[is.session]; ok && !detached && is.group != is.session {
			killIf(pid, func() bool { carries, _ := carriesTurn(pid, turnID); return carries })
			ended++
		}
	}
	return ended
}

// OrphanedTurns returns the ids of the turns that have orphans. It returns nil on other systems
// than Linux.
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

// orphansOf returns the processes of a turn, or nil if the owner of one of them is alive.
func orphansOf(turnID string) map[int]struct{} {
	if turnID == "" {
		return nil
	}
	left := carriers(turnID)
	for pid := range left {
		if hasOwner(pid) {
			return nil
		}
	}
	return left
}

// thisOwner returns the value of ownerVariable for this process.
func thisOwner() string { return ownerName(os.Getpid()) }

// ownerName returns the id and the start time of a process, or "" if it has ended. An id alone may
// be reused.
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
	if len(owners) == 0 {
		return false
	}
	id, _, _ := strings.Cut(owners[0], "-")
	owner, err := strconv.Atoi(id)
	return err == nil && ownerName(owner) == owners[0]
}
