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

// A resumer is an agent's program that resumes an exported transcript.
type resumer struct {
	// the directory of its sessions for a working directory
	place  func(t *testing.T, m agent.Member, dir string) string
	resume func(id string) []string // the arguments that resume a session
}

var resumers = map[string]resumer{
	"claude": {
		place: func(_ *testing.T, m agent.Member, dir string) string {
			return filepath.Join(m.Env["HOME"], ".claude", "projects",
				regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(dir, "-"))
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
		place: func(t *testing.T, m agent.Member, dir string) string { // it creates one for each working directory
			runAlone(t, m, dir, "-p", "hello")
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
		takes, ok := resumers[real.Name]
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
			if answer := runAlone(t, m, dir, takes.resume(exportedID(t, place))...); !strings.Contains(answer,
				"Blue.") {
				t.Errorf("the answer is %q", answer)
			}
			if !model.Received(said) {
				t.Error("the model did not get the earlier messages")
			}
		})
	}
}

// runAlone runs the program of an agent without agent-chatter.
func runAlone(t *testing.T, m agent.Member, dir string, args ...string) (stdout string) {
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

// exportedID returns the id in the name of the only file in a directory.
func exportedID(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	name := strings.TrimSuffix(entries[0].Name(), ".jsonl")
	return name[max(0, len(name)-36):]
}
