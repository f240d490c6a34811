//go:build !linux

package process

// pids is not used: descendants are unknown.
type pids map[int]string

// endDetached does nothing: the environment of other processes cannot be read.
func endDetached(string, pids) {}

func descendantsOf(int) pids { return nil }

// onlyZombies is unknown; the caller then waits somewhat longer.
func onlyZombies(int) bool { return false }

// carriers returns nil for unknown.
func carriers(string) (found map[int]struct{}, all bool) { return nil, true }

// thisOwner returns "": other processes could not check it.
func thisOwner() string { return "" }

// EndOrphans returns 0.
func EndOrphans(turnID string) (ended int) { return 0 }

// EndResidents returns 0.
func EndResidents(turnID string) (ended int) { return 0 }

// OrphanedTurns returns nil.
func OrphanedTurns() []string { return nil }
