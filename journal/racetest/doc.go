// Package racetest skips tests in which the race detector can find nothing.
package racetest

import "testing"

// SkipSequential skips a test if the race detector is on. Call it in expensive tests that use one goroutine only: they
// have no races, and the detector makes them several times slower.
func SkipSequential(t testing.TB) {
	t.Helper()
	if enabled {
		t.Skip("it uses one goroutine, which has no races")
	}
}
