package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// A taker is an agent's program that goes on with what is exported for it.
type taker struct {
	place  func(t *testing.T, m agent.Member, dir string) string // where it looks for sessions of a directory
	resume func(id string) []string                              // its arguments
}

var takers = map[string]taker{
	"claude": {
		place: func(_ *testing.T, m agent.Member, dir string) string {
			return filepath.Join(m.Env["HOME"], ".claude", "projects", regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(dir, "-"))
		},
		resume: func(id string) []string { return []string{"-p", "what was it?", "--resume", id} },
	},
	"codex": {
		place: func(_ *testing.T, m agent.Member, _ string) string {
			return filepath.Join(m.Env["HOME"], ".codex", "sessions", "2026", "11", "21")
		},
		resume: func(id string) []string {
			return []string{"exec", "--skip-git-repo-check", "resume", id, "what was it?"}
		},
	},
	"gemini": {
		place: func(t *testing.T, m agent.Member, dir string) string { // it makes one for each directory
			alone(t, m, dir, "-p", "hello")
			places, _ := filepath.Glob(filepath.Join(m.Env["HOME"], ".gemini", "tmp", "*", "chats"))
			if len(places) != 1 {
				t.Fatalf("gemini keeps sessions in %q", places)
			}
			if err := os.RemoveAll(places[0]); err != nil {
				t.Fatal(err)
			}
			return places[0]
		},
		resume: func(string) []string { return []string{"-p", "what was it?", "--resume", "latest"} },
	},
}

func TestRealAgentsResumeExportedTranscripts(t *testing.T) {
	agenttest.SkipUnlessReal(t)
	const said = "the kettle is blue"
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", said)
	for _, real := range agenttest.Reals {
		takes, ok := takers[real.Name]
		if !ok {
			continue
		}
		t.Run(real.Name, func(t *testing.T) {
			t.Parallel()
			model, dir := agenttest.NewModel(t), t.TempDir()
			m := real.Member(t, dir, model.URL, newKey(3))
			place := takes.place(t, m, dir)
			do(t, home, exitDone, "sessions", "export", "latest", "--format", real.Name, "-o", place+"/")
			model.Instruct("say <<Blue.>>")
			if answer := alone(t, m, dir, takes.resume(exportedID(t, place))...); !strings.Contains(answer, "Blue.") {
				t.Errorf("it answers %q", answer)
			}
			if !model.Received(said) {
				t.Error("its model was not told what was said before")
			}
		})
	}
}

// alone runs the program of an agent as people do who do without us.
func alone(t *testing.T, m agent.Member, dir string, args ...string) (stdout string) {
	t.Helper()
	cmd := exec.Command(m.Command, slices.Concat(m.Args, args)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range m.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s%s", args, err, out, &stderr)
	}
	return string(out)
}

// exportedID is the id in the name of the only file in a directory.
func exportedID(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	name := strings.TrimSuffix(entries[0].Name(), ".jsonl")
	return name[max(0, len(name)-36):]
}
