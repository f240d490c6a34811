package journal_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// maxQueued returns how many notifications the system queues for a watcher at
// most. It skips the test if these are too many to produce.
func maxQueued(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	must(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(t, err)
	if n > 100_000 {
		t.Skipf("%d notifications take too long", n)
	}
	return n
}
