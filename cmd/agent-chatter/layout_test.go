package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/journal/racetest"
)

const (
	module = "github.com/agent-chatter/agent-chatter"
	mainAt = "cmd/agent-chatter"

	internalAt = mainAt + "/internal"
)

// layers are the directories at the top level, lowest first. A package imports
// packages of its own layer and of lower ones.
var layers = []string{"schemas", "journal", "projection", "coordinator", "cmd"}

// level is the position of a package in the import order: a package imports no
// package of a higher level. Go itself refuses cycles.
func level(pkg string) int {
	top, _, _ := strings.Cut(pkg, "/")
	level := 10 * slices.Index(layers, top)
	if top != "cmd" {
		return level
	}
	switch {
	case pkg == mainAt:
		return level + 5
	case inside(pkg, internalAt+"/cli"):
		return level + 4
	case inside(pkg, internalAt+"/tty"), inside(pkg, internalAt+"/home"), inside(pkg, internalAt+"/keys"):
		return level
	case inside(pkg, internalAt+"/app"): // its texts are safe for a terminal
		return level + 1
	case inside(pkg, internalAt+"/view"):
		return level + 2
	default: // the commands
		return level + 3
	}
}

func inside(pkg, dir string) bool { return pkg == dir || strings.HasPrefix(pkg, dir+"/") }

func TestPackagesImportOnlyLowerLayers(t *testing.T) {
	racetest.SkipSequential(t)
	for _, f := range sourceFiles(t) {
		if level(f.pkg) < 0 {
			t.Errorf("%s is outside of the directories %q", f.path, layers)
		}
		for _, imported := range f.imports() {
			if level(imported) > level(f.pkg) {
				t.Errorf("%s imports %s, which is a higher layer", f.path, imported)
			}
		}
	}
}

// TestPackagesHaveComments looks for them in doc.go, and for that of a command in main.go.
func TestPackagesHaveComments(t *testing.T) {
	racetest.SkipSequential(t)
	commented := map[string]bool{} // by directory
	for _, f := range sourceFiles(t) {
		comment := f.syntax.Doc.Text()
		file := "doc.go"
		if f.syntax.Name.Name == "main" {
			file = "main.go"
		}
		here := path.Base(f.path) == file
		commented[f.pkg] = commented[f.pkg] || here && comment != ""
		if !here && comment != "" {
			t.Errorf("%s has a package comment, which belongs in %s", f.path, file)
		}
	}
	for pkg, ok := range commented {
		if !ok {
			t.Errorf("%s has no package comment", pkg)
		}
	}
}

func TestOnlyTestPackagesImportTestPackages(t *testing.T) {
	racetest.SkipSequential(t)
	for _, f := range sourceFiles(t) {
		for _, imported := range f.imports() {
			if strings.HasSuffix(imported, "test") && !strings.HasSuffix(f.pkg, "test") {
				t.Errorf("%s imports %s", f.path, imported)
			}
		}
	}
}

// sourceFile is a file of this module that is no test.
type sourceFile struct {
	path, pkg string // relative to the root
	text      string
	fset      *token.FileSet
	syntax    *ast.File
}

// imports returns the packages of this module that the file imports, relative to
// the root.
func (f sourceFile) imports() (imported []string) {
	for _, spec := range f.syntax.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if pkg, ok := strings.CutPrefix(name, module+"/"); ok && err == nil {
			imported = append(imported, pkg)
		}
	}
	return imported
}

// sourceFiles returns the files of this module for all systems, without tests and
// nested modules.
func sourceFiles(t *testing.T) (files []sourceFile) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != root {
			_, err := os.Stat(filepath.Join(name, "go.mod"))
			if err == nil || strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" {
				return filepath.SkipDir
			}
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f := sourceFile{path: filepath.ToSlash(relative), text: string(text), fset: token.NewFileSet()}
		f.pkg = path.Dir(f.path)
		if f.syntax, err = parser.ParseFile(f.fset, name, text, parser.SkipObjectResolution|parser.ParseComments); err != nil {
			return err
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// The limits of the source code. A tab counts as four columns.
const (
	maxColumns       = 120
	maxFunctionLines = 60
)

// Struct tags and examples in comments, which cannot be broken, may be longer.
var unbreakable = regexp.MustCompile("`[^`]*:\"[^`]*`$|^// {2,}")

func TestLinesFit120Columns(t *testing.T) {
	racetest.SkipSequential(t)
	for _, f := range sourceFiles(t) {
		n := 0
		for line := range strings.Lines(f.text) {
			n++
			line = strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")
			if columns := utf8.RuneCountInString(line); columns > maxColumns && !unbreakable.MatchString(line) {
				t.Errorf("%s:%d has %d columns", f.path, n, columns)
			}
		}
	}
}

func TestFunctionsHaveAtMost60Lines(t *testing.T) {
	racetest.SkipSequential(t)
	for _, f := range sourceFiles(t) {
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			function, ok := node.(*ast.FuncDecl)
			if !ok {
				return true
			}
			from, to := f.fset.Position(function.Pos()).Line, f.fset.Position(function.End()).Line
			if lines := to - from + 1; lines > maxFunctionLines {
				t.Errorf("%s:%d: %s has %d lines", f.path, from, function.Name.Name, lines)
			}
			return true
		})
	}
}

// area returns the directory below internal that a package is in; "" for a package outside of internal.
func area(pkg string) string {
	below, ok := strings.CutPrefix(pkg, internalAt+"/")
	if !ok {
		return ""
	}
	area, _, _ := strings.Cut(below, "/")
	return area
}

// areaImports returns the areas whose packages each area imports, besides itself and cli. Packages for tests count as
// no part of their area.
func areaImports(t *testing.T) (imports map[string][]string) {
	imports = map[string][]string{}
	for _, f := range sourceFiles(t) {
		from := area(f.pkg)
		if from == "" || strings.HasSuffix(f.pkg, "test") {
			continue
		}
		imports[from] = append(imports[from], "")
		for _, imported := range f.imports() {
			if to := area(imported); to != "" && to != from && !slices.Contains(imports[from], to) {
				imports[from] = append(imports[from], to)
			}
		}
	}
	return imports
}

// A command is what cli imports, and cli itself. An area that is no command has to be shared by at least two.
func TestPackagesBelowInternalAreCommandsOrShared(t *testing.T) {
	racetest.SkipSequential(t)
	imports := areaImports(t)
	for shared := range imports {
		users := 0
		for user, imported := range imports {
			if user != "cli" && slices.Contains(imported, shared) {
				users++
			}
		}
		if shared != "cli" && !slices.Contains(imports["cli"], shared) && users < 2 {
			t.Errorf("internal/%s is no command, and %d other packages import it", shared, users)
		}
	}
}

// Go refuses circles of packages, but not of directories whose packages import each other.
func TestPackagesBelowInternalHaveNoCircles(t *testing.T) {
	racetest.SkipSequential(t)
	imports := areaImports(t)
	done := map[string]bool{}
	var visit func(area string, path []string)
	visit = func(area string, path []string) {
		if i := slices.Index(path, area); i >= 0 {
			t.Errorf("internal has a circle: %s", strings.Join(append(path[i:], area), " -> "))
			return
		}
		for _, imported := range imports[area] {
			if !done[area] && imported != "" {
				visit(imported, append(path, area))
			}
		}
		done[area] = true
	}
	for area := range imports {
		visit(area, nil)
	}
}

// The page of the manual has a row for each package below internal, and no other rows.
func TestPackagesBelowInternalAreDocumented(t *testing.T) {
	racetest.SkipSequential(t)
	packages := map[string]bool{}
	for _, f := range sourceFiles(t) {
		if inside(f.pkg, internalAt) && f.pkg != internalAt {
			packages[strings.TrimPrefix(f.pkg, internalAt+"/")] = true
		}
	}
	rows := regexp.MustCompile(`(?m)^\| \[([a-z/]+)\]\(\.\./internal/([a-z/]+)\) \| .+ \|$`)
	for _, row := range rows.FindAllStringSubmatch(readText(t, "guide/development.md"), -1) {
		if row[1] != row[2] || !packages[row[1]] {
			t.Errorf("development.md has a row for %s, which is no package", row[1])
		}
		delete(packages, row[1])
	}
	for pkg := range packages {
		t.Errorf("development.md has no row for internal/%s", pkg)
	}
}
