package journaltest

import (
	"flag"
	"os"
	"syscall"

	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

const (
	memoryDir  = "/dev/shm"
	memoryFree = 4 << 30 // bytes that the tests of all packages may need at once
	noExec     = 8       // ST_NOEXEC of statfs(2)
)

// UseMemoryForTempDir parses the flags. Unless the tests run at full size, it sets TMPDIR to a file system
// in memory, where a sync costs nothing, unless it is too small. Tests at full size use the disk.
// Call it in TestMain.
func UseMemoryForTempDir() {
	flag.Parse()
	if sizetest.Full() || os.Getenv("TMPDIR") != "" {
		return
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memoryDir, &fs); err != nil || fs.Flags&noExec != 0 ||
		int64(fs.Bavail)*fs.Bsize < memoryFree {
		return
	}
	os.Setenv("TMPDIR", memoryDir)
}
