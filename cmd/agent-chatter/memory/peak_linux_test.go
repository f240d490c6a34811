package memory

import (
	"os"
	"os/exec"
	"runtime/debug"
	"syscall"
	"testing"
)

// resetPeak makes the peak of this process's memory its present memory. A child's peak is at
// least that of its parent, because a new process shares the parent's memory until its exec.
func resetPeak(t *testing.T) {
	t.Helper()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
}

// peakMemory returns the largest resident memory in bytes of a process that has ended, or of
// its largest child that has. Call resetPeak before its start.
func peakMemory(cmd *exec.Cmd) int64 {
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
}
