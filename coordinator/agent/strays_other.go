//go:build !linux

package agent

// endStrays does nothing where the environment of other processes cannot be read.
func endStrays(string, kin) {}

// kinOf are not known.
func kinOf(int) kin { return nil }

// onlyZombies cannot be told from the outside. Whoever asks then waits a little longer.
func onlyZombies(int) bool { return false }

// marked cannot be told either: nil says so.
func marked(string) map[int]struct{} { return nil }

// EndOrphans does nothing, either.
func EndOrphans(string) (ended int) { return 0 }

// thisProgram has no name that others could find it by.
func thisProgram() string { return "" }

// EndResidents does nothing, either.
func EndResidents(string) (ended int) { return 0 }

// OrphanedTurns are not seen.
func OrphanedTurns() []string { return nil }
