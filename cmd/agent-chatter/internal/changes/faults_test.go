package changes

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// On a full disk a change fails and says so, or it is made. The session is whole in both cases, and the
// change can be made again when there is space.
func TestFullDisk(t *testing.T) {
	for name, test := range map[string]struct {
		change func(d *desk) Change
		done   func(d *desk) bool
	}{
		"rename": {
			func(d *desk) Change { return d.Rename(t.Context(), d.key, "new") },
			func(d *desk) bool { return d.exists(first) && d.session(first).Title == "new" },
		},
		"pin": {
			func(d *desk) Change { return d.Pin(t.Context(), d.key, true) },
			func(d *desk) bool { return d.exists(first) && d.session(first).Pinned },
		},
		"trash": {
			func(d *desk) Change { return d.Trash(t.Context(), d.key) },
			func(d *desk) bool { return !d.exists(first) },
		},
		"fork": {
			func(d *desk) Change { return d.Fork(t.Context(), d.key, 0) },
			func(d *desk) bool {
				list, err := d.dir.List(t.Context(), catalog.Query{})
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range list.Sessions {
					if s.Damaged != "" || s.MessageCount != 2 {
						t.Errorf("a fork left %+v", s)
					}
				}
				return len(list.Sessions) == 3
			},
		},
	} {
		for n := 1; ; n++ {
			d := newDesk(t)
			d.disk.HalfWrites(true)
			d.disk.FailFrom(n, syscall.ENOSPC, journaltest.Open, journaltest.Mkdir, journaltest.Write, journaltest.Sync)
			r, err := test.change(d)()
			failed := d.disk.Failed()
			d.disk.Heal()
			switch done := test.done(d); {
			case err == nil && (!done || r.Text == ""):
				t.Errorf("%s, operation %d: no error, but it is not done: %+v\n%s", name, n, r, d.disk)
			case err != nil && !errors.Is(err, syscall.ENOSPC):
				t.Errorf("%s, operation %d: %v\n%s", name, n, err, d.disk)
			case err != nil && !strings.Contains(app.Explain(err).Text, "The disk is full: free space"):
				t.Errorf("%s, operation %d: %q", name, n, app.Explain(err).Text)
			}
			if d.exists(first) {
				if s := d.session(first); s.Damaged != "" || s.MessageCount != 2 {
					t.Errorf("%s, operation %d: the session is %+v", name, n, s)
				}
				if err != nil && !test.done(d) {
					if d.must(test.change(d)); !test.done(d) {
						t.Errorf("%s, operation %d: it is not done the second time", name, n)
					}
				}
			}
			if !failed || t.Failed() {
				break
			}
		}
	}
}

// The other way, too: the session is in its place or in the trash.
func TestFullDiskWhileRestoring(t *testing.T) {
	for n := 1; ; n++ {
		d := newDesk(t)
		d.must(d.Trash(t.Context(), d.key))
		d.disk.FailFrom(n, syscall.ENOSPC)
		_, err := d.Restore(t.Context(), d.key)()
		failed := d.disk.Failed()
		d.disk.Heal()
		trashed, listErr := trash.Of(d.dir.Journals()).List()
		if listErr != nil || d.exists(first) == (len(trashed) > 0) || err == nil && !d.exists(first) {
			t.Errorf("operation %d: %v; in its place: %v; the trash has %v, %v", n, err, d.exists(first), trashed, listErr)
		}
		if !failed || t.Failed() {
			break
		}
	}
}

// Every error of reading is returned, and nothing is changed or lost.
func TestUnreadableDisk(t *testing.T) {
	for name, change := range map[string]func(d *desk) Change{
		"rename": func(d *desk) Change { return d.Rename(t.Context(), d.key, "new") },
		"trash":  func(d *desk) Change { return d.Trash(t.Context(), d.key) },
		"fork":   func(d *desk) Change { return d.Fork(t.Context(), d.key, 0) },
		"export": func(d *desk) Change { return d.Export(t.Context(), d.key, filepath.Join(d.home, "a.md")) },
	} {
		whole := ""
		for n := 0; ; n++ {
			d := newDesk(t)
			if n > 0 {
				d.disk.Fail(n, syscall.EIO, journaltest.Read)
			}
			_, err := change(d)()
			text, _ := os.ReadFile(filepath.Join(d.home, "a.md")) // none but of an export
			switch {
			case n == 0:
				whole = string(text)
			case err == nil && string(text) != whole, err != nil && len(text) > 0:
				t.Errorf("%s, read %d: %v; %d bytes were written", name, n, err, len(text))
			}
			if trashed, listErr := trash.Of(d.dir.Journals()).List(); listErr != nil || d.exists(first) == (len(trashed) > 0) {
				t.Errorf("%s, read %d: the session is gone: %v", name, n, err)
			}
			if n > 0 && !d.disk.Failed() || t.Failed() {
				break
			}
		}
	}
}
