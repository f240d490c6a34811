package teams

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

// sample is the path of a team file, in any working directory.
var sample, _ = filepath.Abs("../../../../testdata/teams/echo-pair.json")

// copyTeam returns the path of a copy of sample.
func copyTeam(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pair.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A team that is named by its path is trusted from then on, unless that is to be forgotten or cannot be recorded.
func TestLoadRecordsWhatTheUserChose(t *testing.T) {
	for _, test := range []struct {
		name     string
		forget   bool
		prepare  func(t *testing.T, home string)
		recorded bool
		notice   string
	}{
		{"named", false, func(*testing.T, string) {}, true, ""},
		{"named for once", true, func(*testing.T, string) {}, false, ""},
		{"with an invalid trust.json", false, func(t *testing.T, home string) {
			if err := os.WriteFile(filepath.Join(home, "trust.json"), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, false, "trust.json"},
		{"with a trust.json that cannot be written", false, func(t *testing.T, home string) {
			if err := os.MkdirAll(filepath.Join(home, "trust.json.lock"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, false, "trust.json"},
	} {
		t.Run(test.name, func(t *testing.T) {
			home, path := t.TempDir(), copyTeam(t)
			test.prepare(t, home)
			var notices strings.Builder
			a, err := app.New(app.IO{Stdout: &notices, Stderr: &notices}, app.Options{Home: home})
			if err != nil {
				t.Fatal(err)
			}
			loaded, err := Loader{App: a, Forget: test.forget}.Load(t.Context(), path)
			if err != nil || loaded.Name != "echo-pair" {
				t.Fatalf("%+v, %v", loaded, err)
			}
			data, _ := os.ReadFile(filepath.Join(home, "trust.json"))
			if recorded := strings.Contains(string(data), "pair.json"); recorded != test.recorded {
				t.Errorf("trust.json has %q", data)
			}
			if got := notices.String(); (got == "") != (test.notice == "") || !strings.Contains(got, test.notice) {
				t.Errorf("it printed %q", got)
			}
		})
	}
}

func TestTrustIsRevoked(t *testing.T) {
	home, path := t.TempDir(), copyTeam(t)
	var stdout strings.Builder
	a, err := app.New(app.IO{Stdout: &stdout, Stderr: &stdout}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	revoke := &TrustCommand{Path: path, Revoke: true, Output: "json"}
	if err := revoke.Run(a); app.CodeOf(err) != app.ExitNotFound {
		t.Errorf("before: %v", err)
	}
	if err := (&TrustCommand{Path: path, Output: "json"}).Run(a); err != nil || !strings.Contains(stdout.String(), `"trusted":true`) {
		t.Errorf("trust: %v, %s", err, stdout.String())
	}
	stdout.Reset()
	if err := revoke.Run(a); err != nil || !strings.Contains(stdout.String(), `"trusted":false,"reads":[]`) {
		t.Errorf("revoke: %v, %s", err, stdout.String())
	}
	if err := revoke.Run(a); app.CodeOf(err) != app.ExitNotFound {
		t.Errorf("again: %v", err)
	}
	if err := os.WriteFile(filepath.Join(home, "trust.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []*TrustCommand{{Path: path, Output: "text"}, revoke} {
		if err := cmd.Run(a); app.CodeOf(err) != app.ExitFailed {
			t.Errorf("with an invalid trust.json, revoke %v: %v", cmd.Revoke, err)
		}
	}
}
