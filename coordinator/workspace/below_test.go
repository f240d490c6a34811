package workspace_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
)

// A directory of a work tree has the files that Git lists there for the whole one, and shares its turns.
func TestBelow(t *testing.T) {
	p := newProject(t, true)
	p.write(".gitignore", "*.env\n")
	p.write("outside", "1")
	p.write("d/e/a", "1")
	p.write("d/e/tracked.env", "1")
	p.git("add", "-f", ".")
	p.write("d/e/secret.env", "1")
	if _, err := p.Below(filepath.Dir(p.dir)); err == nil {
		t.Error("a directory outside was accepted")
	}
	if _, err := p.Below(p.dir); err == nil {
		t.Error("the directory itself was accepted")
	}
	w, err := p.Below(filepath.Join(p.dir, "d"))
	if err != nil {
		t.Fatal(err)
	}
	captured, err := w.Capture(t.Context(), "01KAHV8MPR0000000000000001", nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := workspace.OpenRoot(p.home, w.Root())
	if err != nil {
		t.Fatal(err)
	}
	again.Limits = w.Limits
	if same, err := again.Capture(t.Context(), "01KAHV8MPR0000000000000002", nil); err != nil || same.Tree != captured.Tree {
		t.Errorf("opened again it is captured as %s, want %s: %v", same.Tree, captured.Tree, err)
	}
	got, err := w.Store().Files(captured.Tree)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range got {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"e/a", "e/tracked.env"}, names); diff != "" {
		t.Error(diff)
	}
	checkShared(t, p.Workspace, again)
	checkShared(t, again, p.Workspace)
}

// checkShared checks that a turn in one directory overlaps one in the other, until it has ended.
func checkShared(t *testing.T, a, b *workspace.Workspace) {
	t.Helper()
	first, err := a.Begin(context.Background(), "first")
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Begin(context.Background(), "second")
	if err != nil {
		t.Fatal(err)
	}
	for r, want := range map[*workspace.Running]string{first: "second", second: "first"} {
		with, err := r.With()
		if err != nil || !slices.Equal(with, []string{want}) {
			t.Errorf("the other turns are %q, %v, want %s", with, err, want)
		}
		if err := r.End(); err != nil {
			t.Error(err)
		}
	}
	alone, err := b.Begin(context.Background(), "alone")
	if err != nil {
		t.Fatal(err)
	}
	if with, err := alone.With(); err != nil || len(with) > 0 {
		t.Errorf("after their ends, the other turns are %q, %v", with, err)
	}
	if err := alone.End(); err != nil {
		t.Error(err)
	}
}
