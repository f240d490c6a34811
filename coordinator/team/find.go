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
	Name      string
	Looked    []string // the paths that were tried, in order
	Directory string   // the one of them that is a directory; "" if none is
}

func (e *NotFoundError) Error() string {
	switch {
	case e.Directory != "":
		return fmt.Sprintf("%v: %s is a directory", ErrNotFound, e.Directory)
	case len(e.Looked) == 0:
		return fmt.Sprintf("%v: %q", ErrNotFound, e.Name)
	}
	return fmt.Sprintf("%v: %q (looked for %s)", ErrNotFound, e.Name, strings.Join(e.Looked, ", "))
}

func (e *NotFoundError) Unwrap() error { return ErrNotFound }

// Hint returns the command that lists the teams.
func (e *NotFoundError) Hint() hint.Hint {
	return hint.Hint{Kind: hint.Command, Argv: []string{"team", "list"}}
}

// Places are where Find looks for teams.
type Places struct {
	Home string // its team-config has the teams that the user has chosen
	Cwd  string // relative paths start here, and .agent-chatter/team-config here has teams, too
}

// Origin is where Find found a team.
type Origin int

// The origins. Only a file of FoundHere may come from someone else: the author of the
// working directory has put it there, and the user only named it.
const (
	FoundByPath Origin = iota // the user named its path
	FoundAtHome
	BuiltIn // Demo
	FoundHere
)

// File is a team that Find can find by its name.
type File struct {
	Name   string // without ".json"
	Path   string // "" if Origin is BuiltIn
	Origin Origin
	Hidden bool // Find returns another file for Name
}

// Find returns the team file that name stands for. A name with a path separator is a path, relative to
// p.Cwd. Any other is tried, in this order, as: a file in p.Cwd if it ends in ".json"; a team of
// p.Home; a built-in team; a team of p.Cwd; a file in p.Cwd. Without a file the error is
// a *NotFoundError; a path that may not be accessed is an error of the operating system.
func Find(name string, p Places) (File, error) {
	missing := &NotFoundError{Name: name}
	for _, f := range candidates(name, p) {
		if f.Origin == BuiltIn {
			return f, nil
		}
		missing.Looked = append(missing.Looked, f.Path)
		info, err := os.Stat(f.Path)
		switch {
		case err == nil && !info.IsDir():
			return f, nil
		case err == nil && missing.Directory == "":
			missing.Directory = f.Path
		case errors.Is(err, fs.ErrPermission):
			return File{}, fmt.Errorf("team %q: %w", name, err)
		}
	}
	return File{}, missing
}

// candidates returns the files that Find tries, in order.
func candidates(name string, p Places) []File {
	if name == "" {
		return nil
	}
	short, isFile := strings.CutSuffix(name, ".json")
	named := File{Name: filepath.Base(short), Path: filepath.Join(p.Cwd, name)}
	if filepath.IsAbs(name) {
		named.Path = name
	}
	if filepath.IsAbs(name) || isPath(name) {
		return []File{named}
	}
	var files []File
	if isFile {
		files = append(files, named)
	}
	for _, d := range p.dirs() {
		if d.origin != BuiltIn {
			files = append(files, File{Name: short, Path: filepath.Join(d.path, short+".json"), Origin: d.origin})
		} else if short == Demo().Name {
			files = append(files, File{Name: short, Origin: BuiltIn})
		}
	}
	if !isFile {
		named.Origin = FoundHere
		files = append(files, named)
	}
	return files
}

// dir is a directory of teams, or the built-in ones.
type dir struct {
	path   string
	origin Origin
}

// dirs returns the directories in which Find looks names up, in order.
func (p Places) dirs() []dir {
	home := filepath.Join(p.Home, "team-config")
	all := []dir{{home, FoundAtHome}, {"", BuiltIn}}
	if here := filepath.Join(p.Cwd, ".agent-chatter", "team-config"); here != home {
		all = append(all, dir{here, FoundHere})
	}
	return all
}

// Files returns the teams that Find finds by name in directories of teams, and the built-in ones,
// sorted by name and then in Find's order. A missing directory has none.
func Files(p Places) ([]File, error) {
	var files []File
	add := func(f File) {
		f.Hidden = slices.ContainsFunc(files, func(other File) bool { return other.Name == f.Name })
		files = append(files, f)
	}
	for _, d := range p.dirs() {
		if d.origin == BuiltIn {
			add(File{Name: Demo().Name, Origin: BuiltIn})
			continue
		}
		entries, err := os.ReadDir(d.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ".json"); ok && name != "" && !e.IsDir() {
				add(File{Name: name, Path: filepath.Join(d.path, e.Name()), Origin: d.origin})
			}
		}
	}
	slices.SortStableFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}
