package maintain

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
)

// A session that another program writes is skipped.
func TestMaintenanceSkipsLockedSessions(t *testing.T) {
	none, atOnce := 0, home.Days(0)
	for _, test := range []struct {
		name   string
		run    func(*app.App) error
		stdout string
		err    bool
	}{
		{"clean", (&Clean{Keep: &none, Output: "text"}).Run, "  skipped  ", false},
		{"clean --dry-run", (&Clean{Keep: &none, DryRun: true, Output: "text"}).Run, "  skipped  ", false},
		{"compact", (&Compact{Keep: &none, ArchiveAfter: &atOnce, Output: "text"}).Run, "  skipped: it is locked by ", false},
		{"compact --dry-run", (&Compact{Keep: &none, ArchiveAfter: &atOnce, DryRun: true, Output: "text"}).Run,
			"  skipped: it is locked by ", false},
		{"repair --seal", (&Repair{Seal: true, Output: "text"}).Run, "  skipped: it is locked by ", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := testApp(t)
			log, err := apptest.CrashedSession(t, a.Home).Open(t.Context(), apptest.AliceID)
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			var stdout, stderr strings.Builder
			a.Stdout, a.Stderr = &stdout, &stderr
			err = test.run(a)
			if got := stdout.String(); !strings.Contains(got, apptest.AliceID+test.stdout) || (err != nil) != test.err {
				t.Errorf("it printed %q and returned %v", got, err)
			}
			if got := stderr.String(); strings.Contains(got, "1 changed") || strings.Contains(got, "1 session moved") {
				t.Errorf("stderr %q", got)
			}
		})
	}
}

func TestSealReportsEachState(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(t *testing.T, dir *journal.Dir, path string)
		dryRun bool
		stdout string
		err    bool
	}{
		{"unsealed", func(*testing.T, *journal.Dir, string) {}, true, "  sealed\n", false},
		{"archived", archive, false, "", false},
		{"archived", archive, true, "", false},
		{"torn", tear, false, "  skipped: it has a torn write at the end", true},
		{"torn", tear, true, "  skipped: it has a torn write at the end", true},
		{"damaged", damage, true, "  skipped: ", true},
	} {
		a := testApp(t)
		dir := apptest.CrashedSession(t, a.Home)
		test.change(t, dir, filepath.Join(dir.Path(), apptest.AliceID+".jsonl"))
		var stdout strings.Builder
		a.Stdout = &stdout
		err := (&Repair{Seal: true, DryRun: test.dryRun, Output: "text"}).Run(a)
		want := ""
		if test.stdout != "" {
			want = apptest.AliceID + test.stdout
		}
		if got := stdout.String(); !strings.HasPrefix(got, want) || (got == "") != (want == "") || (err != nil) != test.err {
			t.Errorf("%s, dry run %v: it printed %q and returned %v", test.name, test.dryRun, got, err)
		}
	}
}

func archive(t *testing.T, dir *journal.Dir, _ string) {
	if err := journaltest.Archive(t.Context(), dir, apptest.AliceID); err != nil {
		t.Fatal(err)
	}
}

func tear(t *testing.T, _ *journal.Dir, path string) {
	if err := appendTo(path, `{"seq":`); err != nil {
		t.Fatal(err)
	}
}

func damage(t *testing.T, _ *journal.Dir, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), `"one"`, `"onf"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRestoreRefusals(t *testing.T) {
	second := apptest.AliceID[:25] + "B"
	trash := func(t *testing.T, home, id string) {
		dir := filepath.Join(home, "sessions", "review", "trash")
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, id+".jsonl"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name  string
		ids   []string // in the trash
		error string
		code  int
	}{
		{apptest.AliceID, []string{apptest.AliceID}, "Session " + apptest.AliceID + " exists already", app.ExitFailed},
		{apptest.AliceID[:20], []string{apptest.AliceID, second}, second, app.ExitUsage},
		{second, []string{apptest.AliceID}, "No session in the trash is named '" + second + "'.", app.ExitNotFound},
	} {
		a := testApp(t)
		apptest.CrashedSession(t, a.Home)
		for _, id := range test.ids {
			trash(t, a.Home, id)
		}
		err := (&Restore{ID: test.name}).Run(a)
		if got := app.Explain(err).String(); app.CodeOf(err) != test.code || !strings.Contains(got, test.error) {
			t.Errorf("%s: got exit code %d, %q", test.name, app.CodeOf(err), got)
		}
	}
}
