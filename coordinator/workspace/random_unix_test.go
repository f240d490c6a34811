//go:build unix

package workspace

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

const unprivileged = 65534

// asUnprivileged runs a test again as an unprivileged user, in a directory of that user, if root runs it. It reports whether
// it did. A defect of a random test then cannot change what belongs to others.
func asUnprivileged(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return false
	}
	// A directory that every user reaches, unlike that of the test.
	home, err := os.MkdirTemp("", "unprivileged-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	must(t, os.Chmod(home, 0o755))
	program, err := os.ReadFile(os.Args[0])
	must(t, err)
	name := filepath.Join(home, "workspace.test")
	must(t, os.WriteFile(name, program, 0o755))
	temp := filepath.Join(home, "tmp")
	must(t, os.Mkdir(temp, 0o700))
	must(t, os.Chown(temp, unprivileged, unprivileged))
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v", fmt.Sprintf("-full=%t", sizetest.Full()),
		"-rapid.nofailfile"}
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = temp, append(os.Environ(), "TMPDIR="+temp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
	out, err := cmd.CombinedOutput()
	t.Logf("as user %d:\n%s", unprivileged, out)
	if err != nil {
		t.Error(err)
	}
	return true
}

// TestRandomRestores restores random directories after random changes. Without -full it tries 200 cases, else 10,000.
func TestRandomRestores(t *testing.T) {
	if asUnprivileged(t) {
		return
	}
	cases := 200
	if sizetest.Full() {
		cases = 10_000
	}
	total := map[string]int{}
	for done := 0; done < cases; {
		propertytest.Check(t, func(rt *rapid.T) {
			done++
			w := newWorld(t, rt)
			defer w.close()
			w.live()
			w.restore()
			for what, n := range w.count {
				total[what] += n
			}
		})
	}
	t.Logf("%v", total)
	for _, what := range []string{"crashed", "saved", "forced", "kept", "written", "removed", "undone", "partial", "kept for Git"} {
		if total[what] == 0 {
			t.Errorf("no case in which something was %s", what)
		}
	}
}

// A world is a directory in which turns and a person change files. Everything they do goes through a Root, so that no
// link leads them out of it.
type world struct {
	t       *testing.T
	rt      *rapid.T
	dir     string
	outside string // a file that links lead to
	root    *os.Root
	store   contents
	history []Span
	states  []tree // at the ends of the spans, beginning with the first
	partial bool   // of the files that Git has, captures have no contents unless earlier ones did
	views   []tree // the captures: states, except in a partial world
	git     tree   // that Git has
	held    map[string]bool
	saves   int // contents so far
	count   map[string]int
}

func newWorld(t *testing.T, rt *rapid.T) *world {
	temp, err := os.MkdirTemp("", "world-")
	must(t, err)
	w := &world{t: t, rt: rt, store: contents{}, count: map[string]int{}}
	w.dir, w.outside = filepath.Join(temp, "root"), filepath.Join(temp, "outside")
	must(t, os.Mkdir(w.dir, 0o755))
	must(t, os.WriteFile(w.outside, []byte("outside"), 0o644))
	w.root, err = os.OpenRoot(w.dir)
	must(t, err)
	w.change(8)
	w.partial, w.git, w.held = w.int(4) == 0, w.capture(), map[string]bool{}
	if w.partial {
		w.change(8) // not committed
	}
	w.states = []tree{w.capture()}
	w.countIf("partial", w.partial)
	w.views = []tree{w.view(w.present())}
	return w
}

// view returns what a capture of a tree has.
func (w *world) view(all tree) tree {
	if !w.partial {
		return all
	}
	seen := tree{}
	for name, e := range all {
		if e == w.git[name] && !w.held[name] {
			seen[name] = objects.GitEntry(fmt.Sprintf("%o", e.Mode), e.Hash.String())
			continue
		}
		seen[name], w.held[name] = e, true
	}
	return seen
}

func (w *world) close() {
	content, err := os.ReadFile(w.outside)
	if err != nil || string(content) != "outside" {
		w.rt.Errorf("the file outside has %q, %v", content, err)
	}
	w.root.Close()
	os.RemoveAll(filepath.Dir(w.dir))
}

func (w *world) capture() tree   { return w.store.capture(w.t, w.dir) }
func (w *world) target() tree    { return w.states[0] }
func (w *world) present() tree   { return w.states[len(w.states)-1] }
func (w *world) chance() bool    { return rapid.Bool().Draw(w.rt, "chance") }
func (w *world) int(n int) int   { return rapid.IntRange(0, n-1).Draw(w.rt, "n") }
func (w *world) name() string    { return rapid.SampledFrom(names).Draw(w.rt, "name") }
func (w *world) content() string { w.saves++; return fmt.Sprintf("content %d", w.saves) }

// names are few, so that files, links and directories often have the same one.
var names = []string{
	"a", "b", "c", "a/x", "a/y", "a/b/x", "a/b/c/x", "a/x/y", "b/x", "b/y/z", "c/c/c", "-x", ":x", "line\nend", "A",
	"a b/ö",
}

// live makes a history of one to three turns, and in a third of the cases changes of a person around them.
func (w *world) live() {
	for i := range 1 + w.int(3) {
		if w.int(3) == 0 {
			w.span(nil)
		}
		w.span(&Turn{Name: fmt.Sprintf("turn %d", i+1), Shared: w.int(8) == 0, Late: w.int(12) == 0})
	}
	if w.int(3) == 0 {
		w.span(nil)
	}
}

// span makes random changes, whose author is a turn, or a person.
func (w *world) span(turn *Turn) {
	if turn != nil {
		turn.Started = time.Now()
	}
	w.change(6)
	if turn != nil {
		turn.Ended = time.Now()
	}
	if w.partial && w.chance() { // it commits
		w.git = w.capture()
	}
	if w.int(4) == 0 { // too many files are held
		w.held = map[string]bool{}
	}
	before := w.views[len(w.views)-1]
	w.states = append(w.states, w.capture())
	w.views = append(w.views, w.view(w.present()))
	w.history = append(w.history, Span{Turn: turn, Changes: changes(before, w.views[len(w.views)-1])})
}

// change makes n/2 to n random changes. Those that are impossible do nothing.
func (w *world) change(n int) {
	modes := []os.FileMode{0o644, 0o600, 0o444, 0o755, 0o755 | os.ModeSetuid}
	for range n/2 + w.int(n/2+1) {
		name := w.name()
		switch w.int(8) {
		case 0, 1, 2:
			w.save(name, w.content())
		case 3:
			w.root.RemoveAll(name)
		case 4:
			w.root.RemoveAll(name)
			w.save(name, w.content())
		case 5:
			w.root.RemoveAll(name)
			w.root.MkdirAll(path.Dir(name), 0o755)
			w.root.Symlink(rapid.SampledFrom([]string{"a", "..", "../b", "missing", w.outside, path.Base(name)}).
				Draw(w.rt, "link"), name)
		case 6:
			if info, err := w.root.Lstat(name); err == nil && info.Mode().IsRegular() {
				w.root.Chmod(name, rapid.SampledFrom(modes).Draw(w.rt, "mode"))
			}
		case 7:
			w.root.Rename(name, w.name())
		}
	}
}

// save writes a file, in place or through another one.
func (w *world) save(name, content string) bool {
	w.root.MkdirAll(path.Dir(name), 0o755)
	if w.chance() {
		return w.root.WriteFile(name, []byte(content), 0o644) == nil
	}
	if w.root.WriteFile("saving~", []byte(content), 0o644) != nil {
		return false
	}
	if w.root.Rename("saving~", name) != nil {
		w.root.Remove("saving~")
		return false
	}
	return true
}

// restore sets the directory back to its first state in one of several ways, and checks it.
func (w *world) restore() {
	o := RestoreOptions{ID: restoreID, Root: w.dir, Read: w.store.read, noExchange: w.int(4) == 0}
	force := w.int(4) == 0
	w.countIf("forced", force)
	plan := w.plan(force)
	if !force {
		w.checkAuthors(plan)
	}
	switch way := w.int(3); {
	case way == 0:
		w.checkSaves(plan, o)
		return
	case way == 1 && !w.partial:
		n := w.int(4*len(plan.Removals) + 4*len(plan.Writes) + 4)
		w.countIf("crashed", crashing(w.t, plan, o, n, func() {}))
		w.recover()
		w.after(SplitRestore(&Turn{Name: "restore"}, changes(w.present(), w.capture()), w.targetOf)...)
		plan = w.plan(force)
	}
	w.checkRestore(plan, o)
	w.checkUndo(o)
}

// checkAuthors checks that a plan has no path that a person has changed since the target, also while Git had it.
func (w *world) checkAuthors(plan Plan) {
	for i, span := range w.history {
		if span.Turn != nil {
			continue
		}
		for _, c := range changes(w.states[i], w.states[i+1]) {
			isIt := func(s Step) bool { return s.Path == c.Path }
			if slices.ContainsFunc(slices.Concat(plan.Removals, plan.Writes), isIt) {
				w.rt.Errorf("a person changed %q: planned %s", c.Path, describe(plan))
			}
		}
	}
}

func (w *world) countIf(what string, happened bool) {
	if happened {
		w.count[what]++
	}
}

func (w *world) targetOf(name string) objects.Entry { return w.target()[name] }

func (w *world) plan(force bool) Plan {
	return NewPlan(w.history, PlanOptions{Times: TimesBelow(w.dir), Force: force})
}

// after appends spans that end now.
func (w *world) after(spans ...Span) {
	w.history = append(w.history, spans...)
	w.states = append(w.states, w.capture())
}

// recover recovers from a crash, and checks that each path is old or new.
func (w *world) recover() {
	left, err := Recover(w.dir, restoreID, changes(w.present(), w.target()))
	must(w.t, err)
	if names := leftovers(w.t, w.dir); left != nil || names != nil {
		w.rt.Errorf("left %v, files %q", left, names)
	}
	got := w.capture()
	for _, c := range changes(w.present(), got) {
		if c.After != w.target()[c.Path] {
			w.rt.Errorf("%q is %v after a crash", c.Path, c.After)
		}
	}
}

// checkRestore executes a plan, and checks that it sets its paths to the target and leaves the others, and that it
// plans what only turns have changed.
func (w *world) checkRestore(plan Plan, o RestoreOptions) {
	got, err := Restore(w.t.Context(), plan, o)
	must(w.t, err)
	if len(got.Kept)+len(got.Failed) > 0 {
		w.rt.Errorf("planned %s\nkept %v, failed %v", describe(plan), got.Kept, got.Failed)
	}
	want := maps.Clone(w.present())
	for _, step := range slices.Concat(plan.Removals, plan.Writes) {
		if want[step.Path] = step.Target; step.Target.IsZero() {
			delete(want, step.Path)
		}
	}
	now := w.capture()
	if diff := cmp.Diff(want, now); diff != "" {
		w.rt.Errorf("planned %s\nwant, got:\n%s", describe(plan), diff)
	}
	if names := leftovers(w.t, w.dir); names != nil {
		w.rt.Errorf("files %q", names)
	}
	for _, kept := range plan.Kept {
		obstructed := strings.HasPrefix(kept.Why, "it is a directory with ") || strings.HasPrefix(kept.Why, "its parent ")
		ofGit := w.wasInGit(kept.Path)
		w.countIf("kept for Git", ofGit)
		if w.onlyTurnsChanged(kept.Path) && !obstructed && !ofGit {
			w.rt.Errorf("%q is kept: %s", kept.Path, kept.Why)
		}
	}
	if w.onlyTurns() && !w.partial {
		if diff := cmp.Diff(w.target(), now); diff != "" {
			w.rt.Errorf("only turns changed files: want, got:\n%s", diff)
		}
	}
	w.count["kept"] += len(plan.Kept)
	w.count["written"] += len(got.Written)
	w.count["removed"] += len(got.Removed)
}

// onlyTurnsChanged reports whether turns alone are known to be the authors of all changes of a path.
func (w *world) onlyTurnsChanged(name string) bool {
	for _, span := range w.history {
		known := span.Turn != nil && !span.Turn.Late && !span.Turn.Shared
		if !known && slices.ContainsFunc(span.Changes, func(c objects.Change) bool { return c.Path == name }) {
			return false
		}
	}
	return true
}

// wasInGit reports whether a path was not captured at a time since Git had it.
func (w *world) wasInGit(name string) bool {
	return slices.ContainsFunc(w.views, func(seen tree) bool { return seen[name].Type() == objects.ModeInGit })
}

func (w *world) onlyTurns() bool {
	return !slices.ContainsFunc(w.history, func(s Span) bool {
		return len(s.Changes) > 0 && (s.Turn == nil || s.Turn.Late || s.Turn.Shared)
	})
}

// checkUndo undoes the restore, and checks that the directory is as it was before.
func (w *world) checkUndo(o RestoreOptions) {
	restored := w.capture()
	history := []Span{{Turn: &Turn{Name: "restore"}, Changes: changes(w.present(), restored)}}
	plan := NewPlan(history, PlanOptions{Times: TimesBelow(w.dir)})
	got, err := Restore(w.t.Context(), plan, o)
	must(w.t, err)
	if diff := cmp.Diff(w.present(), w.capture()); diff != "" {
		w.rt.Errorf("undone by %s, %+v:\n%s", describe(plan), got, diff)
	}
	w.count["undone"] += len(plan.Removals) + len(plan.Writes)
}

// checkSaves executes a plan while a person saves files, and checks that each content is still there.
func (w *world) checkSaves(plan Plan, o RestoreOptions) {
	steps := slices.Concat(plan.Removals, plan.Writes)
	if len(steps) == 0 {
		return
	}
	saved := map[string]string{} // by the path without links: a later save replaces an earlier one
	next := w.int(4)
	o.before = func(string) {
		if next--; next >= 0 {
			return
		}
		next = w.int(6)
		name := rapid.SampledFrom(steps).Draw(w.rt, "step").Path
		if content := w.content(); w.save(name, content) {
			file, err := filepath.EvalSymlinks(filepath.Join(w.dir, name))
			must(w.t, err)
			saved[file] = content
		}
	}
	got, err := Restore(w.t.Context(), plan, o)
	must(w.t, err)
	for name, content := range saved {
		if !savedIn(w.t, w.dir, content) {
			w.rt.Errorf("%q of %q is lost: planned %s\n%+v", content, name, describe(plan), got)
		}
	}
	w.count["saved"] += len(saved)
}
