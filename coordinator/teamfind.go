package coordinator

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrTeamNotFound is in the chain of every TeamNotFoundError.
var ErrTeamNotFound = errors.New("team not found")

// A TeamNotFoundError says which team there is no configuration of, and where it would be.
type TeamNotFoundError struct {
	Name   string
	Looked []string // paths, in the order in which they were tried
}

func (e *TeamNotFoundError) Error() string {
	if len(e.Looked) == 0 {
		return fmt.Sprintf("%v: %q", ErrTeamNotFound, e.Name)
	}
	return fmt.Sprintf("%v: %q (looked for %s)", ErrTeamNotFound, e.Name, strings.Join(e.Looked, ", "))
}

func (e *TeamNotFoundError) Unwrap() error { return ErrTeamNotFound }

// FindTeam returns the path of the configuration that a name stands for: the file of this
// path, as it is or below cwd; else the configuration of this name, with or without
// ".json", in <cwd>/.agent-chatter/team-config, else in <home>/team-config. A name with a path
// separator in it is only tried as a file. When there is nothing the error is a
// *TeamNotFoundError; when a place may not be looked at, the error of the operating system.
func FindTeam(name, cwd, home string) (path string, err error) {
	looked := teamPaths(name, cwd, home)
	for _, path := range looked {
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.IsDir():
			return path, nil
		case errors.Is(err, fs.ErrPermission):
			return "", fmt.Errorf("team %q: %w", name, err)
		}
	}
	return "", &TeamNotFoundError{Name: name, Looked: looked}
}

// teamPaths is where the configuration of a name may be, the best place first.
func teamPaths(name, cwd, home string) []string {
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
	for _, dir := range teamDirs(cwd, home) {
		paths = append(paths, filepath.Join(dir, file))
	}
	return paths
}
