//go:build unix

package workspace

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// laidOut returns a worktree that is laid out beside another one, in which an agent left files that are hard to
// remove: links that lead out of it, a read-only directory and a pipe.
func laidOut(t *testing.T) (w, other Worktree, tree objects.Hash) {
	t.Helper()
	w, tree = newWorktree(t)
	other = Worktree{Dir: filepath.Join(filepath.Dir(w.Dir), "bea"), From: w.From}
	for _, each := range []Worktree{w, other} {
		_, err := each.LayOut(t.Context(), LayOut{Tree: tree})
		must(t, err)
	}
	outside := filepath.Join(filepath.Dir(w.From.root), "outside")
	must(t, os.Mkdir(outside, 0o755))
	write(t, outside, "kept")
	put(t, w.Dir, map[string]string{
		"out": "-> " + outside, "dir/up": "-> ../../bea", "loop": "-> loop", "sub/.git/HEAD": "-> " + outside + "/kept",
		"cache/a/b": "read only",
	})
	must(t, os.Chmod(filepath.Join(w.Dir, "cache", "a"), 0o555))
	must(t, os.Chmod(filepath.Join(w.Dir, "cache"), 0o500))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(w.Dir, "cache"), 0o700) })
	return w, other, tree
}

// outside returns all that is outside of the worktree and of its entry.
func (t Worktree) outside(tb testing.TB) map[string]string {
	tb.Helper()
	all := fingerprint(tb, filepath.Dir(t.From.root))
	maps.Copy(all, fingerprint(tb, filepath.Dir(t.Dir)))
	entry := filepath.Join(t.From.root, ".git", "worktrees", filepath.Base(t.Dir))
	for _, parent := range []string{filepath.Dir(t.Dir), filepath.Dir(entry), filepath.Dir(t.beside(droppedDir)),
		filepath.Dir(t.beside(layingOutDir))} {
		delete(all, parent) // its time changes
	}
	for name := range all {
		ours := false
		for _, own := range []string{t.Dir, entry, t.beside(droppedDir), t.beside(layingOutDir)} {
			ours = ours || name == own || strings.HasPrefix(name, own+"/")
		}
		if ours {
			delete(all, name)
		}
	}
	return all
}

// A crash before any operation of a removal leaves the worktree whole or no worktree, and the next removal completes
// it. Nothing else changes.
func TestRemoveAfterACrash(t *testing.T) {
	if asUnprivileged(t) {
		return
	}
	for n, crashed := 0, true; crashed; n++ {
		w, other, tree := laidOut(t)
		outside, inside := w.outside(t), contents{}.capture(t, w.Dir)
		crashed = until(n, func(before func(string)) { must(t, w.removeBefore(t.Context(), before)) })
		if _, err := os.Lstat(w.Dir); err == nil {
			if diff := cmp.Diff(inside, contents{}.capture(t, w.Dir)); diff != "" {
				t.Errorf("a crash before operation %d leaves a part:\n%s", n, diff)
			}
		}
		if n%2 == 0 {
			must(t, w.Remove(t.Context()))
			w.checkEntries(t, other.Dir)
		} else { // as after a resume
			must(t, w.Remove(t.Context()))
			_, err := w.LayOut(t.Context(), LayOut{Tree: tree})
			must(t, err)
			w.checkEntries(t, w.Dir, other.Dir)
		}
		if diff := cmp.Diff(outside, w.outside(t)); diff != "" {
			t.Errorf("a crash before operation %d: outside of the worktree, want, got:\n%s", n, diff)
		}
		if _, err := os.Lstat(w.beside(droppedDir)); err == nil {
			t.Errorf("a crash before operation %d: it is still aside", n)
		}
	}
}

// What an agent puts in the place of its worktree or of the files of Git leads the removal nowhere else.
func TestRemoveOfAHostileWorktree(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(w, other Worktree)
		entries int // that are left
	}{
		"a link": {func(w, other Worktree) {
			must(t, os.Rename(w.Dir, w.Dir+"-moved"))
			must(t, os.Symlink(other.Dir, w.Dir))
		}, 2},
		"the entry of another": {func(w, other Worktree) {
			entry := filepath.Join(w.From.root, ".git", "worktrees", "bea")
			must(t, os.WriteFile(filepath.Join(w.Dir, ".git"), []byte("gitdir: "+entry+"\n"), 0o644))
		}, 2},
		"an entry elsewhere": {func(w, other Worktree) {
			entry := filepath.Join(filepath.Dir(w.From.root), "outside")
			must(t, os.WriteFile(filepath.Join(entry, "gitdir"), []byte(w.Dir+"/.git\n"), 0o644))
			must(t, os.WriteFile(filepath.Join(w.Dir, ".git"), []byte("gitdir: "+entry+"\n"), 0o644))
		}, 2},
		"no file of Git": {func(w, other Worktree) { must(t, os.Remove(filepath.Join(w.Dir, ".git"))) }, 1},
		"a link for it":  {func(w, other Worktree) { relink(t, other.Dir+"/.git", w.Dir+"/.git") }, 2},
		"a pipe for it": {func(w, other Worktree) {
			must(t, os.Remove(w.Dir+"/.git"))
			must(t, syscall.Mkfifo(w.Dir+"/.git", 0o600))
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w, other, _ := laidOut(t)
			c.change(w, other)
			outside := w.outside(t)
			must(t, w.Remove(t.Context()))
			if diff := cmp.Diff(outside, w.outside(t)); diff != "" {
				t.Errorf("outside of the worktree, want, got:\n%s", diff)
			}
			if _, err := os.Lstat(w.Dir); err == nil {
				t.Error("it is not removed")
			}
			entries, err := os.ReadDir(filepath.Join(w.From.root, ".git", "worktrees"))
			if err != nil || len(entries) != c.entries {
				t.Errorf("entries %v, %v", entries, err)
			}
		})
	}
}

func relink(t testing.TB, text, name string) {
	t.Helper()
	must(t, os.Remove(name))
	must(t, os.Symlink(text, name))
}

// A link in the place of a directory above the worktree is an error.
func TestRemoveBelowALink(t *testing.T) {
	w, other, _ := laidOut(t)
	session := filepath.Dir(w.Dir)
	must(t, os.Rename(session, session+"-moved"))
	must(t, os.Symlink(session+"-moved", session))
	if err := w.Remove(t.Context()); err == nil {
		t.Error("no error")
	}
	if _, err := os.Lstat(other.Dir); err != nil {
		t.Error(err)
	}
}

func TestRemoveOfALockedWorktree(t *testing.T) {
	w, other, _ := laidOut(t)
	git(t, w.From.root, "worktree", "lock", w.Dir)
	var locked *LockedError
	if err := w.Remove(t.Context()); !errors.As(err, &locked) {
		t.Errorf("the error is %v", err)
	}
	w.checkEntries(t, w.Dir, other.Dir)
}
