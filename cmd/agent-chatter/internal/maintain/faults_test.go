package maintain

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

func TestMain(m *testing.M) {
	journaltest.UseMemoryForTempDir()
	os.Exit(m.Run())
}

// No error of the disk leads to an outcome that looks complete.
func TestMaintenanceReportsIOErrors(t *testing.T) {
	none, atOnce := 0, home.Days(0)
	var ids []string // the last one is in the trash
	for _, test := range []struct {
		name string
		run  func(*app.App) error
	}{
		{"clean", func(a *app.App) error { return (&Clean{Keep: &none, Output: "text"}).Run(a) }},
		{"clean --dry-run", func(a *app.App) error { return (&Clean{Keep: &none, DryRun: true, Output: "text"}).Run(a) }},
		{"clean --trash", func(a *app.App) error { return (&Clean{Trash: true, Output: "text"}).Run(a) }},
		{"clean --trash --dry-run", func(a *app.App) error {
			return (&Clean{Trash: true, DryRun: true, OlderThan: &atOnce, Output: "text"}).Run(a)
		}},
		{"compact --dry-run", func(a *app.App) error {
			return (&Compact{ID: ids[:1], Keep: &none, ArchiveAfter: &atOnce, DryRun: true, Output: "text"}).Run(a)
		}},
		{"reindex", func(a *app.App) error { return (&Reindex{Output: "json"}).Run(a) }},
		{"repair", func(a *app.App) error { return (&Repair{ID: ids[:1], Output: "text"}).Run(a) }},
		{"repair --seal", func(a *app.App) error { return (&Repair{Seal: true, Output: "text"}).Run(a) }},
		{"repair --seal --dry-run", func(a *app.App) error {
			return (&Repair{Seal: true, DryRun: true, Output: "text"}).Run(a)
		}},
		{"restore", func(a *app.App) error { return (&Restore{ID: ids[2]}).Run(a) }},
		{"verify", func(a *app.App) error { return (&Verify{Output: "json"}).Run(a) }},
		{"verify --chain", func(a *app.App) error { return (&Verify{ID: ids[:1], Chain: true, Output: "text"}).Run(a) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			fill := func(home string) {
				var err error
				root := filepath.Join(home, "sessions")
				if ids, err = (catalogtest.Sessions{Count: 3}).Fill(root); err == nil {
					err = catalog.New(root, journal.Options{}).Team("demo").Delete(t.Context(), ids[2])
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			run := func(home string, disk vfs.FS, stdout, stderr io.Writer) error {
				a, err := app.New(app.IO{Stdout: stdout, Stderr: stderr}, app.Options{Home: home})
				if err != nil {
					t.Fatal(err)
				}
				a.Catalog = catalog.New(filepath.Join(home, "sessions"), journal.Options{FS: disk})
				a.Catalog.DirError = a.ReportUnreadable
				return test.run(a)
			}
			apptest.FailEachRead(t, fill, run)
			if test.name != "restore" { // which prints no results
				apptest.FullOutput(t, fill, run)
			}
		})
	}
}
