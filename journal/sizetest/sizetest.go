package sizetest

import (
	"flag"
	"testing"
)

var full = flag.Bool("full", false, "run the tests at full size, which takes minutes")

// Full reports whether tests run at full size.
func Full() bool { return *full }

// SkipUnlessFull skips a test that runs at full size only. The reason says what makes it expensive.
func SkipUnlessFull(t testing.TB, reason string) {
	t.Helper()
	if !Full() {
		t.Skip(reason + "; run it with: -full")
	}
}
