//go:build unix

package home_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A copy of a home must not continue the sessions of the agents of the original.
func TestKeyOfACopyIsAnother(t *testing.T) {
	dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	first := key(t, dir)
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(first, key(t, copied)) || !bytes.Equal(first, key(t, dir)) {
		t.Error("the copy has the key of the original, or the original has another")
	}
	moved := filepath.Join(filepath.Dir(dir), "moved")
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, key(t, moved)) {
		t.Error("a home that was moved has another key")
	}
}
