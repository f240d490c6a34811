package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Worktree is a directory in which a member works alone. It begins with the files of another directory, also those that
// are not committed.
type Worktree struct {
	Dir  string     // its absolute path without links, HOME/worktrees/SESSION/MEMBER
	From *Workspace // of the other directory
}

const (
	layingOutDir = ".part"    // beside the worktrees, for those that are not complete
	droppedDir   = ".removed" // beside the worktrees, for those that are being removed
	unusedSuffix = ".unused"  // ends the names of files of worktrees in which no agent has worked
)

// FoundWorktree is a worktree in a home, or what a crash has left of one.
type FoundWorktree struct {
	Session string // its id
	Dir     string // as of Worktree
}

// Worktrees returns the worktrees of a home, sorted by their paths.
func Worktrees(home string) (found []FoundWorktree, err error) {
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return nil, err
	}
	sessions, err := os.ReadDir(filepath.Join(home, worktreesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, session := range sessions {
		if !session.IsDir() {
			continue
		}
		dir := filepath.Join(home, worktreesDir, session.Name())
		names := map[string]bool{}
		for _, of := range []string{".", layingOutDir, droppedDir} {
			entries, readErr := os.ReadDir(filepath.Join(dir, of))
			if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
				err = errors.Join(err, readErr)
			}
			for _, entry := range entries {
				name := entry.Name()
				if of == layingOutDir && !entry.IsDir() {
					name = strings.TrimSuffix(name, unusedSuffix)
				}
				names[name] = true
			}
		}
		delete(names, layingOutDir)
		delete(names, droppedDir)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			found = append(found, FoundWorktree{session.Name(), filepath.Join(dir, name)})
		}
	}
	return found, err
}

// Worktree returns the worktree of a home whose session is unknown. Its repository is that which the worktree names.
func (f FoundWorktree) Worktree(home string) Worktree {
	t := Worktree{Dir: f.Dir, From: Stored(home, filepath.Dir(f.Dir))} // which has no repository
	for _, at := range []string{t.Dir, t.beside(droppedDir), t.beside(layingOutDir)} {
		entry, err := entryOf(at)
		if err != nil {
			continue
		}
		common := filepath.Dir(filepath.Dir(entry))
		if top := filepath.Dir(common); filepath.Base(common) == ".git" && isWorkTree(top) {
			common = top
		}
		if isRepository(common) {
			t.From = Stored(home, common)
			break
		}
	}
	return t
}

// beside returns where the worktree is while it is laid out or removed. It has the same name there, after which Git
// names its entry.
func (t Worktree) beside(dir string) string {
	return filepath.Join(filepath.Dir(t.Dir), dir, filepath.Base(t.Dir))
}

// unusedFile returns the path of a file that exists while the worktree has nothing that is kept.
func (t Worktree) unusedFile() string { return t.beside(layingOutDir) + unusedSuffix }

// Exists reports whether the directory of the worktree exists, and whether it is in use: if not, what it has can be
// removed. The error says what is there if it is no directory.
func (t Worktree) Exists() (exists, used bool, err error) {
	info, err := os.Lstat(t.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, false, nil
	case err != nil:
		return false, false, err
	case !info.IsDir():
		return true, false, fmt.Errorf("%s is no directory any more", t.Dir)
	}
	_, err = os.Lstat(t.unusedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return true, true, nil
	}
	return true, false, err
}

// SetUnused makes Exists report that the worktree is not in use, also after a crash, until SetUsed or Remove: it is not
// set up yet, or about to be removed.
func (t Worktree) SetUnused() error {
	if err := t.checkPath(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(t.unusedFile()), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(t.unusedFile(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), syncDirs(filepath.Dir(t.unusedFile())))
}

// SetUsed ends what SetUnused began.
func (t Worktree) SetUsed() error { return os.Remove(t.unusedFile()) }

// Workspace returns the workspace of the worktree, which exists.
func (t Worktree) Workspace() (*Workspace, error) {
	w, err := Open(t.From.home, t.Dir)
	if err != nil {
		return nil, err
	}
	if w.root != t.Dir {
		return nil, fmt.Errorf("%s is a link, or has one in its path", t.Dir)
	}
	w.Limits = t.From.Limits
	return w, nil
}

// MountError is the error of a worktree in which a file system is mounted: its files are not those of the worktree.
type MountError struct{ At string }

func (e *MountError) Error() string { return "a file system is mounted at " + e.At }

// CheckMounts returns a *MountError if a file system is mounted in the worktree. It knows those of Linux only.
func (t Worktree) CheckMounts() error { return checkMounts(t.Dir) }

func checkMounts(dir string) error {
	if mounts := mountsBelow(dir); len(mounts) > 0 {
		return &MountError{mounts[0]}
	}
	return nil
}

// remove removes what is at a path: the directory of the worktree or what an agent has put in its place, and the entry
// that Git has of it. No link is followed. before is called before each operation.
func (t Worktree) remove(ctx context.Context, at string, before func(string)) error {
	parent, err := os.OpenRoot(filepath.Dir(at))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer parent.Close()
	base := filepath.Base(at)
	switch info, err := parent.Lstat(base); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		before("remove")
		return parent.Remove(base)
	}
	if err := checkMounts(at); err != nil {
		return err
	}
	if err := t.removeEntry(ctx, at, before); err != nil {
		return err
	}
	if err := removeAllBut(parent, base, ".git", before); err != nil {
		return err
	}
	before("remove directory")
	// Crash here leaves the directory with the file that names the entry of Git, for the next call.
	return parent.RemoveAll(base)
}

// removeAllBut removes what is in a directory, except one name.
func removeAllBut(parent *os.Root, dir, last string, before func(string)) error {
	names, err := readNames(parent, dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == last {
			continue
		}
		name = filepath.Join(dir, name)
		before("remove " + name)
		err := parent.RemoveAll(name)
		if errors.Is(err, fs.ErrPermission) {
			makeWritable(parent, name)
			err = parent.RemoveAll(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readNames returns the names in a directory, which it makes writable.
func readNames(parent *os.Root, dir string) ([]string, error) {
	if info, err := parent.Lstat(dir); err == nil && info.IsDir() && info.Mode().Perm()&0o700 != 0o700 {
		_ = parent.Chmod(dir, info.Mode().Perm()|0o700) // else what follows fails
	}
	f, err := parent.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// makeWritable lets the user remove what is in a directory: caches of modules are read-only, for example.
func makeWritable(parent *os.Root, dir string) {
	info, err := parent.Lstat(dir)
	if err != nil || !info.IsDir() {
		return
	}
	names, _ := readNames(parent, dir) // what it cannot read, the removal reports
	for _, name := range names {
		makeWritable(parent, filepath.Join(dir, name))
	}
}

// checkPath returns an error if a directory above the worktree, below the home, is a link: what is removed or written
// there would be elsewhere.
func (t Worktree) checkPath() error {
	dir := filepath.Dir(t.Dir)
	home, err := filepath.EvalSymlinks(t.From.home)
	if err != nil {
		return err
	}
	below, err := filepath.Rel(home, dir)
	if err != nil || !filepath.IsLocal(below) {
		return fmt.Errorf("%s is not below %s", t.Dir, home)
	}
	for part := range strings.SplitSeq(filepath.ToSlash(below), "/") {
		home = filepath.Join(home, part)
		info, err := os.Lstat(home)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is no directory", home)
		}
	}
	return nil
}

// syncDirs makes renames in directories durable, where the file system can.
func syncDirs(dirs ...string) error {
	for _, dir := range dirs {
		if err := vfs.OS.SyncDir(dir); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	return nil
}
