package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/agent-chatter/agent-chatter"

// rooms says which rooms of the house each room may import, tests aside.
var rooms = map[string][]string{
	"cmd/agent-chatter":              {"coordinator", "coordinator/store", "coordinator/team", "coordinator/agent", "coordinator/hint", "coordinator/redact", "projection", "projection/catalog", "projection/interchange", "projection/marker", "projection/search", "journal", "schemas", "cmd/agent-chatter/tui"},
	"cmd/agent-chatter/tui":          {"coordinator", "coordinator/agent", "projection", "projection/catalog", "journal", "schemas"},
	"coordinator":                    {"coordinator/store", "coordinator/team", "coordinator/agent", "coordinator/hint", "coordinator/redact", "projection", "projection/marker", "projection/runecut", "journal"},
	"coordinator/agent":              {"coordinator/hint", "projection/runecut"},
	"coordinator/hint":               {},
	"coordinator/agent/agenttest":    {"coordinator/agent"},
	"coordinator/redact":             {},
	"coordinator/store":              {"projection", "projection/catalog", "journal"},
	"coordinator/store/storetest":    {"coordinator/store", "projection", "journal"},
	"coordinator/team":               {"coordinator/agent", "coordinator/redact", "journal", "journal/atomicfile", "schemas"},
	"projection":                     {"journal", "journal/layout", "projection/runecut", "schemas"},
	"projection/catalog":             {"projection", "projection/interchange", "journal", "schemas"},
	"projection/search":              {"projection", "projection/catalog", "journal"},
	"projection/catalog/catalogtest": {"projection", "projection/catalog", "journal"},
	"projection/interchange":         {"projection", "journal", "schemas"},
	"projection/marker":              {},
	"projection/runecut":             {},
	"projection/projectiontest":      {"projection", "journal", "schemas"},
	"journal":                        {"journal/layout"},
	"journal/layout":                 {},
	"journal/journaltest":            {"journal"},
	"journal/journaltest/powerloss":  {},
	"journal/peerbench":              {"journal"},
	"cmd/agent-chatter/figures":      {"journal", "projection", "projection/projectiontest", "projection/catalog/catalogtest"},
	"schemas":                        {},
}

func TestEachRoomImportsOnlyThoseBehindIt(t *testing.T) {
	imports := projectImports(t)
	for _, room := range slices.Sorted(maps.Keys(imports)) {
		allowed, known := rooms[room]
		if !known {
			t.Errorf("%s is a new room: say here what it may import", room)
			continue
		}
		for _, other := range imports[room] {
			if !slices.Contains(allowed, other) {
				t.Errorf("%s imports %s", room, other)
			}
		}
	}
}

func TestOnlyTestsImportTestRooms(t *testing.T) {
	for room, others := range projectImports(t) {
		for _, other := range others {
			if strings.HasSuffix(other, "test") && !strings.HasSuffix(room, "test") {
				t.Errorf("%s imports %s", room, other)
			}
		}
	}
}

// projectImports are the packages of this module that each of its packages
// imports, on any system, tests aside.
func projectImports(t *testing.T) map[string][]string {
	t.Helper()
	root := filepath.Join("..", "..")
	imports := map[string][]string{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		room := filepath.ToSlash(dir)
		imports[room] = append(imports[room], []string{}...)
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if imported == module || strings.HasPrefix(imported, module+"/") {
				imports[room] = append(imports[room], path.Clean(strings.TrimPrefix(imported, module+"/")))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imports
}
