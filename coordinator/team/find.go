package team

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

// ErrNotFound is wrapped by every NotFoundError.
var ErrNotFound = errors.New("team not found")

// NotFoundError is the error of Find for a name without a team file.
type NotFoundError struct {
	Name   string
	Looked []string // the paths that were tried, in order
}

func (e *NotFoundError) Error() string {
	if len(e.Looked) == 0 {
		return fmt.Sprintf("%v: %q", ErrNotFound, e.Name)
	}
	return fmt.Sprintf("%v: %q (looked for %s)", ErrNotFound, e.Name, strings.Join(e.Looked, ", "))
}

func (e *NotFoundError) Unwrap() error { return ErrNotFound }

// Hint returns the command that lists the teams.
func (e *NotFoundError) Hint() hint.Hint {
	return hint.Hint{Kind: hint.Command, Argv: []string{"team", "list"}}
}

// Find returns the path of the team file that name stands for. It tries, in this order: name as a
// path, relative to cwd; <cwd>/.agent-chatter/team-config/name.json; <home>/team-config/name.json.
// The suffix ".json" may be part of name. A name with a path separator is only tried as a path.
// Without a file the error is a *NotFoundError; a path that may not be accessed is an error of the
// operating system.
func Find(name, cwd, home string) (path string, err error) {
	paths := candidates(name, cwd, home)
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.IsDir():
			return path, nil
		case errors.Is(err, fs.ErrPermission):
			return "", fmt.Errorf("team %q: %w", name, err)
		}
	}
	return "", &NotFoundError{Name: name, Looked: paths}
}

// candidates returns the paths that Find tries, in order.
func candidates(name, cwd, home string) []string {
	if name == "" {
		return nil
	}
	if filepath.IsAbs(name) {
		return []string{name}
	}
	paths := []string{filepath.Join(cwd, name)}
	if isPath(name) {
		return paths
	}
	file := strings.TrimSuffix(name, ".json") + ".json"
	for _, dir := range dirs(cwd, home) {
		paths = append(paths, filepath.Join(dir, file))
	}
	return paths
}

// dirs returns the directories in which Find looks names up, in order.
func dirs(cwd, home string) []string {
	return []string{filepath.Join(cwd, ".agent-chatter", "team-config"), filepath.Join(home, "team-config")}
}

// File is a team file that Find can find by its name.
type File struct {
	Name   string // without ".json"
	Path   string
	Hidden bool // Find returns another file for Name
}

// Files returns the team files in the directories that Find looks names up in, sorted by name and
// then in Find's order. A missing directory has none.
func Files(cwd, home string) ([]File, error) {
	var files []File
	for _, dir := range dirs(cwd, home) {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".json")
			if !ok || name == "" || e.IsDir() {
				continue
			}
			hidden := slices.ContainsFunc(files, func(f File) bool { return f.Name == name })
			files = append(files, File{Name: name, Path: filepath.Join(dir, e.Name()), Hidden: hidden})
		}
	}
	slices.SortStableFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}
