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

var update = flag.Bool("update", false, "update the expected events of recorded agents, not the recordings")

// recordedEngines are the engines and agent types of the recordings, by prefix of their names.
var recordedEngines = []struct {
	prefix, agentType string
	engine            func() agent.Engine
}{
	{"acp-claude", "claude", func() agent.Engine { return gracefulACP() }},
	{"acp-codex", "codex", func() agent.Engine { return gracefulACP() }},
	{"acp-gemini", "gemini", func() agent.Engine { return gracefulACP() }},
	{"acp-opencode", "opencode", func() agent.Engine { return gracefulACP() }},
	{"claude", "claude", func() agent.Engine { return claude }},
	{"codex", "codex", func() agent.Engine { return patientCodex }},
}

func gracefulACP() *agent.ACP { return &agent.ACP{Grace: never, Start: never} }

func TestRecordedAgents(t *testing.T) {
	for _, a := range recordedEngines {
		for _, s := range recordedScenes {
			file := filepath.Join(recordings, a.prefix+"-"+s.name+recordingSuffix)
			if _, err := os.Stat(file); err != nil {
				continue
			}
			t.Run(a.prefix+"-"+s.name, func(t *testing.T) {
				got := playRecording(t, a.engine(), a.agentType, s, file)
				golden := strings.TrimSuffix(file, recordingSuffix) + goldenSuffix
				if *update {
					if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatalf("%v; write it with: go test -run RecordedAgents -update", err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// playRecording returns the events of a recorded turn, one in each line, the requests for permission,
// and the turn's error.
func playRecording(t *testing.T, e agent.Engine, agentType string, s scene, file string) string {
	t.Helper()
	file, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	handler := func(http.ResponseWriter, *http.Request) { cancel(errCancelled) }
	cancelServer := httptest.NewServer(http.HandlerFunc(handler))
	defer cancelServer.Close()
	turn := self(t, "playback")
	turn.Member.ID, turn.Member.AgentType, turn.Prompt = "recorded", agentType, s.prompt
	if _, overACP := e.(*agent.ACP); overACP && !s.asks {
		turn.Member.Permissions = agent.Allow
	}
	if _, isCodex := e.(agent.Codex); isCodex {
		turn.Member.Permissions, turn.Member.Model = agent.Bypass, "gpt-5.5"
		if s.asks {
			turn.Member.Permissions = agent.Ask
		}
	}
	if _, isClaude := e.(agent.Claude); isClaude && s.asks {
		turn.Member.Permissions = agent.Ask
	}
	turn.Member.Env[recordingFile], turn.Member.Env[playbackDir] = file, turn.Dir
	turn.Member.Env[cancelURL] = cancelServer.URL
	var mu sync.Mutex
	var requested []string
	turn.Permit = func(_ context.Context, p agent.Permission) agent.Grant {
		mu.Lock()
		defer mu.Unlock()
		line := fmt.Sprintf("permission requested: %s %s “%s” %s", p.ToolID, p.Tool, p.Title, p.Input)
		requested = append(requested, line)
		if s.refuses {
			return agent.Refused
		}
		return agent.AllowedOnce
	}
	got, err := allEvents(ctx, e, turn)
	if resident, ok := e.(agent.Resident); ok {
		resident.Close()
	}
	end := "done"
	if err != nil {
		end = err.Error()
	}
	var out strings.Builder
	for _, line := range append(append(got, requested...), end) {
		if line != "" {
			out.WriteString(strings.ReplaceAll(line, "\n", `\n`) + "\n")
		}
	}
	return out.String()
}
