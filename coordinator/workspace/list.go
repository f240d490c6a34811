package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	maxNestedDepth = 3  // nested repositories within each other
	maxNested      = 50 // nested repositories of a list
)

// listOptions says what list lists. The paths are absolute, clean, and contain no symbolic links.
type listOptions struct {
	root     string   // the directory to list
	sub      string   // the directory below root, relative with slashes, to which the list is limited; "": all of root
	scratch  string   // an existing directory of the program, where list makes an empty Git directory
	exclude  []string // directories whose files are not listed: the program's home
	maxFiles int      // a list with more files is a *TooManyError
	index    bool     // also list what Git's index has of the files
}

// A listing has the names of the files of a directory.
type listing struct {
	// paths are relative to the root, with slashes, sorted by their bytes, each once. They may name files that are
	// missing (Git tracks them), and directories (instead of a file that Git tracks).
	paths   []string
	tracked map[string]indexed // the files that can be compared with Git's index, by their paths
	skipped []Skipped          // directories that are not listed, sorted
	notes   []string           // how the list differs from what Git tracks or would track, each without a full stop
	nested  []string           // directories of nested repositories that are listed
}

// Skipped is a path that is not captured.
type Skipped struct {
	Path string // relative to the root, with slashes
	Why  string
}

// TooManyError is the error of a list with more files than its limit.
type TooManyError struct{ Limit int }

func (e *TooManyError) Error() string { return fmt.Sprintf("more than %d files", e.Limit) }

// list lists the files and links of a directory that Git does not ignore, and those of the repositories nested in it.
// It reads no content and changes nothing in the directory, except that Git renews the times of some of its objects
// when it reads a sparse index. Where there is no repository, and where Git refuses it, Git applies the .gitignore
// files alone. Without Git the list has every file outside of some well-known directories.
//
// After an error the list is unknown. It is never a list that lacks the ignore rules.
func list(ctx context.Context, o listOptions) (listing, error) {
	l := lister{listOptions: o, listing: listing{tracked: map[string]indexed{}}}
	for _, dir := range o.exclude {
		if below, err := filepath.Rel(o.root, dir); err == nil && filepath.IsLocal(below) {
			l.excluded = append(l.excluded, filepath.ToSlash(below))
		}
	}
	var err error
	if l.git, err = exec.LookPath("git"); err == nil {
		err = l.repository(ctx, ".", 0)
	} else {
		err = l.walk(ctx)
	}
	if err != nil {
		return listing{}, fmt.Errorf("listing %s: %w", o.root, err)
	}
	slices.Sort(l.paths)
	l.paths = slices.Compact(l.paths) // Git names a file with a merge conflict up to three times
	slices.SortFunc(l.skipped, func(a, b Skipped) int { return cmp.Compare(a.Path, b.Path) })
	return l.listing, nil
}

// A lister makes a listing.
type lister struct {
	listOptions
	listing
	git      string   // the path of the program
	excluded []string // exclude, relative to the root, with slashes
	indexed  int64    // when the index of the repository was written, in nanoseconds since 1970
}

// repository adds the files of the root, or of a nested repository, and those of the repositories nested in it. dir is
// relative to the root.
func (l *lister) repository(ctx context.Context, dir string, depth int) error {
	nested, err := l.gitFiles(ctx, dir)
	if err != nil {
		return err
	}
	for _, dir := range nested {
		switch empty, err := isEmpty(l.path(dir)); {
		case err != nil:
			l.skip(dir, "nested repository that cannot be read")
		case empty: // a submodule that is not checked out
		case depth == maxNestedDepth:
			l.skip(dir, fmt.Sprintf("nested repository below %d others", maxNestedDepth))
		case len(l.nested) == maxNested:
			l.skip(dir, fmt.Sprintf("more than %d nested repositories", maxNested))
		default:
			l.nested = append(l.nested, dir)
			if err := l.repository(ctx, dir, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// isEmpty reports whether a directory is empty.
func isEmpty(dir string) (bool, error) {
	f, err := os.Open(dir)
	if err != nil {
		return false, err
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}

// gitFiles adds the files of one repository, and returns those nested in it.
func (l *lister) gitFiles(ctx context.Context, dir string) (nested []string, err error) {
	if _, err := os.Lstat(l.path(dir, ".git")); errors.Is(err, fs.ErrNotExist) {
		return l.unversioned(ctx, dir)
	}
	before := len(l.paths)
	options := []string{"--cached", "--stage"}
	if l.index {
		if l.indexed, err = l.indexTime(ctx, dir); err != nil {
			return nil, err
		}
		options = append(options, "--debug")
	}
	nested, err = l.lsFiles(ctx, dir, nil, options...)
	var failed *gitError
	if !errors.As(err, &failed) {
		return nested, err
	}
	if refused, checkErr := l.refuses(ctx, dir); checkErr != nil || !refused {
		return nil, errors.Join(err, checkErr)
	}
	for _, name := range l.paths[before:] {
		delete(l.tracked, name)
	}
	l.paths = l.paths[:before]
	l.notes = append(l.notes, fmt.Sprintf("git refuses the repository %s (%s): tracked files that it ignores are not "+
		"listed", l.path(dir), failed.reason()))
	return l.unversioned(ctx, dir)
}

// add adds a file that belongs into the list. The limit counts duplicates.
func (l *lister) add(name string) error {
	if !l.has(name) {
		return nil
	}
	if len(l.paths) >= l.maxFiles {
		return &TooManyError{l.maxFiles}
	}
	l.paths = append(l.paths, name)
	return nil
}

func (l *lister) skip(dir, why string) { l.skipped = append(l.skipped, Skipped{Path: dir, Why: why}) }

// has reports whether a file or directory belongs into the list: it is neither excluded nor part of a .git, which a
// file system that folds case also finds as .GIT, nor left by an interrupted restore.
func (l *lister) has(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(part, ".git") || isTemp(part) {
			return false
		}
	}
	return !slices.ContainsFunc(l.excluded, func(dir string) bool {
		return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
	})
}

// path returns the path of a name below the root.
func (l *lister) path(names ...string) string {
	return filepath.Join(l.root, filepath.FromSlash(path.Join(names...)))
}

// walk adds every file and link, except those of build directories. It follows no links.
func (l *lister) walk(ctx context.Context) error {
	l.notes = append(l.notes, "git is not installed: ignored files are listed, except those in node_modules, .venv, "+
		"target and __pycache__")
	start := l.path(l.sub)
	return filepath.WalkDir(start, func(file string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		name, relErr := filepath.Rel(l.root, file)
		if relErr != nil {
			return relErr
		}
		name = filepath.ToSlash(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && file != start: // it was removed meanwhile
			return nil
		case err != nil && file != start:
			l.skip(name, "cannot be read")
			return fs.SkipDir
		case err != nil:
			return err
		case entry.IsDir() && file != start && (isBuildDir(entry.Name()) || !l.has(name)):
			return fs.SkipDir
		case entry.Type().IsRegular() || entry.Type()&fs.ModeSymlink != 0:
			return l.add(name)
		}
		return nil
	})
}

// isBuildDir reports whether a directory has the name of one for installed or built files.
func isBuildDir(name string) bool {
	switch name {
	case "node_modules", ".venv", "target", "__pycache__":
		return true
	}
	return false
}
