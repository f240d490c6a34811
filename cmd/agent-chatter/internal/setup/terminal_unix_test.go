//go:build unix

package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestValidateOnATerminal(t *testing.T) {
	const head = `{"schemaVersion": "1.2", "team": {"name": "pair", "displayName": "Pair", "description": "", "members": [`
	member := func(name, more string) string {
		return fmt.Sprintf(`{"name": %q, "displayName": "A", "role": "r", "systemInstruction": "", %s}`, name, more)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("AGENT_CHATTER_HOME", filepath.Join(dir, "home"))
	human := member("you", `"type": "human", "baseDir": "."`)
	for name, content := range map[string]string{
		"valid.json": head + member("ada", `"type": "ai", "agentType": "claude", "baseDir": "."`) + "," + human + `]}}`,
		"odd.json": head + member("ada", `"type": "ai", "agentType": "claude", "baseDir": "gone", "env": {"KEY": "$NOT_THERE", "B_KEY": "made-up-key-4711"}`) +
			"," + human + `]}}`,
		"invalid.json": head + member("a b", `"type": "ai", "agentType": "claude", "baseDir": "."`) + `], "size": 2}}`,
		"none.json":    "{",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var b strings.Builder
	for _, file := range []string{"valid.json", "odd.json", "invalid.json", "none.json", "missing.json", "demo"} {
		name := file
		if strings.Contains(file, ".") {
			name = filepath.Join(dir, file)
		}
		code := 0
		shown := apptest.OnTerminal(t, 1000, func(terminal *os.File) {
			a, err := app.New(app.IO{Stdout: terminal, Stderr: terminal, NoColor: true}, app.Options{Home: filepath.Join(dir, "home")})
			if err != nil {
				t.Fatal(err)
			}
			a.Cwd = dir
			code = a.Fail((&teamValidate{File: name, Output: "text"}).Run(a))
		})
		fmt.Fprintf(&b, "## %s: exit code %d\n%s\n", file, code, strings.ReplaceAll(shown, dir, "DIR"))
	}
	apptest.Golden(t, filepath.Join("testdata", "validate.golden"), b.String())
}
