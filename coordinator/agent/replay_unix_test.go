//go:build unix

package agent_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

var update = flag.Bool("update", false, "write anew what the engines tell of recorded agents; never the recordings")

// recordedEngines are the engines that understand the recordings whose names begin so, and the
// agent type of their members.
var recordedEngines = []struct {
	prefix, agentType string
	engine            func() agent.Engine
}{
	{"acp-claude", "claude", func() agent.Engine { return unhurriedACP() }},
	{"acp-codex", "codex", func() agent.Engine { return unhurriedACP() }},
	{"acp-gemini", "gemini", func() agent.Engine { return unhurriedACP() }},
	{"acp-opencode", "opencode", func() agent.Engine { return unhurriedACP() }},
	{"claude", "claude", func() agent.Engine { return unhurried(agent.Claude()) }},
	{"codex", "codex", func() agent.Engine { return unhurried(agent.Codex()) }},
	{"gemini", "gemini", func() agent.Engine { return unhurried(agent.Gemini()) }},
}

// unhurried is the engine with all the time that a test has.
func unhurried(e agent.CLI) agent.CLI {
	e.Grace, e.Linger = 2*patience, 2*patience
	return e
}

func unhurriedACP() *agent.ACP { return &agent.ACP{Grace: 2 * patience} }

func TestRecordedAgentsAreUnderstood(t *testing.T) {
	for _, a := range recordedEngines {
		for _, s := range recordedScenes {
			file := filepath.Join(recordings, a.prefix+"-"+s.name+recordingEnds)
			if _, err := os.Stat(file); err != nil {
				continue
			}
			t.Run(a.prefix+"-"+s.name, func(t *testing.T) {
				got := heard(t, a.engine(), a.agentType, s, file)
				golden := strings.TrimSuffix(file, recordingEnds) + toldEnds
				if *update {
					if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatalf("%v; to write it, type: go test -run RecordedAgents -update", err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// heard is what an engine tells of a recorded turn, an event a line, what it asks leave for, and
// how the turn ends.
func heard(t *testing.T, e agent.Engine, agentType string, s scene, file string) string {
	t.Helper()
	file, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	door := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { cancel(errEnoughSaid) }))
	defer door.Close()
	turn := self(t, "played")
	turn.Member.ID, turn.Member.AgentType, turn.Prompt = "recorded", agentType, s.prompt
	turn.Member.Env[recordingFile], turn.Member.Env[playerDir], turn.Member.Env[playerDoor] = file, turn.Dir, door.URL
	var mu sync.Mutex
	var asked []string
	turn.Permit = func(_ context.Context, p agent.Permission) bool {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, fmt.Sprintf("asked for leave %s %s “%s” %s", p.ToolID, p.Tool, p.Title, p.Input))
		return !s.refuses
	}
	told, err := whole(ctx, e, turn)
	if lasting, ok := e.(agent.Resident); ok {
		lasting.Close()
	}
	end := "done"
	if err != nil {
		end = err.Error()
	}
	var out strings.Builder
	for _, line := range append(append(told, asked...), end) {
		if line != "" {
			out.WriteString(strings.ReplaceAll(line, "\n", `\n`) + "\n")
		}
	}
	return out.String()
}
