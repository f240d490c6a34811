package sessions

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestCommandsReportATornTail(t *testing.T) {
	const notice = "7 bytes"
	for _, test := range []struct {
		name   string
		run    func(*app.App) error
		notice bool
	}{
		{"show", (&Show{ID: apptest.AliceID, Output: "text"}).Run, true},
		{"tail", (&Tail{ID: apptest.AliceID, N: 3, Output: "text"}).Run, true},
		{"list", (&List{Limit: 20, Output: "text"}).Run, false},
	} {
		for _, torn := range []string{"", `{"seq":`} {
			home := t.TempDir()
			dir := apptest.CrashedSession(t, home)
			path := filepath.Join(dir.Path(), apptest.AliceID+".jsonl")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, append(data, torn...), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr strings.Builder
			a, err := app.New(app.IO{Stdout: &stdout, Stderr: &stderr}, app.Options{Home: home})
			if err != nil {
				t.Fatal(err)
			}
			if err := test.run(a); err != nil || stdout.Len() == 0 {
				t.Errorf("%s with %q: %v", test.name, torn, err)
			}
			if got := stderr.String(); strings.Contains(got, notice) != (test.notice && torn != "") {
				t.Errorf("%s with %q: notices %q", test.name, torn, got)
			}
		}
	}
}

func TestNumbersMustNotBeNegative(t *testing.T) {
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	var stdout strings.Builder
	a, err := app.New(app.IO{Stdout: &stdout, Stderr: &stdout}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]int{-1: app.ExitUsage, 0: app.ExitDone, 1: app.ExitDone} {
		speed := float64(n)*1000 + 1
		for name, run := range map[string]func(*app.App) error{
			"list --limit":   (&List{Limit: n, Output: "text"}).Run,
			"search --limit": (&Search{Text: "one", Limit: n, Output: "text"}).Run,
			"tail -n":        (&Tail{N: n, Output: "text"}).Run,
			"replay --speed": (&Replay{Speed: &speed, Output: "text"}).Run,
		} {
			if err := run(a); app.CodeOf(err) != want {
				t.Errorf("%s %d: %v", name, n, err)
			}
		}
	}
	for _, speed := range []float64{0, math.NaN(), math.Inf(1)} {
		if err := (&Replay{Speed: &speed, Output: "text"}).Run(a); app.CodeOf(err) != app.ExitUsage {
			t.Errorf("replay --speed %v: %v", speed, err)
		}
	}
}

func TestSearchStopsAtItsLimit(t *testing.T) {
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	for limit, want := range map[int]int{0: 4, 1: 1, 3: 3, 4: 4, 5: 4} {
		var stdout strings.Builder
		a, err := app.New(app.IO{Stdout: &stdout, Stderr: &stdout}, app.Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		if err := (&Search{Text: "one|two|three|four", Regex: true, Limit: limit, Output: "json"}).Run(a); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(stdout.String(), "\n"); got != want {
			t.Errorf("limit %d: %d results\n%s", limit, got, stdout.String())
		}
	}
}
