package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/cli"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

// TestMain makes this test binary run as agent-chatter, and as the agent of package agenttest.
func TestMain(m *testing.M) {
	agenttest.Play()
	testscript.Main(m, map[string]func(){"agent-chatter": cli.Main})
}

// A desk is a home and a directory with a trusted team, in which a client runs the program.
type desk struct{ program, home, dir, team string }

func newDesk(t *testing.T) desk {
	t.Helper()
	sizetest.SkipUnlessFull(t, "starts many programs")
	programtest.Path(t, "node")
	program, err := exec.LookPath("agent-chatter")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := desk{program, filepath.Join(root, "home"), filepath.Join(root, "work"), filepath.Join(root, "work", "team.json")}
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d.writeTeam(t)
	d.run(t, "team", "trust", d.team)
	return d
}

// writeTeam writes a team of three members, which run the agent of package agenttest. Two act a scene; the last follows
// instructions.
func (d desk) writeTeam(t *testing.T) {
	t.Helper()
	var team map[string]any
	readJSON(t, filepath.Join("testdata", "team.json"), &team)
	fake := agenttest.Member()
	team["agents"] = []any{map[string]any{"name": "fake", "command": fake.Command}}
	for _, m := range team["team"].(map[string]any)["members"].([]any) {
		member := m.(map[string]any)
		if member["type"] != "ai" {
			continue
		}
		env := map[string]string{}
		for name, value := range fake.Env {
			env[name] = value
		}
		scene, err := filepath.Abs(filepath.Join("testdata", member["name"].(string)+".scene"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(scene); err == nil {
			env["AGENT_TEST_SCENE"] = scene
		}
		member["env"] = env
	}
	text, err := json.MarshalIndent(team, "", "  ")
	if err == nil {
		err = os.WriteFile(d.team, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readJSON(t *testing.T, path string, value any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, value)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a command of the program and returns its output.
func (d desk) run(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(d.program, append([]string{"--home", d.home}, args...)...)
	cmd.Dir, cmd.Stderr = d.dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}
