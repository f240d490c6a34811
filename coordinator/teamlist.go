package coordinator

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A TeamFile is a configuration that lies where teams are found by their names.
type TeamFile struct {
	Name string // by which FindTeam finds it
	Path string
	// Hidden: another configuration of the name is found before this one.
	Hidden bool
}

// TeamFiles are the configurations in the places where FindTeam looks for names, in the order
// of their names, of equal ones the one that is found first. A place that is not there has none.
func TeamFiles(cwd, home string) ([]TeamFile, error) {
	var files []TeamFile
	for _, dir := range teamDirs(cwd, home) {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			name, ok := strings.CutSuffix(e.Name(), ".json")
			if !ok || name == "" || e.IsDir() {
				continue
			}
			hidden := slices.ContainsFunc(files, func(f TeamFile) bool { return f.Name == name })
			files = append(files, TeamFile{Name: name, Path: filepath.Join(dir, e.Name()), Hidden: hidden})
		}
	}
	slices.SortStableFunc(files, func(a, b TeamFile) int { return strings.Compare(a.Name, b.Name) })
	return files, nil
}

// teamDirs are the directories in which teams are found by their names, the best first.
func teamDirs(cwd, home string) []string {
	return []string{filepath.Join(cwd, ".agent-chatter", "team-config"), filepath.Join(home, "team-config")}
}
