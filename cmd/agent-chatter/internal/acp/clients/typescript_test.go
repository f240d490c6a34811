package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/acp/acptest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

// limit is when a scenario counts as one that hangs.
const limit = 2 * time.Minute

// scenario runs a scenario of testdata/client.mjs, which are described there. It returns the scenario's result.
func (d desk) scenario(t *testing.T, name string, more map[string]any) (result map[string]string) {
	t.Helper()
	record := t.TempDir()
	settings := map[string]any{
		"program": d.program, "home": d.home, "dir": d.dir, "team": d.team, "record": record,
	}
	for name, value := range more {
		settings[name] = value
	}
	encoded, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	sdk := programtest.NodeModule(t, "@agentclientprotocol/sdk")
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	node := exec.CommandContext(ctx, "node", filepath.Join("testdata", "client.mjs"), sdk, name, string(encoded))
	node.Stderr = os.Stderr
	out, err := node.Output()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
	checkLines(t, record)
	return result
}

// checkLines checks the recorded lines of connections against the schema of the protocol.
func checkLines(t *testing.T, dir string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no connection was recorded: %v", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		recording, err := acptest.NewRecording()
		if err != nil {
			t.Fatal(err)
		}
		for encoded := range bytes.Lines(text) {
			var recorded struct {
				From acptest.Side
				Line string
			}
			if err := json.Unmarshal(encoded, &recorded); err != nil {
				t.Fatal(err)
			}
			if err := recording.Check(recorded.From, []byte(recorded.Line)); err != nil {
				t.Errorf("%v\n%s", err, recorded.Line)
			}
		}
	}
}

func TestTypeScriptClient(t *testing.T) {
	for _, name := range []string{
		"deny", "cancel", "cancelAsk", "kill", "fork", "held", "configuration", "resource",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.scenario(t, name, nil)
			d.run(t, "verify")
		})
	}
}

func TestTeamInEditorContinuesInTerminal(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id := d.scenario(t, "team", nil)["sessionId"]
	d.run(t, "verify")
	d.run(t, "chat", "--resume", id, "-m", "say and here [NEXT: critic]")
	var rows []struct{ ID string }
	if err := json.Unmarshal([]byte("["+d.run(t, "sessions", "--json")+"]"), &rows); err != nil || rows[0].ID != id {
		t.Errorf("sessions: %v, %v; want only %s", rows, err, id)
	}
}

func TestUntrustedTeamIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	text, err := os.ReadFile(d.team)
	if err != nil {
		t.Fatal(err)
	}
	untrusted := filepath.Join(d.dir, ".agent-chatter", "team-config", "other.json")
	if err := os.MkdirAll(filepath.Dir(untrusted), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(untrusted, text, 0o600); err != nil {
		t.Fatal(err)
	}
	d.scenario(t, "untrusted", map[string]any{"untrusted": "other"})
}

func TestListHasPages(t *testing.T) {
	t.Parallel()
	const many = 1_050
	d := newDesk(t)
	d.run(t, "chat", "-t", d.team, "-m", "say elsewhere [NEXT: critic]")
	ids, err := catalogtest.Sessions{Count: many}.Fill(filepath.Join(d.home, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(d.home, "sessions", "demo", ids[0]+".jsonl")); err != nil {
		t.Fatal(err)
	}
	d.scenario(t, "list", map[string]any{"listed": "/home/you/project", "sessions": many})
}
