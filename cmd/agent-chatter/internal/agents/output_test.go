package agents

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// commands are the commands that read the registry, with whether they print results.
var commands = []struct {
	name    string
	results bool
	run     func(*app.App) error
}{
	{"list", true, (&list{Output: "text"}).Run},
	{"list --output json", true, (&list{Output: "json"}).Run},
	{"info", true, (&info{Name: "mine", Output: "text"}).Run},
	{"info --output json", true, (&info{Name: "mine", Output: "json"}).Run},
	{"scan", true, (&scan{Output: "text"}).Run},
	{"scan --output json", true, (&scan{Output: "json"}).Run},
	{"verify", true, (&verify{SkipDryRun: true, Timeout: time.Second, Output: "text"}).Run},
	{"verify --output json", true, (&verify{Name: []string{"mine"}, SkipDryRun: true, Timeout: time.Second, Output: "json"}).Run},
	{"register", false, (&register{Name: "other", Command: []string{os.Args[0]}}).Run},
	{"delete", false, (&remove{Name: "mine"}).Run},
}

func TestAgentsWithFullOutput(t *testing.T) {
	t.Setenv("PATH", "")
	for _, test := range commands {
		if !test.results {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			fill := func(home string) {
				if err := team.Register(t.Context(), home, team.Agent{Name: "mine", Command: os.Args[0]}); err != nil {
					t.Fatal(err)
				}
			}
			apptest.FullOutput(t, fill, func(home string, _ vfs.FS, stdout, stderr io.Writer) error {
				return test.run(newApp(t, home, stdout, stderr))
			})
		})
	}
}

func TestAgentsReportAnInvalidRegistry(t *testing.T) {
	t.Setenv("PATH", "")
	for _, test := range commands {
		home := t.TempDir()
		path := filepath.Join(home, "agents", "config.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := test.run(newApp(t, home, io.Discard, io.Discard)); app.CodeOf(err) != app.ExitFailed {
			t.Errorf("%s: %v", test.name, err)
		}
		if got, err := os.ReadFile(path); string(got) != "{" {
			t.Errorf("%s: the registry is now %q, %v", test.name, got, err)
		}
	}
}

func newApp(t *testing.T, home string, stdout, stderr io.Writer) *app.App {
	t.Helper()
	a, err := app.New(app.IO{Stdout: stdout, Stderr: stderr}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
