//go:build unix

package agents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/google/go-cmp/cmp"
)

func TestVerifyOnATerminal(t *testing.T) {
	const secret = "sk-0123456789abcdefghij"
	t.Setenv("THE_API_KEY", secret)
	home := t.TempDir()
	t.Setenv("AGENT_CHATTER_HOME", home)
	bin := filepath.Join(home, secret)
	script := "#!/bin/sh\ncat >/dev/null\necho it is $THE_API_KEY\n"
	for name, mode := range map[string]os.FileMode{"mine": 0o700, "locked": 0o600} {
		path := filepath.Join(bin, name)
		if err := os.MkdirAll(bin, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(script), mode); err != nil {
			t.Fatal(err)
		}
	}
	run := func(cmd verify) (shown string, code int) {
		cmd.Timeout, cmd.Output = time.Minute, "text"
		shown = apptest.OnTerminal(t, 200, func(terminal *os.File) {
			a := newApp(t, home, terminal, terminal)
			code = a.Fail(cmd.Run(a))
		})
		shown = apptest.Took.ReplaceAllString(strings.ReplaceAll(shown, home, "HOME"), "in 0.1 s")
		return strings.NewReplacer("\x1b[1m", "", "\x1b[2m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "",
			"\x1b[36m", "", "\x1b[m", "").Replace(shown), code
	}
	const (
		mine  = "mine\n✓ executable      HOME/[REDACTED:THE_API_KEY]/mine\n"
		fails = "locked\n✗ executable      \"HOME/[REDACTED:THE_API_KEY]/locked\" does not start: permission denied\n" +
			"                  It must be an executable file\n                  To make it executable:\n" +
			"                    chmod +x 'HOME/[REDACTED:THE_API_KEY]/locked'\n"
	)
	for _, tt := range []struct {
		name       string
		registered []string
		cmd        verify
		want       string
		code       int
	}{
		{"none", nil, verify{},
			"⚠ No agent is registered.\n  To find installed agents:\n    agent-chatter agents scan\n", 0},
		{"unknown", nil, verify{Name: []string{"ada"}},
			"✗ Agent not registered: \"ada\"\n  To list the agents:\n    agent-chatter agents list\n", 3},
		{"an answer", []string{"mine"}, verify{},
			mine + "✓ authentication  confirmed by the answer\n✓ dry run         answered “it is [REDACTED:THE_API_KEY]” in 0.1 s\n" +
				"\n✓ 1 agent answered.\n", 0},
		{"without a dry run", []string{"mine"}, verify{SkipDryRun: true},
			mine + "⚠ authentication  unknown; only the dry run shows it\n\n⚠ 1 agent checked without a dry run.\n", 0},
		{"a failure", []string{"mine", "locked"}, verify{Name: []string{"locked", "mine"}, SkipDryRun: true},
			fails + "\n" + mine + "⚠ authentication  unknown; only the dry run shows it\n\n✗ 1 of 2 agents failed.\n", 1},
	} {
		for _, name := range tt.registered {
			if err := team.Register(t.Context(), home, team.Agent{Name: name, Command: filepath.Join(bin, name)}); err != nil {
				t.Fatal(err)
			}
		}
		shown, code := run(tt.cmd)
		if diff := cmp.Diff(tt.want, shown); diff != "" || code != tt.code {
			t.Errorf("%s: exit code %d (-want +got):\n%s", tt.name, code, diff)
		}
	}
}
