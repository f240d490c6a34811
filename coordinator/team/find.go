package team

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNotFound is in the chain of every NotFoundError.
var ErrNotFound = errors.New("team not found")

// A NotFoundError says which team there is no configuration of, and where it would be.
type NotFoundError struct {
	Name   string
	Looked []string // paths, in the order in which they were tried
}

func (e *NotFoundError) Error() string {
	if len(e.Looked) == 0 {
		return fmt.Sprintf("%v: %q", ErrNotFound, e.Name)
	}
	return fmt.Sprintf("%v: %q (looked for %s)", ErrNotFound, e.Name, strings.Join(e.Looked, ", "))
}

func (e *NotFoundError) Unwrap() error { return ErrNotFound }

// Find returns the path of the configuration that a name stands for: the file of this
// path, as it is or below cwd; else the configuration of this name, with or without
// ".json", in <cwd>/.agent-chatter/team-config, else in <home>/team-config. A name with a path
// separator in it is only tried as a file. When there is nothing the error is a
// *NotFoundError; when a place may not be looked at, the error of the operating system.
func Find(name, cwd, home string) (path string, err error) {
	looked := candidates(name, cwd, home)
	for _, path := range looked {
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.IsDir():
			return path, nil
		case errors.Is(err, fs.ErrPermission):
			return "", fmt.Errorf("team %q: %w", name, err)
		}
	}
	return "", &NotFoundError{Name: name, Looked: looked}
}

// candidates is where the configuration of a name may be, the best place first.
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
