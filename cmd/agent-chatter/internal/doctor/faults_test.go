package doctor

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

// No error of the disk leads to findings that look complete.
func TestDoctorReportsReadErrors(t *testing.T) {
	fill := func(home string) {
		root := filepath.Join(home, "sessions")
		ids, err := (catalogtest.Sessions{Count: 3}).Fill(root)
		if err == nil {
			err = catalog.New(root, journal.Options{}).Team("demo").Delete(t.Context(), ids[2])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	apptest.FailEachRead(t, fill, func(home string, disk vfs.FS, stdout, stderr io.Writer) error {
		a, err := app.New(app.IO{Stdout: stdout, Stderr: stderr}, app.Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		a.Catalog = catalog.New(filepath.Join(home, "sessions"), journal.Options{FS: disk})
		d := newDoctor(t.Context(), a)
		d.fs = disk
		for _, f := range append(d.checkSessions(), d.checkTrash()...) {
			fmt.Fprintln(stdout, f.State, f.What)
		}
		return nil
	})
}

func TestDoctorNamesTheNetworkFileSystem(t *testing.T) {
	d := newTestDoctor(t, vfs.OS)
	d.NetworkFS = func(string) string { return "nfs" }
	if found := d.checkNetwork(); len(found) != 1 || found[0].State != app.StateNote || !strings.Contains(found[0].What, "(nfs)") {
		t.Errorf("findings: %+v", found)
	}
}

func TestDoctorNotesThatTheFreeSpaceIsUnknown(t *testing.T) {
	d := newTestDoctor(t, vfs.OS)
	d.existing = filepath.Join(d.Home, "gone")
	if found := d.checkSpace(); len(found) != 1 || found[0].State != app.StateNote || !strings.Contains(found[0].What, "unknown") {
		t.Errorf("findings: %+v", found)
	}
}
