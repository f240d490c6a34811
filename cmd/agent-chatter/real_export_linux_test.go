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
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "the kettle is blue")
	testResumes(t, home, "the kettle is blue")
}

// importedThenExported is a transcript with all that an import keeps and another program
// has to accept: calls with and without results, a subagent, a picture, an interrupted
// reply, an error of the API, and the summary of earlier messages.
const importedThenExported = `{"type":"user","uuid":"a","sessionId":"s","timestamp":"2026-11-21T12:00:00Z","isCompactSummary":true,"message":{"role":"user","content":"They had a kettle."}}
{"type":"user","uuid":"b","parentUuid":"a","sessionId":"s","timestamp":"2026-11-21T12:00:01Z","message":{"role":"user","content":[{"type":"text","text":"the kettle is green"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGVsbG8gd29ybGQ="}}]}}
{"type":"assistant","uuid":"c","parentUuid":"b","timestamp":"2026-11-21T12:00:02Z","message":{"id":"m1","role":"assistant","model":"x","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/kettle"}}]}}
{"type":"user","uuid":"d","parentUuid":"c","timestamp":"2026-11-21T12:00:03Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"green it is"}]}}
{"type":"assistant","uuid":"e","parentUuid":"d","isSidechain":true,"timestamp":"2026-11-21T12:00:03Z","message":{"id":"m2","role":"assistant","content":[{"type":"tool_use","id":"t2","name":"Read","input":{}}]}}
{"type":"assistant","uuid":"f","parentUuid":"d","timestamp":"2026-11-21T12:00:04Z","message":{"id":"m3","role":"assistant","model":"x","content":[{"type":"text","text":"It is gr"}]},"isAbortedMidStream":true}
{"type":"user","uuid":"g","parentUuid":"f","timestamp":"2026-11-21T12:00:05Z","message":{"role":"user","content":"and?"}}
{"type":"assistant","uuid":"h","parentUuid":"g","timestamp":"2026-11-21T12:00:06Z","message":{"id":"m4","role":"assistant","content":[{"type":"text","text":"API Error: overloaded"}]},"isApiErrorMessage":true}
{"type":"user","uuid":"i","parentUuid":"h","timestamp":"2026-11-21T12:00:07Z","message":{"role":"user","content":"again"}}
{"type":"assistant","uuid":"j","parentUuid":"i","timestamp":"2026-11-21T12:00:08Z","message":{"id":"m5","role":"assistant","model":"x","content":[{"type":"tool_use","id":"t3","name":"Read","input":{}}]}}
`

func TestRealAgentsResumeExportsOfImports(t *testing.T) {
	home, path := t.TempDir(), filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(importedThenExported), 0o600); err != nil {
		t.Fatal(err)
	}
	do(t, home, exitDone, "sessions", "import", path)
	testResumes(t, home, "the kettle is green", "green it is", "They had a kettle.", "image/png, 11 bytes")
}

// testResumes exports the latest session of a home to each agent's program, and resumes it
// there. The model gets what was said.
func testResumes(t *testing.T, home string, said ...string) {
	agenttest.SkipUnlessReal(t)
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
			for _, text := range said {
				if !model.Received(text) {
					t.Errorf("the model did not get %q", text)
				}
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
