package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// swaps are the operators that are replaced by another.
var swaps = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// candidates returns every mutant of the Go files whose path begins with prefix and that
// are built on Linux, without the equivalent ones. Test files, packages for tests,
// figures, peerbench, testdata and hidden directories, such as this one, have none.
func candidates(prefix string) (all []mutant, err error) {
	equivalent, err := readEquivalent(".ci/mutants/equivalent.txt")
	if err != nil {
		return nil, err
	}
	linux := build.Default
	linux.GOOS = "linux"
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasSuffix(d.Name(), "test") ||
			d.Name() == "testdata" || d.Name() == "figures" || d.Name() == "peerbench"):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"), !strings.HasPrefix(path, prefix):
			return nil
		}
		if built, err := linux.MatchFile(filepath.Split(path)); err != nil || !built {
			return err
		}
		found, err := mutantsOf(path)
		for _, m := range found {
			if !equivalent[m.path+": "+withoutLine(m.name)] {
				all = append(all, m)
			}
		}
		return err
	})
	return all, err
}

// mutantsOf returns the mutants of a file.
func mutantsOf(path string) ([]mutant, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, 0)
	if err != nil {
		return nil, err
	}
	var found []mutant
	replace := func(from, to token.Pos, with string) {
		start, end := fset.Position(from), fset.Position(to)
		content := slices.Concat(text[:start.Offset], []byte(with), text[end.Offset:])
		old, _, _ := strings.Cut(string(text[start.Offset:end.Offset]), "\n")
		name := fmt.Sprintf("%d: %s -> %s in %s", start.Line, old, cmp.Or(with, "nothing"), lineAt(text, start.Offset))
		found = append(found, mutant{path: path, name: name, content: content})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.CONST // constants: mostly limits and sizes, which are tuned
		case *ast.BinaryExpr:
			if with, ok := swaps[n.Op]; ok {
				replace(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), with.String())
			}
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				replace(n.OpPos, n.OpPos+1, "")
			}
		case *ast.BasicLit:
			if i, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
				replace(n.Pos(), n.End(), strconv.FormatInt(i+1, 10))
			}
		case *ast.Ident:
			switch n.Name {
			case "true":
				replace(n.Pos(), n.End(), "false")
			case "false":
				replace(n.Pos(), n.End(), "true")
			}
		case *ast.ReturnStmt:
			if last := len(n.Results) - 1; last >= 0 {
				if id, ok := n.Results[last].(*ast.Ident); ok && id.Name == "err" {
					replace(id.Pos(), id.End(), "nil")
				}
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt:
			replace(n.Pos(), n.End(), "")
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				replace(n.Pos(), n.End(), "")
			}
		case *ast.BranchStmt:
			if n.Tok == token.CONTINUE && n.Label == nil {
				replace(n.Pos(), n.End(), "break")
			}
		}
		return true
	})
	return found, nil
}

// lineAt returns the trimmed line of text that contains the offset.
func lineAt(text []byte, offset int) string {
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	line, _, _ := bytes.Cut(text[start:], []byte("\n"))
	return strings.TrimSpace(string(line))
}

func shuffle(all []mutant, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
}
