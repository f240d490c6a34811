package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// A linked work tree DIR of Git has an entry, COMMON/worktrees/NAME, where COMMON is the directory of the repository.
// DIR/.git names the entry, and the file gitdir in the entry names DIR/.git.

const maxGitPath = 64 << 10 // bytes of a file that names a path

// gitHead returns the commit that is checked out in the directory; "": it is no work tree of a repository that Git
// works with, or has no commit.
func (w *Workspace) gitHead(ctx context.Context) (string, error) {
	if !isWorkTree(w.root) {
		return "", nil
	}
	return gitLine(ctx, w.root, "rev-parse", "--verify", "HEAD^{commit}")
}

// gitLine runs Git in a directory and returns its output without the last line feed; "" if Git fails or is missing.
func gitLine(ctx context.Context, dir string, args ...string) (line string, err error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return "", nil
	}
	_, err = runGit(ctx, git, dir, args, func(output string) error {
		line = strings.TrimSuffix(output, "\n")
		return nil
	})
	var failed *gitError
	if errors.As(err, &failed) {
		return "", nil
	}
	return line, err
}

// addToGit makes an empty linked work tree with the files of a commit in its index. Git makes the directory.
func (t Worktree) addToGit(ctx context.Context, dir, head string) error {
	git, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	ignore := func(string) error { return nil }
	args := []string{"worktree", "add", "--detach", "--no-checkout", "--", dir, head}
	if _, err := runGit(ctx, git, t.From.root, args, ignore); err != nil {
		return err
	}
	if _, err := runGit(ctx, git, dir, []string{"read-tree", "HEAD"}, ignore); err != nil {
		return err
	}
	sparse, err := gitLine(ctx, dir, "config", "--type=bool", "--default=false", "core.sparseCheckout")
	if err != nil || sparse != "true" {
		return err
	}
	// Otherwise the files outside of the patterns would count as deleted.
	_, err = runGit(ctx, git, dir, []string{"sparse-checkout", "reapply"}, ignore)
	return err
}

// nameInGit makes the entry of the work tree at a path name the worktree, to which the path is renamed next.
func (t Worktree) nameInGit(at string) error {
	entry, err := entryOf(at)
	if err != nil {
		return err
	}
	return vfs.Replace(vfs.OS, filepath.Join(entry, "gitdir"), 0o644, func(w io.Writer) error {
		_, err := io.WriteString(w, filepath.ToSlash(filepath.Join(t.Dir, ".git"))+"\n")
		return err
	})
}

// entryOf returns the entry that the work tree at a path names.
func entryOf(at string) (string, error) {
	name, err := readPath(filepath.Join(at, ".git"), "gitdir: ")
	if err == nil && !filepath.IsAbs(name) {
		name = filepath.Join(at, name)
	}
	return name, err
}

// readPath returns the path in a file of Git, after a prefix.
func readPath(file, prefix string) (string, error) {
	text, err := vfs.ReadFile(vfs.OS, file, maxGitPath)
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), prefix)
	if !ok || name == "" {
		return "", fmt.Errorf("%s names no path", file)
	}
	return filepath.FromSlash(name), nil
}

// entriesDir returns the directory of the entries of the repository; "": there is none.
func (t Worktree) entriesDir(ctx context.Context) (string, error) {
	if _, err := os.Stat(t.From.root); err != nil || !isRepository(t.From.root) {
		return "", nil
	}
	common, err := gitLine(ctx, t.From.root, "rev-parse", "--git-common-dir")
	if err != nil || common == "" {
		return "", err
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(t.From.root, common)
	}
	return filepath.EvalSymlinks(filepath.Join(common, "worktrees"))
}

// entry returns the directory of the entries, and the name of that of the work tree at a path; "": there is none. The
// path and the entry must name each other, since the agent could write both files: another entry is never returned. If
// the work tree has lost its file, the only entry that names it is its own.
func (t Worktree) entry(ctx context.Context, at string) (dir, name string, err error) {
	dir, err = t.entriesDir(ctx)
	if errors.Is(err, fs.ErrNotExist) || dir == "" {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	names, err := t.entriesFor(dir)
	if err != nil {
		return "", "", err
	}
	entry, err := entryOf(at)
	if errors.Is(err, fs.ErrNotExist) && len(names) == 1 {
		return dir, names[0], nil
	}
	if err != nil {
		return dir, "", nil
	}
	above, err := filepath.EvalSymlinks(filepath.Dir(entry))
	if name = filepath.Base(entry); err != nil || above != dir || !slices.Contains(names, name) {
		return dir, "", nil
	}
	return dir, name, nil
}

// entriesFor returns the entries that name the worktree, or the directory in which it is laid out.
func (t Worktree) entriesFor(dir string) (names []string, err error) {
	all, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range all {
		back, err := readPath(filepath.Join(dir, entry.Name(), "gitdir"), "")
		if err == nil && !filepath.IsAbs(back) {
			back = filepath.Join(dir, entry.Name(), back)
		}
		if back = filepath.Dir(back); err == nil && (back == t.Dir || back == t.beside(layingOutDir)) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// removeEntry removes the entry of the work tree at a path.
func (t Worktree) removeEntry(ctx context.Context, at string, before func(string)) error {
	dir, name, err := t.entry(ctx, at)
	if err != nil || name == "" {
		return err
	}
	entries, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer entries.Close()
	if info, err := entries.Lstat(name); err != nil || !info.IsDir() {
		return err
	}
	if err := removeAllBut(entries, name, "gitdir", before); err != nil {
		return err
	}
	before("remove entry")
	// Crash here leaves an entry that names the worktree, for the next call.
	return entries.RemoveAll(name)
}
