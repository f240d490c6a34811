//go:build !windows

package workspace_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

func (p *project) link(text, name string) {
	p.t.Helper()
	if err := os.Symlink(text, filepath.Join(p.dir, name)); err != nil {
		p.t.Fatal(err)
	}
}

// Links are their text, also those that lead out of the directory, in circles or nowhere. Nothing is read through them.
func TestLinks(t *testing.T) {
	p := newProject(t, true)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.write("d/secret", "mine")
	p.git("add", ".")
	p.link("nowhere", "dangling")
	p.link("loop", "loop")
	p.link(outside, "absolute")
	p.wantFiles(map[string]string{
		"d/secret": "mine", "dangling": "-> nowhere", "loop": "-> loop", "absolute": "-> " + outside,
	})
	// Git still lists d/secret, which is now outside.
	p.remove("d")
	p.link(outside, "d")
	p.wantFiles(map[string]string{
		"d": "-> " + outside, "dangling": "-> nowhere", "loop": "-> loop", "absolute": "-> " + outside,
	})
	// A link within the directory to a directory with the same inodes.
	p.remove("d")
	p.write("moved/secret", "mine")
	p.link("moved", "d")
	p.wantFiles(map[string]string{
		"d": "-> moved", "moved/secret": "mine", "dangling": "-> nowhere", "loop": "-> loop", "absolute": "-> " + outside,
	})
}

// Modes are kept whole, hard links are files, and what is neither a file nor a link is never opened.
func TestModesAndSpecialFiles(t *testing.T) {
	p := newProject(t, true)
	modes := map[string]os.FileMode{"private": 0o600, "readonly": 0o444, "program": 0o755, "setuid": 0o755 | os.ModeSetuid}
	for name, mode := range modes {
		p.write(name, name)
		if err := os.Chmod(filepath.Join(p.dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(p.dir, "private"), filepath.Join(p.dir, "hard")); err != nil {
		t.Fatal(err)
	}
	p.write("pipe", "a file at first")
	p.git("add", "-f", "pipe")
	p.remove("pipe")
	if err := syscall.Mkfifo(filepath.Join(p.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := p.wantFiles(map[string]string{
		"private": "private", "readonly": "readonly", "program": "program", "setuid": "setuid", "hard": "private",
		"pipe": "skipped: it is neither a file nor a link",
	})
	files, err := p.Store().Files(c.Tree)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]uint32{"private": 0o600, "readonly": 0o444, "program": 0o755, "setuid": 0o4755} {
		if got := files[name].Mode; got != objects.ModeFile|want {
			t.Errorf("%s has the mode %o, want %o", name, got, want)
		}
	}
	// A change of the mode alone is a change.
	if err := os.Chmod(filepath.Join(p.dir, "private"), 0o640); err != nil {
		t.Fatal(err)
	}
	if again := p.capture(); again.Tree == c.Tree {
		t.Error("a changed mode is not captured")
	}
}
