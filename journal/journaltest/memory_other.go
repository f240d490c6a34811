//go:build !linux

package journaltest

import "flag"

// UseMemory parses the flags. On Linux it makes the temporary files of a short
// test run files in memory.
func UseMemory() { flag.Parse() }
