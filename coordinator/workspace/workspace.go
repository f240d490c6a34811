package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Workspace is a directory with its store. It is not safe for concurrent use; several of one directory are, in any
// number of processes.
type Workspace struct {
	Limits Limits

	root  string
	dir   string // of the store
	home  string // of the program; it exists
	store *objects.Store
	above *Workspace // the one whose directory contains this one, see Below; nil: none
	sub   string     // the path of root in it, with slashes
	// narrow is whether a capture over a limit has only what Git reports as changed: no directory below is captured
	// instead.
	narrow   bool
	exceeded *LimitError // the limit because of which captures of this workspace have only that; nil: they have all
}

// Open returns the workspace of a directory that agents work in, with its store in home, the directory of the program,
// which exists. The workspace is the worktree of a member, or the top of the Git work tree around dir, or dir itself if
// there is none, or if the top is the home directory of the user or contains it. An error says that dir may not be
// captured.
func Open(home, dir string) (*Workspace, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	root, isWorktree := worktreeRoot(home, dir)
	if !isWorktree {
		root = top(dir)
	}
	if root != dir {
		if w, err := openPlain(home, root); err == nil {
			return w, nil
		}
	}
	w, err := openPlain(home, dir)
	if err == nil {
		w.narrow = true
	}
	return w, err
}

// openPlain is Open without the search for a work tree.
func openPlain(home, root string) (*Workspace, error) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, err
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return nil, err
	}
	user, err := os.UserHomeDir()
	if err == nil {
		user, err = filepath.EvalSymlinks(user)
	}
	if err != nil {
		user = ""
	}
	if !filepath.IsAbs(root) || root == filepath.Dir(root) || isOrContains(root, user) || inHome(home, root) {
		return nil, &RefusedError{root}
	}
	return newWorkspace(home, root), nil
}

// worktreeRoot returns the worktree of a member, HOME/worktrees/SESSION/MEMBER, that a directory without links is in.
func worktreeRoot(home, dir string) (string, bool) {
	home, err := filepath.EvalSymlinks(home)
	if err != nil {
		return "", false
	}
	below, err := filepath.Rel(home, dir)
	parts := strings.SplitN(filepath.ToSlash(below), "/", 4)
	if err != nil || len(parts) < 3 || parts[0] != worktreesDir {
		return "", false
	}
	return filepath.Join(append([]string{home}, parts[:3]...)...), true
}

// IsWorktree reports whether a directory without links is the worktree of a member, or in one.
func IsWorktree(home, dir string) bool {
	_, is := worktreeRoot(home, dir)
	return is
}

// Stored returns the workspace of another directory for reading what is stored of it, wherever the directory is now.
func (w *Workspace) Stored(root string) *Workspace { return newWorkspace(w.home, root) }

// Stored returns the workspace of a directory for reading what is stored of it, wherever the directory is now.
func Stored(home, root string) *Workspace { return newWorkspace(home, root) }

// OpenRoot returns the workspace of a directory that was captured before. It returns an error if it is not captured any
// more: it is missing, has another path, or is a directory that is never captured.
func OpenRoot(home, root string) (*Workspace, error) {
	w, err := Open(home, root)
	if err == nil && filepath.Clean(root) != w.root {
		w, err = w.Below(root)
		if err != nil || filepath.Clean(root) != w.root {
			return nil, &RefusedError{root}
		}
	}
	return w, err
}

func newWorkspace(home, root string) *Workspace {
	dir := filepath.Join(home, storesDir, storeName(root))
	return &Workspace{Limits: DefaultLimits, root: root, dir: dir, home: home, store: objects.Open(vfs.OS, dir)}
}

// storesDir is the directory in the home with the stores.
const storesDir = "files"

// worktreesDir is the directory in the home with the worktrees.
const worktreesDir = "worktrees"

// WorktreeDir returns the path of the worktree of a member of a session in the home of the program, which exists.
func WorktreeDir(home, sessionID, memberID string) (string, error) {
	home, err := filepath.EvalSymlinks(home)
	return filepath.Join(home, worktreesDir, sessionID, journal.DirName(memberID)), err
}

// storeName returns the name of the store of a directory.
func storeName(root string) string {
	sum := sha256.Sum256([]byte(root))
	return fmt.Sprintf("%x", sum[:8])
}

// Root returns the path of the directory.
func (w *Workspace) Root() string { return w.root }

// Store returns the contents of the captures.
func (w *Workspace) Store() *objects.Store { return w.store }

// Below returns the workspace of a directory below the root alone. Its files are those that Git lists there for the
// whole work tree, and its turns are turns in both directories. It returns an error if dir is not below the root.
func (w *Workspace) Below(dir string) (*Workspace, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	below, err := filepath.Rel(w.root, dir)
	if err != nil || !filepath.IsLocal(below) || below == "." {
		return nil, fmt.Errorf("%s is not below %s", dir, w.root)
	}
	b := newWorkspace(w.home, dir)
	b.Limits, b.above, b.sub, b.narrow = w.Limits, w, filepath.ToSlash(below), true
	return b, nil
}

// list lists the files of the directory, with Git's index if they are too many or too large.
func (w *Workspace) list(ctx context.Context, index bool) (listing, error) {
	l, err := list(ctx, w.listing(index))
	if w.above == nil || err != nil {
		return l, err
	}
	paths, tracked := l.paths[:0], map[string]indexed{}
	for _, above := range l.paths {
		name, ok := strings.CutPrefix(above, w.sub+"/")
		if !ok {
			continue
		}
		paths = append(paths, name)
		if entry, ok := l.tracked[above]; ok {
			tracked[name] = entry
		}
	}
	l.paths, l.tracked = paths, tracked
	for i := range l.skipped {
		l.skipped[i].Path = strings.TrimPrefix(l.skipped[i].Path, w.sub+"/")
	}
	return l, nil
}

// namesPerFile is how many files can be listed for each that can be captured, if those are left out that Git has.
const namesPerFile = 10

func (w *Workspace) listing(index bool) listOptions {
	const most = 1 << 30
	files := w.Limits.Files
	if files == 0 {
		files = most
	}
	if index && files <= most/namesPerFile {
		files *= namesPerFile
	}
	root := w.root
	if w.above != nil {
		root = w.above.root
	}
	return listOptions{
		root: root, sub: w.sub, scratch: w.dir, exclude: []string{w.home}, maxFiles: files, index: index,
	}
}

// RefusedError is the error of a directory that is never captured: the root of the file system, the home directory of
// the user or one that contains it, and the home of the program.
type RefusedError struct{ Dir string }

func (e *RefusedError) Error() string { return e.Dir + " is never captured as a whole" }

// top returns the top of the Git work tree around a directory, or the directory itself.
func top(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if isWorkTree(at) {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// isWorkTree reports whether a directory has a repository of this user. Sandboxes of agents leave empty .git
// directories in directories that others share, such as /tmp, and another user's repository could be around any
// directory there.
func isWorkTree(dir string) bool {
	git := filepath.Join(dir, ".git")
	info, err := os.Lstat(git)
	if err != nil || !isOwn(info) {
		return false
	}
	if info.Mode().IsRegular() { // of a submodule, or a linked work tree
		return true
	}
	_, err = os.Lstat(filepath.Join(git, "HEAD"))
	return err == nil
}

// isRepository reports whether a directory has a repository of this user, or is one, as those that are bare and those
// of submodules.
func isRepository(dir string) bool {
	if isWorkTree(dir) {
		return true
	}
	for _, name := range []string{"HEAD", "objects"} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || !isOwn(info) {
			return false
		}
	}
	return true
}

// isOrContains reports whether a directory is other, or contains it. No directory contains "".
func isOrContains(dir, other string) bool {
	below, err := filepath.Rel(dir, other)
	return other != "" && err == nil && filepath.IsLocal(below)
}

// inHome reports whether a directory is the program's home, or in it and no worktree of a member.
func inHome(home, root string) bool {
	below, err := filepath.Rel(home, root)
	if err != nil || !filepath.IsLocal(below) {
		return false
	}
	parts := strings.Split(filepath.ToSlash(below), "/")
	return len(parts) < 3 || parts[0] != worktreesDir
}

// BusyError is the error of a directory that another process keeps capturing, or in which a turn runs.
type BusyError struct{ Root string }

func (e *BusyError) Error() string { return e.Root + " is in use by another turn or command" }

// lockInterval is the interval at which a lock is tried.
const lockInterval = 5 * time.Millisecond

// lockWait is how long a lock is waited for: a capture takes as long at most.
const lockWait = 10 * time.Second

// lock takes the lock of the store, which it waits for, and makes its directory.
func (w *Workspace) lock(ctx context.Context) (release func(), err error) {
	ctx, stop := context.WithTimeoutCause(ctx, lockWait, &BusyError{w.root})
	defer stop()
	if _, err := vfs.MkdirAll(vfs.OS, w.dir); err != nil {
		return nil, err
	}
	for {
		f, err := vfs.LockFile(vfs.OS, filepath.Join(w.dir, "lock"))
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, vfs.ErrLocked) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lockInterval):
		}
	}
}
