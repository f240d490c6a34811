//go:build unix

package workspace

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

// TestRandomMerges merges random changes of two sides. Without -full it tries 200 cases, else 5,000.
func TestRandomMerges(t *testing.T) {
	if asUnprivileged(t) {
		return
	}
	cases := 200
	if sizetest.Full() {
		cases = 5000
	}
	total := map[string]int{}
	for done := 0; done < cases; {
		propertytest.Check(t, func(rt *rapid.T) {
			done++
			s := newSides(t, rt)
			defer s.close()
			s.merge()
			for what, n := range s.count {
				total[what] += n
			}
		})
	}
	t.Logf("%v", total)
	for _, what := range []string{"applied", "merged", "marked", "kept", "obstructed", "same"} {
		if total[what] == 0 {
			t.Errorf("no case in which a path was %s", what)
		}
	}
}

// sides are a directory and a worktree that had the same files.
type sides struct {
	*world                                   // of the directory
	worktree                      *world     // with the contents of the directory
	into, from                    *Workspace // with stores of both
	base, ours, theirs            tree
	texts                         []string // files with several lines
	baseTree, oursTree, theirTree objects.Hash
}

func newSides(t *testing.T, rt *rapid.T) *sides {
	s := &sides{world: newWorld(t, rt), worktree: newWorld(t, rt)}
	home := filepath.Dir(s.dir)
	s.into, s.from = newWorkspace(home, s.dir), newWorkspace(home, s.worktree.dir)
	s.worktree.store = s.store
	for range 4 {
		name := s.name()
		s.texts = append(s.texts, name)
		s.save(name, "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	}
	s.base = s.capture()
	s.worktree.become(s.base)
	s.diverge(s.world)
	s.worktree.saves = 1000
	s.diverge(s.worktree)
	if s.int(4) == 0 {
		s.worktree.copyFrom(s.world)
	}
	s.ours, s.theirs = s.capture(), s.worktree.capture()
	s.baseTree, s.oursTree = s.stored(s.from, s.base), s.stored(s.into, s.ours)
	s.theirTree = s.stored(s.from, s.theirs)
	return s
}

func (s *sides) close() {
	s.world.close()
	s.worktree.close()
}

// become makes the directory have the files of a tree.
func (w *world) become(all tree) {
	for _, name := range rootNames(w.t, w.dir) {
		must(w.t, w.root.RemoveAll(name))
	}
	for name, e := range all {
		content := string(w.store[e.Hash])
		must(w.t, w.root.MkdirAll(filepath.Dir(name), 0o755))
		if e.Type() == objects.ModeLink {
			must(w.t, w.root.Symlink(content, name))
			continue
		}
		d, err := openDir(w.dir, filepath.Dir(name), false)
		must(w.t, err)
		must(w.t, d.create(filepath.Base(name), e, []byte(content), false))
		d.close()
	}
}

func rootNames(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// copyFrom takes a file over from another world.
func (w *world) copyFrom(other *world) {
	name := w.name()
	if info, err := other.root.Lstat(name); err == nil && info.Mode().IsRegular() {
		if data, err := other.root.ReadFile(name); err == nil {
			w.save(name, string(data))
		}
	}
}

// diverge changes lines of texts, and makes other changes.
func (s *sides) diverge(w *world) {
	for range 1 + s.int(4) {
		name := rapid.SampledFrom(s.texts).Draw(s.rt, "text")
		info, err := w.root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		data, err := w.root.ReadFile(name)
		must(w.t, err)
		lines := strings.Split(string(data), "\n")
		lines[w.int(len(lines))] = w.content()
		_ = w.root.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o644)
	}
	w.change(w.int(9))
}

// stored stores a tree with its contents.
func (s *sides) stored(w *Workspace, all tree) (hash objects.Hash) {
	must(s.t, w.store.Write(ulid.Make().String(), func(out *objects.Writer) (err error) {
		var files []objects.File
		for name, e := range all {
			if _, err := out.Put(s.store[e.Hash]); err != nil {
				return err
			}
			files = append(files, objects.File{Path: name, Entry: e})
		}
		hash, err = objects.Tree(files, out.Put)
		return err
	}))
	return hash
}

// merge merges the worktree into the directory, and checks each path.
func (s *sides) merge() {
	m := &Merge{
		Into: s.into, From: s.from, Base: s.baseTree, Theirs: s.theirTree, Ours: s.oursTree,
		Conflicts: s.chance(), Name: "ada",
	}
	merged, err := m.Plan(s.t.Context(), ulid.Make().String())
	must(s.t, err)
	o := RestoreOptions{ID: restoreID, Root: s.dir, Read: s.into.store.Read}
	result, err := Restore(s.t.Context(), merged.Plan, o)
	must(s.t, err)
	if len(result.Kept)+len(result.Failed) > 0 {
		s.rt.Errorf("planned %s\nkept %v, failed %v", describe(merged.Plan), result.Kept, result.Failed)
	}
	now := s.capture()
	target, err := s.into.store.Files(merged.Target)
	must(s.t, err)
	if diff := cmp.Diff(tree(target), now); diff != "" {
		s.rt.Errorf("planned %s\nwant the target, got:\n%s", describe(merged.Plan), diff)
	}
	want := s.checkPaths(m, merged, now)
	s.checkBase(merged, result, want)
	s.checkUndone(now, o)
}

// checkPaths checks that each path is the three-way result, or kept. It returns the paths that are merged.
func (s *sides) checkPaths(m *Merge, merged *Merged, now tree) (done map[string]bool) {
	all := maps.Clone(s.base)
	maps.Copy(all, s.ours)
	maps.Copy(all, s.theirs)
	maps.Copy(all, now)
	done = map[string]bool{}
	for name := range all {
		want, ok := s.threeWay(m, name)
		isKept := slices.ContainsFunc(merged.Plan.Kept, func(k Kept) bool { return k.Path == name })
		switch {
		case isKept:
			s.countIf("obstructed", ok)
			s.count["kept"]++
			if now[name] != s.ours[name] {
				s.rt.Errorf("%q is kept, and changes to %v", name, now[name])
			}
			if ok && !s.isObstructed(name) {
				s.rt.Errorf("%q is kept: %v", name, merged.Plan.Kept)
			}
		case !ok:
			s.rt.Errorf("%q has a conflict, and is not kept: %v", name, now[name])
		case now[name] != want:
			s.rt.Errorf("%q is %v, want %v", name, now[name], want)
		case s.theirs[name] != s.base[name]:
			done[name] = true
			s.countIf("same", want == s.ours[name])
			s.countIf("applied", want == s.theirs[name])
		}
	}
	return done
}

// threeWay returns what a path becomes; false: it has a conflict, and is kept.
func (s *sides) threeWay(m *Merge, name string) (objects.Entry, bool) {
	base, ours, theirs := s.base[name], s.ours[name], s.theirs[name]
	switch {
	case theirs == base, ours == theirs:
		return ours, true
	case ours == base:
		return theirs, true
	}
	regular := func(e objects.Entry) bool { return e.Type() == objects.ModeFile }
	if !regular(ours) || !regular(theirs) || !regular(base) && !base.IsZero() {
		return ours, false
	}
	want := ours
	if want.Mode = base.Mode; ours.Mode != base.Mode {
		want.Mode = ours.Mode
	} else if theirs.Mode != base.Mode {
		want.Mode = theirs.Mode
	}
	if ours.Mode != base.Mode && theirs.Mode != base.Mode && ours.Mode != theirs.Mode {
		return ours, false
	}
	text, conflicts := s.mergeFile(base, ours, theirs)
	want.Hash, want.Size = objects.HashOf(text), int64(len(text))
	s.store[want.Hash] = text
	s.countIf("merged", !conflicts)
	s.countIf("marked", conflicts && m.Conflicts)
	return want, !conflicts || m.Conflicts
}

// mergeFile merges texts with the real git merge-file.
func (s *sides) mergeFile(base, ours, theirs objects.Entry) (text []byte, conflicts bool) {
	dir, err := os.MkdirTemp("", "texts-")
	must(s.t, err)
	defer os.RemoveAll(dir)
	args := []string{"merge-file", "-p", "-L", "yours", "-L", "before", "-L", "ada"}
	for i, e := range []objects.Entry{ours, base, theirs} {
		name := filepath.Join(dir, fmt.Sprint(i))
		must(s.t, os.WriteFile(name, s.store[e.Hash], 0o600))
		args = append(args, name)
	}
	cmd := exec.Command(programtest.Path(s.t, "git"), args...)
	cmd.Dir = dir
	text, err = cmd.Output()
	return text, err != nil
}

// isObstructed reports whether a path cannot have its result because of another one: one is a directory of the other
// on one side.
func (s *sides) isObstructed(name string) bool {
	for _, side := range []tree{s.ours, s.theirs} {
		for other := range side {
			if other != name && (isBelow(other, name) || isBelow(name, other)) {
				return true
			}
		}
	}
	return false
}

// checkBase checks that the base of the next merge has what is merged, and that it then changes nothing of that.
func (s *sides) checkBase(merged *Merged, result Result, done map[string]bool) {
	base, err := merged.BaseAfter(s.t.Context(), ulid.Make().String(), result)
	must(s.t, err)
	got, err := s.from.store.Files(base)
	must(s.t, err)
	want := maps.Clone(s.base)
	for name := range done {
		if delete(want, name); !s.theirs[name].IsZero() {
			want[name] = s.theirs[name]
		}
	}
	if diff := cmp.Diff(want, tree(got)); diff != "" {
		s.rt.Errorf("the next base, want, got:\n%s", diff)
	}
	again := *merged.m
	again.Base, again.Ours = base, merged.Target
	next, err := again.Plan(s.t.Context(), ulid.Make().String())
	must(s.t, err)
	for _, step := range slices.Concat(next.Plan.Removals, next.Plan.Writes) {
		if done[step.Path] {
			s.rt.Errorf("the next merge changes %q again", step.Path)
		}
	}
}

// checkUndone undoes the merge.
func (s *sides) checkUndone(now tree, o RestoreOptions) {
	plan := NewPlan([]Span{{Turn: &Turn{Name: "merge"}, Changes: changes(s.ours, now)}},
		PlanOptions{Times: TimesBelow(s.dir)})
	_, err := Restore(s.t.Context(), plan, o)
	must(s.t, err)
	if diff := cmp.Diff(s.ours, s.capture()); diff != "" {
		s.rt.Errorf("undone, want, got:\n%s", diff)
	}
}
