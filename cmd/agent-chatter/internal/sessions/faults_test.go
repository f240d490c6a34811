package sessions

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

func TestMain(m *testing.M) {
	journaltest.UseMemoryForTempDir()
	os.Exit(m.Run())
}

// No error of the disk leads to a result that looks complete.
func TestIOErrorsAreReported(t *testing.T) {
	var ids []string
	for _, test := range []struct {
		name    string
		results bool // it prints some, and stops if it cannot
		run     func(*app.App) error
	}{
		{"list", true, func(a *app.App) error { return (&List{Output: "json"}).Run(a) }},
		{"list --team", true, func(a *app.App) error { return (&List{Team: "demo", Output: "json"}).Run(a) }},
		{"resume", true, func(a *app.App) error {
			s, err := a.FindToResume(t.Context(), nil, "", nil)
			if err == nil {
				_, err = fmt.Fprintln(a.Stdout, s.ID)
			}
			return err
		}},
		{"search", true, func(a *app.App) error { return (&Search{Text: "a", Output: "text"}).Run(a) }},
		{"show", true, func(a *app.App) error { return (&Show{ID: ids[0], Output: "json"}).Run(a) }},
		{"diff", true, func(a *app.App) error { return (&Diff{A: ids[0], B: ids[1], Output: "text"}).Run(a) }},
		{"diff --output json", true, func(a *app.App) error { return (&Diff{A: ids[0], B: ids[1], Output: "json"}).Run(a) }},
		{"tail", false, func(a *app.App) error { return (&Tail{ID: ids[0], N: 2, Output: "text"}).Run(a) }},
		{"tail latest", false, func(a *app.App) error { return (&Tail{N: 2, Output: "json"}).Run(a) }},
		{"tail --all", false, func(a *app.App) error { return (&Tail{All: true, N: 5, Output: "json"}).Run(a) }},
		{"replay", true, func(a *app.App) error { return (&Replay{ID: ids[0], Output: "text"}).Run(a) }},
		{"replay --from", true, func(a *app.App) error { return (&Replay{ID: ids[0], From: "2", Output: "json"}).Run(a) }},
		{"replay --output events", true, func(a *app.App) error { return (&Replay{ID: ids[0], From: "2", Output: "events"}).Run(a) }},
		{"replay --output snapshot", true, func(a *app.App) error { return (&Replay{ID: ids[0], Output: "snapshot"}).Run(a) }},
		{"pin", false, func(a *app.App) error { return (&Pin{ID: ids[0]}).Run(a) }},
		{"delete", false, func(a *app.App) error { return (&Delete{ID: ids[0], Yes: true}).Run(a) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			fill := func(home string) {
				var err error
				root := filepath.Join(home, "sessions")
				if ids, err = (catalogtest.Sessions{Count: 2, Messages: 4}).Fill(root); err == nil {
					turn := projection.Record(time.Unix(1_900_000_000, 0), projection.TurnStarted{TurnID: "t1", MemberID: "planner"})
					err = catalog.New(root, journal.Options{}).Team("demo").Append(t.Context(), ids[0], turn)
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
			if test.results {
				apptest.FullOutput(t, fill, run)
			}
		})
	}
}
