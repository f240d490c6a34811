// Package racetest skips tests in which the race detector can find nothing.
package racetest

import "testing"

// SkipSequential skips a test if the race detector is on. Call it in expensive tests that use one goroutine only: they
// have no races, and the detector makes them several times slower.
func SkipSequential(t testing.TB) {
	t.Helper()
	Skip(t, "it uses one goroutine, which has no races")
}

// Skip skips a test if the race detector is on. The reason says why the detector needs no such test.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if Enabled {
		t.Skip(reason)
	}
}
