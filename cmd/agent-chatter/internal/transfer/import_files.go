package transfer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// A file is one to import.
type file struct {
	path  string
	found bool // in a directory: it is skipped if it is no session
}

// findFiles replaces directories by the session files in them. It returns an Imported
// for each directory that cannot be read.
func findFiles(paths []string) (files []file, unreadable []Imported, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, app.Exit(app.ExitFailed, app.Message{Text: missingText(path)})
		}
		if err != nil {
			return nil, nil, err
		}
		if info.Mode().IsRegular() {
			files = append(files, file{path: path})
			continue
		}
		if !info.IsDir() {
			return nil, nil, app.Exit(app.ExitFailed, app.Message{Text: notRegularText(path)})
		}
		inside, closed := sessionFiles(path)
		if len(inside)+len(closed) == 0 {
			return nil, nil, app.Exit(app.ExitFailed, app.Message{Text: noSessionsText(path)})
		}
		files, unreadable = append(files, inside...), append(unreadable, closed...)
	}
	return files, unreadable, nil
}

// sessionFiles returns the files below a directory whose names are those of session
// files, except in a trash, and an Imported for each directory that cannot be read.
func sessionFiles(dir string) (files []file, unreadable []Imported) {
	root := dir + string(filepath.Separator) // follows dir if it is a symbolic link
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			unreadable = append(unreadable, failed(path, err))
			return fs.SkipDir
		case entry.IsDir() && entry.Name() == "trash" && path != root:
			return fs.SkipDir
		case !entry.IsDir() && mayBeSession(path):
			files = append(files, file{path: path, found: true})
		}
		return nil
	})
	return files, unreadable
}

// mayBeSession reports whether a file of a directory is named like a session and not
// like the other files that programs write next to sessions.
func mayBeSession(path string) bool {
	switch filepath.Ext(path) {
	case ".json", ".jsonl", ".bundle":
		// A pipe would block.
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return false
		}
		switch name := filepath.Base(path); name {
		case "sessions.json", "sessions-index.json", "current.json", "retention.jsonl":
			return false
		default:
			return !strings.HasSuffix(name, ".checkpoint.json")
		}
	}
	if !app.IsArchive(path) {
		return false
	}
	// Codex compresses old rollouts. If it is interrupted, both files exist.
	plain, err := os.Stat(strings.TrimSuffix(path, ".zst"))
	return err != nil || !plain.Mode().IsRegular()
}

// notRegularText is for a file whose format cannot be detected without consuming it.
func notRegularText(path string) string {
	return fmt.Sprintf(
		"%s is a pipe or a device, which cannot be read twice. Write its output to a file and import that.",
		tty.SafeLine(path),
	)
}

func missingText(path string) string {
	return fmt.Sprintf("There is no file or directory %s. "+
		"Name files or directories with sessions of agent-chatter or another program.", tty.SafeLine(path))
}

func noSessionsText(dir string) string {
	return fmt.Sprintf("There are no files with sessions in %s or its subdirectories: "+
		"their names end in .json, .jsonl, .jsonl.zst or .bundle.", tty.SafeLine(dir))
}
