package team

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A File is a configuration that lies where teams are found by their names.
type File struct {
	Name string // by which Find finds it
	Path string
	// Hidden: another configuration of the name is found before this one.
	Hidden bool
}

// Files are the configurations in the places where Find looks for names, in the order
// of their names, of equal ones the one that is found first. A place that is not there has none.
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

// dirs are the directories in which teams are found by their names, the best first.
func dirs(cwd, home string) []string {
	return []string{filepath.Join(cwd, ".agent-chatter", "team-config"), filepath.Join(home, "team-config")}
}
