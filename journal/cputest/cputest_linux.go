package cputest

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Least returns the least processor time of several calls of do. Linux measures it for
// the thread, so other load does not matter. What do leaves to other goroutines does not
// count.
func Least(t *testing.T, calls int, do func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := time.Hour
	for range calls {
		runtime.GC()
		start := threadTime(t)
		do()
		least = min(least, threadTime(t)-start)
	}
	return least
}

func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var at unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at); err != nil {
		t.Fatal(err)
	}
	return time.Duration(at.Nano())
}
