//go:build unix

package agent_test

import (
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

func TestCLIThinking(t *testing.T) {
	const report = `printf '%s\n' '{"type":"assistant","message":{"content":[{"type":"text","text":"'$MAX_THINKING_TOKENS'"}]}}' ` +
		`'{"type":"result","subtype":"success"}'`
	on, off := true, false
	for _, tt := range []struct {
		thinking *bool
		env      map[string]string
		want     string
	}{
		{&on, nil, "31999"}, {&off, nil, "0"}, {&on, map[string]string{"MAX_THINKING_TOKENS": "5000"}, "5000"},
	} {
		turn := scriptedCLI(t, report)
		turn.Member.Thinking = tt.thinking
		for name, value := range tt.env {
			turn.Member.Env[name] = value
		}
		if settings, text := unsupported(t, claude, turn); text != tt.want || settings != nil {
			t.Errorf("Claude got %q, want %q; reported %q", text, tt.want, settings)
		}
	}
	turn := scriptedCLI(t, `echo '{"type":"result","status":"success"}'`)
	turn.Member.Thinking = &on
	if settings, _ := unsupported(t, withoutTimeouts(agent.Gemini()), turn); !slices.Equal(settings, []string{"thinking"}) {
		t.Errorf("Gemini CLI reported %q", settings)
	}
	turn = script(t, "echo hi")
	turn.Member.Thinking = &on
	if settings, text := unsupported(t, graceful, turn); !slices.Equal(settings, []string{"thinking"}) || text != "hi\n" {
		t.Errorf("a program reported %q", settings)
	}
}
