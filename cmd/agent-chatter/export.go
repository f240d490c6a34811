package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
)

// exportSnapshot writes a session in the snapshot format and returns where. In
// a directory the file gets the name that agent-chatter's other versions look
// for.
func (a *app) exportSnapshot(name, path string) (string, error) {
	r, err := a.openReplay(name)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() || strings.HasSuffix(path, string(filepath.Separator)) {
		if path, err = r.snapshotName(path); err != nil {
			return "", err
		}
	}
	return path, writeAtomically(path, func(w io.Writer) error { return printSnapshot(w, r, span{}) })
}

// snapshotName is <milliseconds of the last change>-<id>.json.
func (r *replay) snapshotName(dir string) (string, error) {
	var state projection.State
	for e, err := range r.events() {
		if err != nil {
			return "", err
		}
		state.Apply(e)
	}
	return filepath.Join(dir, fmt.Sprintf("%d-%s.json", state.Row.UpdatedAt.UnixMilli(), r.id)), nil
}

// writeAtomically makes a file whole or not at all.
func writeAtomically(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone when it was renamed
	w := bufio.NewWriter(f)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	// Crash here leaves the old file, and a *.tmp beside it.
	return os.Rename(f.Name(), path)
}
