package team_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/schemas"
)

func registryFile(home string) string { return filepath.Join(home, "agents", "config.json") }

func TestRegistryReturnsRegisteredAgents(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	at := time.Date(2026, 11, 21, 9, 0, 0, 123e6, time.UTC)
	loud := team.Agent{Name: "loud", DisplayName: "Loud", Command: "awk", Args: []string{"{print}"}, UsePty: true,
		Version: "1.2", InstalledAt: at, LastVerified: at.Add(time.Hour)}
	quiet := team.Agent{Name: "quiet", Command: "/bin/true"}
	for _, a := range []team.Agent{quiet, loud} {
		if err := team.Register(context.Background(), home, a); err != nil {
			t.Fatal(err)
		}
	}
	quiet.DisplayName, quiet.Args = "quiet", []string{}
	agents, err := team.RegisteredAgents(home)
	if err != nil {
		t.Fatal(err)
	}
	checkEqual(t, "the agents", agents, []team.Agent{loud, quiet})

	content, err := os.ReadFile(registryFile(home))
	if err != nil {
		t.Fatal(err)
	}
	if err := schemas.Check(schemas.AgentRegistry, content); err != nil {
		t.Error(err)
	}
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{registryFile(home): 0o600, filepath.Join(home, "agents"): 0o700,
			home: 0o700} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
			}
		}
	}

	loud.Command = "tr"
	if err := team.Register(context.Background(), home, loud); err != nil {
		t.Fatal(err)
	}
	if err := team.Unregister(context.Background(), home, "quiet"); err != nil {
		t.Fatal(err)
	}
	agents, err = team.RegisteredAgents(home)
	if err != nil {
		t.Fatal(err)
	}
	checkEqual(t, "the agents", agents, []team.Agent{loud})
	if got, err := team.RegisteredAgent(home, "loud"); err != nil {
		t.Error(err)
	} else {
		checkEqual(t, "the agent", got, loud)
	}
	if _, err := team.RegisteredAgent(home, "quiet"); !errors.Is(err, team.ErrAgentNotFound) {
		t.Errorf("an unregistered agent: %v", err)
	}
	if err := team.Unregister(context.Background(), home, "quiet"); !errors.Is(err, team.ErrAgentNotFound) {
		t.Errorf("an unregistered agent: %v", err)
	}
}

func TestInvalidRegistryIsNotOverwritten(t *testing.T) {
	for name, content := range map[string]string{
		"no JSON":         "this is no JSON",
		"a newer version": `{"schemaVersion": "1.10", "agents": {}}`,
		"a wrong field":   `{"schemaVersion": "1.1", "agents": {"a": {"name": "a"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if err := os.MkdirAll(filepath.Dir(registryFile(home)), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(registryFile(home), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			err := team.Register(context.Background(), home, team.Agent{Name: "b", Command: "b"})
			if err == nil || !strings.HasPrefix(err.Error(), "agent registry "+registryFile(home)) {
				t.Errorf("Register returned %v", err)
			}
			if a, err := team.RegisteredAgent(home, "b"); err == nil || errors.Is(err, team.ErrAgentNotFound) {
				t.Errorf("RegisteredAgent returned %v, %v", a, err)
			}
			if got, err := os.ReadFile(registryFile(home)); err != nil || string(got) != content {
				t.Errorf("the file is %q, %v", got, err)
			}
		})
	}
}

func TestInvalidAgentIsNotRegistered(t *testing.T) {
	home := t.TempDir()
	var invalid *schemas.InvalidError
	if err := team.Register(context.Background(), home, team.Agent{Name: "b"}); !errors.As(err, &invalid) {
		t.Errorf("an agent without a command: %v", err)
	}
	if _, err := os.Stat(registryFile(home)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the registry exists: %v", err)
	}
}

func TestRegisterEndsWithItsContext(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "agents"), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := vfs.LockFile(vfs.OS, registryFile(home)+".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := team.Register(ctx, home, team.Agent{Name: "b", Command: "b"}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(registryFile(home)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the registry exists: %v", err)
	}
}

func TestRegisterGivesUpALockedRegistry(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "agents"), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := vfs.LockFile(vfs.OS, registryFile(home)+".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := team.Register(t.Context(), home, team.Agent{Name: "b", Command: "b"})
		if took := time.Since(began); !errors.Is(err, journal.ErrLocked) || took != 2*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

func TestRegisterNeedsALockFile(t *testing.T) {
	home := t.TempDir()
	place(t, registryFile(home)+".lock", "in a directory", "")
	if err := team.Register(t.Context(), home, team.Agent{Name: "b", Command: "b"}); err == nil {
		t.Error("an agent was registered without a lock")
	}
}

func TestRegisterNeedsADirectory(t *testing.T) {
	home := place(t, t.TempDir(), "home", "")
	if err := team.Register(t.Context(), home, team.Agent{Name: "b", Command: "b"}); err == nil {
		t.Error("an agent was registered in a file")
	}
}

func TestConcurrentRegisterLosesNothing(t *testing.T) {
	home := t.TempDir()
	const each = 5
	var all sync.WaitGroup
	for who := range 4 {
		all.Go(func() {
			for i := range each {
				if err := team.Register(context.Background(), home,
					team.Agent{Name: fmt.Sprintf("%d-%d", who, i), Command: "x"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	agents, err := team.RegisteredAgents(home)
	if err != nil || len(agents) != 4*each {
		t.Errorf("%d agents, %v", len(agents), err)
	}
}
