package doctor

import (
	"path/filepath"
	"testing"

	"github.com/fsnotify/fsnotify"
)

// ownWatches counts the inotify instances and watches of this process.
func ownWatches(t *testing.T) (instances, watches int) {
	t.Helper()
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		if n, ok := inotifyWatches(fd); ok {
			instances, watches = instances+1, watches+n
		}
	}
	return instances, watches
}

func TestInotifyWatchesAreCounted(t *testing.T) {
	instances, watches := ownWatches(t)
	w, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for range 2 {
		if err := w.Add(t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	if i, n := ownWatches(t); i != instances+1 || n != watches+2 {
		t.Errorf("before: %d instances, %d watches; after: %d and %d", instances, watches, i, n)
	}
	all, each, err := inotifyUsage()
	if err != nil || all.used < instances+1 || each.used < watches+2 || all.limit < 1 || each.limit < 1 {
		t.Errorf("instances: %+v, watches: %+v, error: %v", all, each, err)
	}
}
