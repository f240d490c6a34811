//go:build unix

package teams

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestTrustOnATerminal(t *testing.T) {
	home, path := t.TempDir(), copyTeam(t)
	t.Setenv("AGENT_CHATTER_HOME", home)
	var b strings.Builder
	for _, step := range []struct {
		name string
		cmd  TrustCommand
	}{
		{"trust", TrustCommand{Path: path}}, {"trust as JSON", TrustCommand{Path: path, Output: "json"}},
		{"revoke", TrustCommand{Path: path, Revoke: true}}, {"revoke again", TrustCommand{Path: path, Revoke: true}},
		{"the built-in team", TrustCommand{Path: "demo"}}, {"no team", TrustCommand{Path: filepath.Join(home, "missing.json")}},
	} {
		if step.cmd.Output == "" {
			step.cmd.Output = "text"
		}
		code := 0
		shown := apptest.OnTerminal(t, 1000, func(terminal *os.File) {
			a, err := app.New(app.IO{Stdout: terminal, Stderr: terminal, NoColor: true}, app.Options{Home: home})
			if err != nil {
				t.Fatal(err)
			}
			code = a.Fail(step.cmd.Run(a))
		})
		shown = regexp.MustCompile("[0-9a-f]{64}").ReplaceAllString(shown, "SHA256")
		shown = strings.NewReplacer(filepath.Dir(path), "DIR", home, "HOME").Replace(shown)
		fmt.Fprintf(&b, "## %s: exit code %d\n%s\n", step.name, code, shown)
	}
	apptest.Golden(t, filepath.Join("testdata", "trust.golden"), b.String())
}
