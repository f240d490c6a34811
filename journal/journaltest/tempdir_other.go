//go:build !linux

package journaltest

import "flag"

// UseMemoryForTempDir parses the flags. On Linux it also sets TMPDIR to a file system in
// memory in a short test run.
func UseMemoryForTempDir() { flag.Parse() }
