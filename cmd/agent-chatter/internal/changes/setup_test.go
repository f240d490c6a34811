package changes

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestMain(m *testing.M) {
	journaltest.UseMemoryForTempDir()
	os.Exit(m.Run())
}

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	mia  = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	ada  = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
)

const (
	first  = "01KAH9TQ4GJ5X8C2VRB0000001"
	second = "01KAH9TQ4GJ5X8C2VRB0000002"
)

// A desk is a home with two sessions of a team, a disk that can fail, and the changes of a browser.
type desk struct {
	*Changes
	t    testing.TB
	home string
	disk *journaltest.FS
	dir  *catalog.Dir // on a disk that does not fail
	key  catalog.Key  // of the first session
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	home := t.TempDir()
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: forbidden{t}}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	root, disk := filepath.Join(home, "sessions"), journaltest.New(vfs.OS)
	a.Catalog = catalog.New(root, journal.Options{FS: disk})
	a.Catalog.DirError = a.ReportUnreadable
	dir := catalog.New(root, journal.Options{}).Team("shop")
	d := &desk{Changes: New(a), t: t, home: home, disk: disk, dir: dir}
	for i, id := range []string{first, second} {
		d.write(id, []string{"The checkout rounds down", "Write the notes"}[i])
	}
	d.key = catalog.Key{Dir: dir.Journals().Path(), ID: first}
	return d
}

// forbidden is the screen, on which nothing may be printed.
type forbidden struct{ t testing.TB }

func (f forbidden) Write(text []byte) (int, error) {
	f.t.Errorf("printed on the screen: %s", text)
	return len(text), nil
}

// write writes a session of two messages.
func (d *desk) write(id, title string) {
	d.t.Helper()
	log, err := d.dir.Journals().Create(id)
	if err != nil {
		d.t.Fatal(err)
	}
	records := []journal.Record{projection.Record(noon, projection.SessionCreated{
		Format: projection.Format, SessionID: id, CWD: "/home/mia",
		Team: projection.Team{ID: "shop", Name: "shop", Members: []projection.Member{
			{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman},
			{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI, AgentType: "command"},
		}},
	})}
	for i, text := range []string{title, "Done."} {
		message := projection.NewMessage(fmt.Sprint("m", i), noon, []projection.Speaker{mia, ada}[i], text, nil)
		records = append(records, projection.Record(noon, message))
	}
	if _, err := log.Append(records...); err != nil {
		d.t.Fatal(err)
	}
	if _, err := log.Seal(); err != nil {
		d.t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		d.t.Fatal(err)
	}
}

// session returns a session as a list shows it.
func (d *desk) session(id string) catalog.Session {
	d.t.Helper()
	s, err := d.dir.Session(d.t.Context(), id)
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// exists reports whether a session is in its place.
func (d *desk) exists(id string) bool {
	d.t.Helper()
	_, err := d.dir.Journals().Stat(id)
	return err == nil
}

// must returns the result of a change that succeeds.
func (d *desk) must(change Change) Result {
	d.t.Helper()
	r, err := change()
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}
