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

// UseMemoryForTempDir parses the flags. In a short test run it sets TMPDIR to a file system
// in memory, where a sync costs nothing, unless it is too small. A full run uses the disk.
// Call it in TestMain.
func UseMemoryForTempDir() {
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
