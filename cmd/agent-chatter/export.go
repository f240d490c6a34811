package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// exportSnapshot writes a session in the snapshot format and returns where. In
// a directory the file gets the name that agent-chatter's other versions look
// for.
func (r *replay) exportSnapshot(path string) (_ string, err error) {
	if isDirectory(path) {
		if path, err = r.nameIn(path); err != nil {
			return "", err
		}
	}
	return path, writeAtomically(path, func(w io.Writer) error { return printSnapshot(w, r, span{}) })
}

// nameIn is <milliseconds of the last change>-<id>.json in a directory.
func (r *replay) nameIn(dir string) (string, error) {
	var state projection.State
	for e, err := range r.events() {
		if err != nil {
			return "", err
		}
		state.Apply(e)
	}
	return filepath.Join(dir, snapshotName(state.Row.UpdatedAt, r.id)), nil
}

func snapshotName(updated time.Time, id string) string {
	return fmt.Sprintf("%d-%s.json", updated.UnixMilli(), id)
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

type sessionsExport struct {
	ID     []string `arg:"" optional:"" help:"The sessions; without any, the latest."`
	Format string   `help:"What is written: ${enum}." enum:"snapshot" default:"snapshot"`
	To     string   `name:"output-file" short:"o" help:"A file, or a directory; without it, standard output." placeholder:"PATH"`
	All    bool     `help:"All sessions."`
}

// Help shows examples first.
func (sessionsExport) Help() string {
	return `Examples:
  agent-chatter sessions export latest --format snapshot
  agent-chatter sessions export --all -o backup/`
}

// Run implements the command.
func (cmd *sessionsExport) Run(a *app) error {
	names := cmd.ID
	switch {
	case cmd.All && len(names) > 0:
		return usageError("Name sessions, or say --all.")
	case len(names) == 0 && !cmd.All:
		names = []string{catalog.LatestName}
	}
	sessions, err := a.named(names, a.findOrOpen)
	if err != nil {
		return err
	}
	if len(sessions) > 1 && !isDirectory(cmd.To) {
		return usageError("%d sessions need a directory: -o DIR/", len(sessions))
	}
	for i, s := range sessions {
		if err := cmd.export(a, s); err != nil {
			if !cmd.All {
				err = named(names[i], err)
			}
			return err
		}
	}
	return nil
}

func (cmd *sessionsExport) export(a *app, s catalog.Session) error {
	r := a.replayOf(a.catalog(), s)
	if cmd.To == "" {
		w := bufio.NewWriter(a.stdout)
		if err := printSnapshot(w, r, span{}); err != nil {
			return err
		}
		return w.Flush()
	}
	written, err := r.exportSnapshot(cmd.To)
	if err != nil {
		return err
	}
	a.notice("Written: " + safeLine(written))
	return nil
}

// isDirectory reports whether a path is one, or is written like one.
func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() || strings.HasSuffix(path, string(filepath.Separator))
}
