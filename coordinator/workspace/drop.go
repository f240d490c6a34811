package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// maxIgnored is how many ignored paths Losses names.
const maxIgnored = 1000

// Losses is what only a worktree has.
type Losses struct {
	Files       int              // that Git does not ignore, merged or not
	Unmerged    []objects.Change // files that differ from what was merged, sorted
	Skipped     []Skipped        // files that no capture has
	Ignored     []string         // files that Git ignores, and directories, which end with a slash; sorted
	IgnoredMore bool             // there are more
	// Repositories are nested ones, with all their commits, sorted.
	Repositories []string
	Head         string   // the commit that is checked out; "": there is none
	Commits      int      // that nothing but Head of the worktree reaches
	Locked       bool     // git worktree lock protects it, so that it cannot be removed
	Unknown      []string // what could not be found out, and why
}

// NeedForce reports whether commits would be lost, which no capture has.
func (l Losses) NeedForce() bool { return l.Commits > 0 || len(l.Repositories)+len(l.Unknown) > 0 }

// IsNone reports whether nothing would be lost.
func (l Losses) IsNone() bool {
	return len(l.Unmerged)+len(l.Skipped)+len(l.Ignored)+len(l.Repositories)+len(l.Unknown)+l.Commits == 0
}

// Losses returns what the removal of the worktree would lose. merged is the tree of what was merged, and now a capture
// of the worktree at this moment, both in its store. An ignored file that the directory of From has, too, is not lost.
func (t Worktree) Losses(ctx context.Context, merged objects.Hash, now Capture) (l Losses, err error) {
	w, err := t.Workspace()
	if err != nil {
		return l, err
	}
	l.Skipped = now.Skipped
	for c, err := range w.Compare(merged, now.Tree) {
		var partial *PartialError
		if errors.As(err, &partial) {
			l.Unknown = append(l.Unknown, "which files are unmerged: "+err.Error())
			break
		}
		if err != nil {
			return l, err
		}
		l.Unmerged = append(l.Unmerged, c)
	}
	listed, err := list(ctx, w.listing(false))
	var tooMany *TooManyError
	if errors.As(err, &tooMany) {
		l.Unknown = append(l.Unknown, "which repositories are in it: "+err.Error())
	} else if err != nil {
		return l, err
	}
	l.Files = len(listed.paths)
	for _, dir := range listed.nested {
		if _, err := os.Lstat(filepath.Join(t.Dir, filepath.FromSlash(dir), ".git")); err == nil {
			l.Repositories = append(l.Repositories, dir)
		}
	}
	if info, err := os.Lstat(filepath.Join(t.Dir, ".git")); err == nil && info.IsDir() {
		l.Repositories = append(l.Repositories, ".") // the member made it
	}
	slices.Sort(l.Repositories)
	if err := l.addIgnored(ctx, w); err != nil {
		return l, err
	}
	l.Ignored = slices.DeleteFunc(l.Ignored, t.isCopy)
	return l, l.addCommits(ctx, t)
}

// CommitLosses returns the commits that the removal of the worktree would lose, also if its directory is missing.
func (t Worktree) CommitLosses(ctx context.Context) (l Losses, err error) {
	return l, l.addCommits(ctx, t)
}

// isCopy reports whether a path is a small file that the directory that was copied has, too.
func (t Worktree) isCopy(name string) bool {
	ours, err := readSmall(t.From.root, name)
	if err != nil {
		return false
	}
	theirs, err := readSmall(t.Dir, name)
	return err == nil && bytes.Equal(ours, theirs)
}

// maxSmall is the size of the largest file that readSmall reads, in bytes.
const maxSmall = 1 << 20

// readSmall reads a regular file of a directory, through no link.
func readSmall(root, name string) ([]byte, error) {
	disk, err := openDisk(root)
	if err != nil {
		return nil, err
	}
	defer disk.close()
	return readFile(disk, name, maxSmall)
}

// addIgnored adds the files that Git ignores.
func (l *Losses) addIgnored(ctx context.Context, w *Workspace) error {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil // nothing is ignored
	}
	args := []string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"}
	err = l.addListed(ctx, git, w.root, args)
	var failed *gitError
	if !errors.As(err, &failed) {
		return err
	}
	empty, err := emptyGitDir(w.dir)
	if err != nil {
		return err
	}
	l.Ignored = nil
	return l.addListed(ctx, git, w.root, append([]string{"--git-dir=" + empty, "--work-tree=."}, args...))
}

var errEnough = errors.New("enough")

// addListed adds what Git lists, at most maxIgnored paths.
func (l *Losses) addListed(ctx context.Context, git, dir string, args []string) error {
	_, err := runGit(ctx, git, dir, args, func(name string) error {
		if strings.EqualFold(path.Base(name), ".git") {
			return nil
		}
		if len(l.Ignored) == maxIgnored {
			l.IgnoredMore = true
			return errEnough
		}
		l.Ignored = append(l.Ignored, name)
		return nil
	})
	slices.Sort(l.Ignored)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// addCommits counts the commits that no ref and no other work tree reaches, of each entry that names the worktree: the
// member may have written another one into its file.
func (l *Losses) addCommits(ctx context.Context, t Worktree) error {
	dir, err := t.entriesDir(ctx)
	if errors.Is(err, fs.ErrNotExist) || dir == "" {
		if info, err := os.Lstat(filepath.Join(t.Dir, ".git")); err == nil && info.Mode().IsRegular() {
			why := t.From.root + " is no work tree of its repository"
			l.Unknown = append(l.Unknown, "which commits only it has: "+why)
		}
		return nil
	}
	if err != nil {
		return err
	}
	names, err := t.entriesFor(dir)
	if err != nil {
		return err
	}
	args := []string{"rev-list", "--count", "--ignore-missing"}
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name, lockedFile)); err == nil {
			l.Locked = true
		}
		head, err := gitLine(ctx, t.From.root, "rev-parse", "--verify", "worktrees/"+name+"/HEAD^{commit}")
		if err != nil {
			return err
		}
		if head != "" {
			l.Head = head
			args = append(args, head)
		}
	}
	if l.Head == "" {
		return nil
	}
	args = append(args, "--not", "--glob=refs/*", "main-worktree/HEAD")
	others, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, other := range others {
		if !slices.Contains(names, other.Name()) {
			args = append(args, "worktrees/"+other.Name()+"/HEAD")
		}
	}
	count, err := gitLine(ctx, t.From.root, args...)
	if err != nil || count == "" {
		return cmp.Or(err, errors.New("git cannot count the commits of the worktree"))
	}
	l.Commits, err = strconv.Atoi(count)
	return err
}

// Keep makes a branch at a commit of the worktree. The error is that of Git if it has such a branch, or cannot have it.
func (t Worktree) Keep(ctx context.Context, branch, commit string) error {
	git, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	_, err = runGit(ctx, git, t.From.root, []string{"branch", "--no-track", "--", branch, commit},
		func(string) error { return nil })
	return err
}

// lockedFile is the file in an entry that protects the worktree.
const lockedFile = "locked"

// LockedError is the error of a worktree that git worktree lock protects.
type LockedError struct{ Dir string }

func (e *LockedError) Error() string { return e.Dir + " is locked by git worktree lock" }

// Remove removes the worktree and the entry that Git has of it. It follows no links, and changes nothing else. A crash
// leaves the worktree as it is, or no worktree and what the next call removes. A worktree that is missing is no error.
func (t Worktree) Remove(ctx context.Context) error {
	return t.removeBefore(ctx, func(string) {})
}

// removeBefore is Remove. before is called before each operation.
func (t Worktree) removeBefore(ctx context.Context, before func(string)) error {
	if err := t.checkPath(); err != nil {
		return err
	}
	aside := t.beside(droppedDir)
	for _, left := range []string{aside, t.beside(layingOutDir)} {
		if err := t.remove(ctx, left, before); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(t.Dir); err == nil {
		if err := t.moveAside(ctx, aside, before); err != nil {
			return err
		}
		if err := t.remove(ctx, aside, before); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before("remove mark")
	if err := os.Remove(t.unusedFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, dir := range []string{filepath.Dir(aside), filepath.Dir(t.beside(layingOutDir)), filepath.Dir(t.Dir)} {
		before("remove parent")
		_ = os.Remove(dir) // if it is empty
	}
	return nil
}

// moveAside gives the worktree the path at which it is removed.
func (t Worktree) moveAside(ctx context.Context, aside string, before func(string)) error {
	switch dir, name, err := t.entry(ctx, t.Dir); {
	case err != nil:
		return err
	case name == "":
	default:
		if _, err := os.Lstat(filepath.Join(dir, name, lockedFile)); err == nil {
			return &LockedError{t.Dir}
		}
	}
	if err := t.CheckMounts(); err != nil {
		return err
	}
	before("make parent")
	if err := os.MkdirAll(filepath.Dir(aside), 0o700); err != nil {
		return err
	}
	before("rename")
	if err := os.Rename(t.Dir, aside); err != nil {
		return err
	}
	return syncDirs(filepath.Dir(t.Dir), filepath.Dir(aside))
}
