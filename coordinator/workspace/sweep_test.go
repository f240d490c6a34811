package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// Trees that journals name stay, those of another machine keep nothing, and what is no store stops nothing.
func TestSweep(t *testing.T) {
	p := newProject(t, false)
	p.write("a", "kept")
	kept := p.capture().Tree
	p.write("a", "gone")
	gone := p.capture().Tree
	stores := filepath.Join(p.home, "files")
	if err := os.WriteFile(filepath.Join(stores, ".DS_Store"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(stores, "0123456789abcdef.removed"), 0o700); err != nil {
		t.Fatal(err)
	}
	sweep := func(roots ...objects.Hash) int64 {
		t.Helper()
		freed, err := workspace.Sweep(p.home, func() (map[string][]objects.Hash, error) {
			return map[string][]objects.Hash{p.Root(): roots}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return freed
	}
	elsewhere := objects.HashOf([]byte("a tree of another machine"))
	if freed := sweep(kept, gone, elsewhere); freed != 0 {
		t.Errorf("%d bytes that are needed were removed", freed)
	}
	sweep(kept, elsewhere)
	p.open()
	if got := p.files(kept)["a"]; got != "kept" {
		t.Errorf("the file contains %q", got)
	}
	if _, err := p.Store().Files(gone); err == nil {
		t.Error("a tree that nothing names is still there")
	}
	if freed := sweep(); freed == 0 {
		t.Error("nothing was removed")
	}
	left, err := os.ReadDir(stores)
	if err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// A capture that takes place while the journals are read is kept, also if it names what was stored long before.
func TestCaptureDuringASweep(t *testing.T) {
	p := newProject(t, false)
	p.write("a", "old")
	p.capture()
	p.write("a", "new")
	kept := []objects.Hash{p.capture().Tree}
	calls := 0
	_, err := workspace.Sweep(p.home, func() (map[string][]objects.Hash, error) {
		if calls++; calls == 1 { // no lock is held
			named := map[string][]objects.Hash{p.Root(): slices.Clone(kept)}
			p.write("a", "old")
			p.write("b", "added")
			kept = append(kept, p.capture().Tree)
			return named, nil
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if _, err := p.Begin(ctx, "turn"); !errors.Is(err, context.Canceled) {
			t.Errorf("a turn begins while its store is swept: %v", err)
		}
		return map[string][]objects.Hash{p.Root(): kept}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p.open()
	for i, want := range []string{"new", "old"} {
		if got := p.files(kept[i])["a"]; got != want {
			t.Errorf("the file contains %q, want %q", got, want)
		}
	}
}

// A sweep that cannot be sure what is needed removes nothing.
func TestSweepWithoutRoots(t *testing.T) {
	for failing := 1; failing <= 2; failing++ {
		p := newProject(t, false)
		p.write("a", "kept")
		kept := p.capture().Tree
		calls, unlucky := 0, errors.New("unlucky")
		_, err := workspace.Sweep(p.home, func() (map[string][]objects.Hash, error) {
			if calls++; calls == failing {
				return nil, unlucky
			}
			return nil, nil
		})
		if !errors.Is(err, unlucky) {
			t.Errorf("got %v", err)
		}
		if got := p.files(kept)["a"]; got != "kept" {
			t.Errorf("the file contains %q", got)
		}
	}
}
