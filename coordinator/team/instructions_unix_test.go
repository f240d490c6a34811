//go:build unix

package team_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// A test that blocks here fails when the whole run times out.
func TestInstructionsThatAreNoFileAreRefused(t *testing.T) {
	for kind, create := range map[string]func(name string) error{
		"named pipe": func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"device":     func(name string) error { return os.Symlink("/dev/zero", name) },
		"directory":  func(name string) error { return os.Mkdir(name, 0o700) },
	} {
		t.Run(kind, func(t *testing.T) {
			loaded, dir, _, _ := clone(t)
			at := filepath.Join(dir, "work/AGENTS.md")
			if err := create(at); err != nil {
				t.Fatal(err)
			}
			crew := loaded()
			crew.ReadElsewhere = true // does not help
			_, err := instructions(crew)
			checkKind(t, err, at, kind)
		})
	}
}

func TestConfigurationThatIsNoFileIsRefused(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "crew.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := team.Load(pipe, t.TempDir())
	checkKind(t, err, pipe, "named pipe")
	_, err = team.Load("/dev/zero", t.TempDir())
	checkKind(t, err, "/dev/zero", "device")

	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "agents"), 0o700); err != nil {
		t.Fatal(err)
	}
	registry := filepath.Join(home, "agents", "config.json")
	if err := syscall.Mkfifo(registry, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = team.RegisteredAgents(home)
	checkKind(t, err, registry, "named pipe")

	trust := filepath.Join(home, "trust.json")
	if err := syscall.Mkfifo(trust, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = team.ReadTrust(home)
	checkKind(t, err, trust, "named pipe")
}

func checkKind(t *testing.T, err error, path, kind string) {
	t.Helper()
	var refused *regularfile.KindError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), kind) {
		t.Errorf("%v, want an error that names %s and %s", err, path, kind)
	}
}
