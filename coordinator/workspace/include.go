package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

const (
	maxIncluded      = 1000     // files that are copied into a worktree
	maxIncludedBytes = 64 << 20 // of all of them
	maxExamined      = 100_000  // names that are compared with patterns
)

// CheckPattern returns an error if a text is no pattern of files to copy into a worktree. Such a pattern is a path
// relative to the directory, with slashes, whose parts are patterns of path.Match; the part ** is any number of
// directories. It matches regular files.
func CheckPattern(pattern string) error {
	if pattern == "" || path.Clean(pattern) != pattern || path.IsAbs(pattern) {
		return fmt.Errorf("%q is no clean path relative to the directory", pattern)
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if _, err := path.Match(part, ""); err != nil {
			return fmt.Errorf("%q is no pattern: %w", pattern, err)
		}
		if part == ".." || part == "." || strings.EqualFold(part, ".git") {
			return fmt.Errorf("%q has the part %q", pattern, part)
		}
	}
	return nil
}

// copyIncluded copies the files of a directory that match a pattern to another directory, unless that has them, and
// returns them. It follows no links.
func copyIncluded(ctx context.Context, from *Workspace, to string, patterns []string) (names []string, err error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	i := includer{ctx: ctx, from: from, to: to, matched: map[string]bool{}}
	if i.disk, err = openDisk(from.root); err != nil {
		return nil, err
	}
	defer i.disk.close()
	for _, pattern := range patterns {
		if err := CheckPattern(pattern); err != nil {
			return nil, err
		}
		if err := i.match(".", strings.Split(pattern, "/")); err != nil {
			return nil, err
		}
	}
	return i.copyMatched()
}

// An includer finds and copies the files that match patterns.
type includer struct {
	ctx      context.Context
	from     *Workspace
	to       string
	disk     *disk // they are copied from
	matched  map[string]bool
	examined int // names
}

// match adds the files below a directory that match the parts of a pattern.
func (i *includer) match(dir string, parts []string) error {
	if i.ctx.Err() != nil {
		return context.Cause(i.ctx)
	}
	if parts[0] == "**" && len(parts) > 1 {
		if err := i.match(dir, parts[1:]); err != nil {
			return err
		}
	}
	names, err := i.names(dir)
	if err != nil {
		return err
	}
	for _, base := range names {
		name := path.Join(dir, base)
		if matches, _ := path.Match(parts[0], base); !matches && parts[0] != "**" || !i.has(name) {
			continue
		}
		st, err := i.disk.lstat(name)
		isDir := err == nil && st.mode&objects.ModeType == objects.ModeDir
		switch {
		case isDir && parts[0] == "**":
			err = i.match(name, parts)
		case isDir && len(parts) > 1:
			err = i.match(name, parts[1:])
		case !isDir && err == nil && len(parts) == 1:
			err = i.add(name, st)
		default:
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds a file that matches.
func (i *includer) add(name string, st stat) error {
	if st.mode&objects.ModeType != objects.ModeFile {
		return nil
	}
	if i.matched[name] = true; len(i.matched) > maxIncluded {
		return fmt.Errorf("more than %d files are to be copied into the worktree", maxIncluded)
	}
	return nil
}

// names returns the names in a directory; none if it cannot be read.
func (i *includer) names(dir string) ([]string, error) {
	d, err := openDir(i.from.root, dir, false)
	if err != nil {
		return nil, nil
	}
	defer d.close()
	names, _ := d.names()
	if i.examined += len(names); i.examined > maxExamined {
		return nil, fmt.Errorf("more than %d names are to be compared with the files to copy into the worktree",
			maxExamined)
	}
	return names, nil
}

// has reports whether a path can be copied: it is not part of a .git, nor of the home.
func (i *includer) has(name string) bool {
	return !strings.EqualFold(path.Base(name), ".git") &&
		filepath.Join(i.from.root, filepath.FromSlash(name)) != i.from.home
}

// copyMatched copies the files.
func (i *includer) copyMatched() (names []string, err error) {
	left := int64(maxIncludedBytes)
	for name := range i.matched {
		switch n, err := i.copy(name, left); {
		case errors.Is(err, fs.ErrExist), errors.Is(err, errNoDirectory): // the tree has another state of it
			continue
		case err != nil:
			return nil, fmt.Errorf("copying %q into the worktree: %w", name, err)
		default:
			left -= n
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// copy copies a file of at most limit bytes, and returns its size.
func (i *includer) copy(name string, limit int64) (int64, error) {
	st, err := i.disk.lstat(name)
	if err != nil {
		return 0, err
	}
	content, err := readFile(i.disk, name, limit)
	if err != nil {
		return 0, err
	}
	d, err := openDir(i.to, path.Dir(name), true)
	if err != nil {
		return 0, err
	}
	defer d.close()
	return int64(len(content)), d.create(path.Base(name), objects.Entry{Mode: st.mode}, content, false)
}

// readFile reads a regular file of at most limit bytes.
func readFile(disk *disk, name string, limit int64) ([]byte, error) {
	f, err := disk.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := statFile(f)
	if err != nil {
		return nil, err
	}
	if st.mode&objects.ModeType != objects.ModeFile {
		return nil, errors.New("it is no regular file")
	}
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("it is too large: %d bytes more are allowed", limit)
	}
	return content, err
}
