package agent_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// unsupported are the settings that a turn reports as without effect.
func unsupported(t *testing.T, e agent.Engine, turn agent.Turn) (settings []string, text string) {
	t.Helper()
	for event, err := range e.Run(within(t), turn) {
		if err != nil {
			t.Fatal(err)
		}
		switch event := event.(type) {
		case agent.Unsupported:
			settings = append(settings, event.Setting)
		case agent.Text:
			text += event.Text
		}
	}
	return settings, text
}

func TestACPThinking(t *testing.T) {
	on, off := true, false
	for _, tt := range []struct {
		thinking *bool
		habits   []agenttest.Habit
		level    string
		reported bool
	}{
		{nil, nil, "-", false},
		{&on, nil, "-", true},
		{&off, []agenttest.Habit{agenttest.ModelOption}, "-", true},
		{&off, []agenttest.Habit{agenttest.ThoughtOption}, "none", false},
		{&on, []agenttest.Habit{agenttest.ThoughtOption}, "low", false},
	} {
		turn := acpTurn(t, "where", tt.habits...)
		turn.Member.Thinking = tt.thinking
		settings, text := unsupported(t, newACP(t), turn)
		if got := strings.Fields(text + " -")[3]; got != tt.level || slices.Equal(settings, []string{"thinking"}) != tt.reported {
			t.Errorf("%v, %v: level %q, reported %q", tt.thinking, tt.habits, got, settings)
		}
	}
}

func TestOpenAIThinking(t *testing.T) {
	for thinking, effort := range map[bool]string{true: `"reasoning_effort":"medium"`, false: `"reasoning_effort":"none"`} {
		for _, known := range []bool{true, false} {
			var bodies []string
			turn := apiTurn(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if bodies = append(bodies, string(body)); !known && strings.Contains(string(body), "reasoning_effort") {
					refuseWith(400, "", "unknown option: reasoning_effort")(w, r)
					return
				}
				sendChunks(chunkHi, chunkStop)(w, r)
			})
			turn.Member.Thinking = &thinking
			settings, text := unsupported(t, impatient, turn)
			if !strings.Contains(bodies[0], effort) || text != "hi" || (len(settings) == 0) != known {
				t.Errorf("thinking %v, known %v: %q, reported %q", thinking, known, bodies, settings)
			}
		}
	}
}
