package teams

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

func TestKeysConfirm(t *testing.T) {
	const asked = "Run?\n" + textKeys + "\n"
	for keys, want := range map[string]struct {
		yes   bool
		shown string
	}{
		"y": {true, asked}, "Y": {true, asked}, "n": {false, asked}, "N": {false, asked}, string(rune(tty.KeyEscape)): {false, asked},
		"":    {false, asked},
		"xy":  {true, asked + textKeyAgain + "\n"},
		"x\r": {false, asked + textKeyAgain + "\n" + textKeyAgain + "\n"},
	} {
		var shown strings.Builder
		left := []rune(keys)
		yes, err := ByKey(&shown, func() (rune, error) {
			if len(left) == 0 {
				return 'y', errors.New("no terminal")
			}
			key := left[0]
			left = left[1:]
			return key, nil
		})("Run?")
		if yes != want.yes || err != nil || shown.String() != want.shown {
			t.Errorf("%q: %v, %v, it printed %q", keys, yes, err, shown.String())
		}
	}
}

// A team that the working directory brings is confirmed once, and again after a change.
func TestTeamOfTheWorkingDirectoryIsConfirmed(t *testing.T) {
	const first = "You have not confirmed it yet, and it may be from someone else."
	const changed = "It runs or reads something else than when you confirmed it."
	home, work := t.TempDir(), t.TempDir()
	t.Chdir(work)
	path := filepath.Join(work, ".agent-chatter", "team-config", "pair.json")
	write := func(old, new string) {
		t.Helper()
		data, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(data), old, new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	failed := errors.New("no terminal")
	for _, test := range []struct {
		name, old, new string
		forget         bool
		answer         bool
		err            error
		asked          string // why; "": nothing is asked
		refused        string
	}{
		{"the answer is no", "", "", false, false, nil, first, "The team was not started."},
		{"there is no answer", "", "", false, true, failed, first, "no terminal"},
		{"the answer is yes, for once", "", "", true, true, nil, first, ""},
		{"the answer is yes", "", "", false, true, nil, first, ""},
		{"it was confirmed", "", "", false, false, nil, "", ""},
		{"it was changed", `"-w"`, `"-c"`, false, false, nil, changed, "The team was not started."},
		{"its description was changed", "standard", "common", false, false, nil, "", ""},
	} {
		write(test.old, test.new)
		var shown strings.Builder
		a, err := app.New(app.IO{Stdout: &shown, Stderr: &shown}, app.Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		asked := ""
		loaded, err := Loader{App: a, Forget: test.forget, Ask: func(question string) (bool, error) {
			asked = question
			return test.answer, test.err
		}}.Load(t.Context(), "pair")
		if (asked == "") != (test.asked == "") || !strings.Contains(asked, test.asked+"\nRun it?") && test.asked != "" {
			t.Errorf("%s: it asked %q", test.name, asked)
		}
		if test.refused != "" {
			if err == nil || !strings.Contains(err.Error(), test.refused) || loaded != nil {
				t.Errorf("%s: %+v, %v", test.name, loaded, err)
			}
		} else if err != nil || loaded.Name != "echo-pair" {
			t.Errorf("%s: %+v, %v", test.name, loaded, err)
		}
	}
}

func TestRevokedTeamIsNamed(t *testing.T) {
	home, path := t.TempDir(), copyTeam(t)
	t.Chdir(filepath.Dir(path))
	run := func(revoke bool) (string, error) {
		var stdout strings.Builder
		a, err := app.New(app.IO{Stdout: &stdout, Stderr: &stdout}, app.Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		err = (&TrustCommand{Path: "./pair.json", Revoke: revoke, Output: "text"}).Run(a)
		return strings.ReplaceAll(stdout.String(), filepath.Dir(path), "DIR"), err
	}
	const runs = "DIR/pair.json is trusted as long as it runs only this:\n" +
		"  upper: awk 'NF { last = $0 } END { print toupper(last) }'\n    directory: DIR\n" +
		"  count: wc -w\n    directory: DIR\n"
	if got, err := run(false); got != filepath.FromSlash(runs) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.Remove(path); err != nil { // it may be missing
		t.Fatal(err)
	}
	want := filepath.FromSlash("DIR/pair.json") +
		" is not trusted any more. It must be confirmed before it runs, unless -t names its path.\n"
	if got, err := run(true); got != want || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
