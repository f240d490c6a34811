package journaltest

import (
	"flag"
	"os"
	"syscall"
	"testing"
)

const (
	memoryDir  = "/dev/shm"
	memoryFree = 4 << 30 // bytes that the tests of all packages may need at once
	noExec     = 8       // ST_NOEXEC of statfs(2)
)

// UseMemory makes a short test run keep its temporary files in memory, where a sync
// costs nothing. A full run uses the disk. Call it in TestMain; it parses the flags.
func UseMemory() {
	flag.Parse()
	if !testing.Short() || os.Getenv("TMPDIR") != "" {
		return
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memoryDir, &fs); err != nil || fs.Flags&noExec != 0 ||
		int64(fs.Bavail)*fs.Bsize < memoryFree {
		return
	}
	os.Setenv("TMPDIR", memoryDir)
}
