//go:build unix

package host

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Opening a pipe without a writer blocks.
func TestPipesAreNotOpened(t *testing.T) {
	for _, pipe := range []string{".git", ".git/index"} {
		root := t.TempDir()
		path := filepath.Join(root, pipe)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if gitTracks(filepath.Join(root, "sessions")) {
			t.Errorf("%s: a pipe tracks a file", pipe)
		}
	}
}
