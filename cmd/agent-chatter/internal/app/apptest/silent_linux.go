package apptest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// silent puts a program into PATH, under the name of an agent, that says its process id in the
// file that is returned, and nothing else.
func Silent(t *testing.T, name string) (pids string) {
	t.Helper()
	dir := t.TempDir()
	pids = filepath.Join(dir, "pids")
	if err := syscall.Mkfifo(pids, 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\necho $$ >%s\nexec sleep 300\n", pids)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return pids
}
