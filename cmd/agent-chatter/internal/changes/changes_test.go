package changes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestRename(t *testing.T) {
	d := newDesk(t)
	r := d.must(d.Rename(t.Context(), d.key, "  the\ncheckout "))
	if got := d.session(first).Title; got != "the checkout" || r.Text != "Renamed to: the checkout" || r.Session != d.key {
		t.Errorf("the title is %q; %+v", got, r)
	}
	r = d.must(r.Undo(t.Context()))
	if got := d.session(first).Title; got != "The checkout rounds down" || r.Text != "Renamed to: "+got {
		t.Errorf("after undo the title is %q; %+v", got, r)
	}
	if _, err := d.Rename(t.Context(), d.key, strings.Repeat("ä", 501))(); app.CodeOf(err) != app.ExitUsage {
		t.Errorf("a long title: %v", err)
	}
	if _, err := d.Rename(t.Context(), d.key, " \n")(); app.CodeOf(err) != app.ExitUsage {
		t.Errorf("an empty title: %v", err)
	}
	r = d.must(d.Rename(t.Context(), d.key, "ghp_0123456789abcdefghijklmnopqrstuvwxyz"))
	if got := d.session(first).Title; strings.Contains(got, "ghp_") || !strings.Contains(r.Notices, "Redacted 1 secret") {
		t.Errorf("the title is %q; %+v", got, r)
	}
}

// A session without messages has no title to return to.
func TestRenameOfAnUntitledSession(t *testing.T) {
	d := newDesk(t)
	const third = "01KAH9TQ4GJ5X8C2VRB0000003"
	d.write(third, "")
	key := catalog.Key{Dir: d.key.Dir, ID: third}
	if r := d.must(d.Rename(t.Context(), key, "new")); r.Undo != nil {
		t.Error("it can be taken back")
	}
}

func TestPin(t *testing.T) {
	d := newDesk(t)
	for _, pinned := range []bool{true, false} {
		r := d.must(d.Pin(t.Context(), d.key, pinned))
		if d.session(first).Pinned != pinned || r.Text != pinText(pinned) {
			t.Errorf("pinned %v: %+v", d.session(first).Pinned, r)
		}
		if d.must(r.Undo(t.Context())); d.session(first).Pinned == pinned {
			t.Errorf("undo of pinned %v changed nothing", pinned)
		}
		d.must(d.Pin(t.Context(), d.key, pinned))
		if d.must(d.must(d.Pin(t.Context(), d.key, pinned)).Undo(t.Context())); d.session(first).Pinned != pinned {
			t.Errorf("undo of a pin that changed nothing did")
		}
	}
}

func TestTrashAndRestore(t *testing.T) {
	for _, archived := range []bool{false, true} {
		d := newDesk(t)
		if archived {
			if err := journaltest.Archive(t.Context(), d.dir.Journals(), first); err != nil {
				t.Fatal(err)
			}
		}
		before := d.session(first)
		r := d.must(d.Trash(t.Context(), d.key))
		if d.exists(first) || r.Text != "Moved to the trash: The checkout rounds down" {
			t.Errorf("archived %v: it is still there: %+v", archived, r)
		}
		r = d.must(r.Undo(t.Context()))
		after := d.session(first)
		if after.LastSeq != before.LastSeq || after.Archived != archived || r.Text != "Restored: The checkout rounds down" {
			t.Errorf("archived %v: restored as %+v; %+v", archived, after, r)
		}
		if r.Undo != nil {
			t.Error("a restored session can be restored")
		}
	}
}

// The pin may be newer than what a list shows.
func TestTrashKeepsAPinnedSession(t *testing.T) {
	d := newDesk(t)
	d.must(d.Pin(t.Context(), d.key, true))
	_, err := d.Trash(t.Context(), d.key)()
	if got := app.Explain(err).String(); !strings.Contains(got, "is pinned") || !strings.Contains(got, "sessions unpin "+first) {
		t.Errorf("got %q", got)
	}
	if !d.exists(first) {
		t.Error("it was moved to the trash")
	}
}

func TestFork(t *testing.T) {
	d := newDesk(t)
	for seq, messages := range map[uint64]int{0: 2, 2: 1, 3: 2} {
		r := d.must(d.Fork(t.Context(), d.key, seq))
		s := d.session(r.Session.ID)
		if s.Key() != r.Session || s.ID == first || s.MessageCount != messages ||
			r.Text != "Session "+s.ID+" is a copy of "+first+"." || r.Notices != "" {
			t.Errorf("up to %d: %d messages, %+v", seq, s.MessageCount, r)
		}
	}
	if _, err := d.Fork(t.Context(), d.key, 99)(); err == nil || !strings.Contains(err.Error(), "no event 99") {
		t.Errorf("up to a missing event: %v", err)
	}
}

func TestExport(t *testing.T) {
	d := newDesk(t)
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", d.home)
	t.Setenv("USERPROFILE", d.home)
	separator := string(filepath.Separator)
	for typed, want := range map[string]string{
		ExportName(first):       filepath.Join(dir, first+".md"),
		"~/talk.html":           filepath.Join(d.home, "talk.html"),
		"new" + separator:       filepath.Join(dir, "new", "*-"+first+".json"),
		"~/pages" + separator:   filepath.Join(d.home, "pages", "*-"+first+".json"),
		filepath.Join(dir, "x"): filepath.Join(dir, "x"),
	} {
		r := d.must(d.Export(t.Context(), d.key, typed))
		found, err := filepath.Glob(want)
		if err != nil || len(found) != 1 || !strings.HasSuffix(r.Text, ": "+found[0]) || r.Undo != nil {
			t.Errorf("%s: %q, %v, %+v", typed, found, err, r)
		}
	}
	for _, typed := range []string{"", ExportName(first), filepath.Join("none", "x")} {
		if _, err := d.Export(t.Context(), d.key, typed)(); app.Explain(err).Text == "" {
			t.Errorf("%q: %v", typed, err)
		}
	}
}

// What the command prints on its standard error is returned.
func TestNotices(t *testing.T) {
	d := newDesk(t)
	f, err := os.OpenFile(filepath.Join(d.key.Dir, first+".jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(`{"seq":`)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	r := d.must(d.Export(t.Context(), d.key, filepath.Join(t.TempDir(), "a.md")))
	if !strings.HasPrefix(r.Notices, "Session "+first+" has 7 bytes of an unfinished write") || strings.HasSuffix(r.Notices, "\n") {
		t.Errorf("got %q", r.Notices)
	}
}

// A session may change, or be gone, after it was listed.
func TestErrorsNameTheCommand(t *testing.T) {
	all := map[string]func(*desk) Change{
		"rename": func(d *desk) Change { return d.Rename(t.Context(), d.key, "new") },
		"pin":    func(d *desk) Change { return d.Pin(t.Context(), d.key, true) },
		"trash":  func(d *desk) Change { return d.Trash(t.Context(), d.key) },
		"fork":   func(d *desk) Change { return d.Fork(t.Context(), d.key, 0) },
		"export": func(d *desk) Change { return d.Export(t.Context(), d.key, filepath.Join(d.home, "a.md")) },
	}
	appending := []string{"rename", "pin"}
	reading := []string{"fork", "export"}
	any := []string{"rename", "pin", "trash", "fork", "export"}
	for _, test := range []struct {
		name    string
		prepare func(d *desk) error
		changes []string
		want    []string
		code    int
	}{
		{"locked", func(d *desk) error {
			log, err := d.dir.Journals().Open(t.Context(), first)
			if err == nil {
				t.Cleanup(func() { log.Close() })
			}
			return err
		}, append([]string{"trash"}, appending...), []string{"is locked by process", "tail -f " + first}, app.ExitLocked},
		{"damaged", func(d *desk) error { return replaceIn(d, "rounds", "soundr") },
			append(reading, appending...), []string{"checksum mismatch", "repair " + first}, app.ExitDamaged},
		{"of a newer version", func(d *desk) error {
			newer := projection.Record(noon, projection.SessionRenamed{Title: "x"})
			newer.Data = []byte(`{"v":99,"title":"x"}`)
			return d.dir.Append(t.Context(), first, newer)
		}, appending, []string{"upgrade agent-chatter to change it"}, app.ExitFailed},
		{"in the trash", func(d *desk) error { return d.dir.Delete(t.Context(), first) },
			any, []string{"is in the trash", "sessions restore " + first}, app.ExitNotFound},
		{"deleted", func(d *desk) error {
			return errors.Join(d.dir.Delete(t.Context(), first), trash.Of(d.dir.Journals()).Purge(first))
		}, any, []string{"No session is named", "agent-chatter sessions"}, app.ExitNotFound},
		{"moved", func(d *desk) error {
			other := filepath.Join(filepath.Dir(d.key.Dir), "other")
			err := os.Mkdir(other, 0o700)
			return errors.Join(err, os.Rename(filepath.Join(d.key.Dir, first+".jsonl"), filepath.Join(other, first+".jsonl")))
		}, any, []string{"was moved to ", "other"}, app.ExitNotFound},
		{"moved with its directory", func(d *desk) error {
			return os.Rename(d.key.Dir, filepath.Join(filepath.Dir(d.key.Dir), "other"))
		}, any, []string{"was moved to ", "other"}, app.ExitNotFound},
		{"replaced by a directory", func(d *desk) error {
			path := filepath.Join(d.key.Dir, first+".jsonl")
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		}, append(reading, appending...), []string{"it is a directory"}, app.ExitFailed},
	} {
		for _, name := range test.changes {
			d := newDesk(t)
			if err := test.prepare(d); err != nil {
				t.Fatal(test.name, err)
			}
			r, err := all[name](d)()
			got := app.Explain(err).String()
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s of a session that is %s: %q has no %q", name, test.name, got, want)
				}
			}
			if app.CodeOf(err) != test.code || r.Undo != nil || r.Text != "" {
				t.Errorf("%s of a session that is %s: exit code %d, %+v", name, test.name, app.CodeOf(err), r)
			}
		}
	}
}

// replaceIn damages the first session.
func replaceIn(d *desk, old, new string) error {
	path := filepath.Join(d.key.Dir, first+".jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o600)
}

func TestRestoreErrors(t *testing.T) {
	d := newDesk(t)
	if _, err := d.Restore(t.Context(), d.key)(); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("of a session in its place: %v", err)
	}
	d.must(d.Trash(t.Context(), d.key))
	if err := trash.Of(d.dir.Journals()).Purge(first); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Restore(t.Context(), d.key)(); !strings.Contains(app.Explain(err).String(), "No session is named") {
		t.Errorf("of a session that was purged: %v", err)
	}
}

// A damaged session can be moved to the trash and back.
func TestTrashOfADamagedSession(t *testing.T) {
	d := newDesk(t)
	if err := replaceIn(d, `"session.created"`, `"session.creat!d"`); err != nil {
		t.Fatal(err)
	}
	d.must(d.must(d.Trash(t.Context(), d.key)).Undo(t.Context()))
	if !d.exists(first) {
		t.Error("it is gone")
	}
}

func TestRenameUnarchives(t *testing.T) {
	d := newDesk(t)
	if err := journaltest.Archive(t.Context(), d.dir.Journals(), first); err != nil {
		t.Fatal(err)
	}
	d.must(d.Rename(t.Context(), d.key, "new"))
	if s := d.session(first); s.Archived || s.Title != "new" {
		t.Errorf("archived %v, title %q", s.Archived, s.Title)
	}
}

// The changes of a session run in the order of their requests, and never at the same time: the lock
// would refuse the second.
func TestChangesOfASessionRunInOrder(t *testing.T) {
	const n = 30
	d := newDesk(t)
	var changes []Change
	var want []string
	for i := range n {
		title := fmt.Sprint("title ", i)
		changes = append(changes, d.Rename(t.Context(), d.key, title), d.Pin(t.Context(), d.key, i%2 == 0))
		want = append(want, title, fmt.Sprint(i%2 == 0))
	}
	other := d.Rename(t.Context(), catalog.Key{Dir: d.key.Dir, ID: second}, "another session")
	var wg sync.WaitGroup
	for _, change := range changes {
		wg.Go(func() {
			if _, err := change(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	d.must(other)
	var got []string
	for e, err := range d.dir.Events(t.Context(), first) {
		if err != nil {
			t.Fatal(err)
		}
		payload, err := projection.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		switch p := payload.(type) {
		case projection.SessionRenamed:
			got = append(got, p.Title)
		case projection.SessionPinned:
			got = append(got, fmt.Sprint(p.Pinned))
		}
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := d.Running(); n != 0 {
		t.Errorf("%d are running", n)
	}
}

// held makes the next operation that writes wait until release is called.
func (d *desk) held() (reached <-chan struct{}, release func()) {
	at, released := make(chan struct{}), make(chan struct{})
	var held atomic.Bool
	d.disk.Before(func() {
		if held.CompareAndSwap(false, true) {
			close(at)
			<-released
		}
	})
	return at, func() { close(released) }
}

func TestWait(t *testing.T) {
	d := newDesk(t)
	if err := d.Wait(t.Context()); err != nil {
		t.Errorf("without changes: %v", err)
	}
	reached, release := d.held()
	d.Rename(t.Context(), d.key, "one")
	<-reached
	d.Rename(t.Context(), d.key, "two")
	other := d.Pin(t.Context(), catalog.Key{Dir: d.key.Dir, ID: second}, true)
	if d.must(other); d.Running() != 1 {
		t.Errorf("%d sessions are being changed", d.Running())
	}
	if got := d.session(first).Title; got != "The checkout rounds down" {
		t.Errorf("a change ran while another did: the title is %q", got)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Wait(done); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is done: %v", err)
	}
	release()
	if err := d.Wait(t.Context()); err != nil || d.Running() != 0 {
		t.Errorf("%v; %d are running", err, d.Running())
	}
	if got := d.session(first).Title; got != "two" {
		t.Errorf("the title is %q", got)
	}
}

// A change that waits for another does not begin once its context is done.
func TestCancelledChange(t *testing.T) {
	d := newDesk(t)
	reached, release := d.held()
	one := d.Rename(t.Context(), d.key, "one")
	<-reached
	ctx, cancel := context.WithCancel(t.Context())
	two := d.Rename(ctx, d.key, "two")
	three := d.Pin(t.Context(), d.key, true)
	cancel()
	release()
	d.must(one)
	if _, err := two(); !errors.Is(err, context.Canceled) || app.Explain(err).Text != "" {
		t.Errorf("got %v", err)
	}
	d.must(three)
	if s := d.session(first); s.Title != "one" || !s.Pinned {
		t.Errorf("the title is %q, pinned %v", s.Title, s.Pinned)
	}
}

func TestCancelledForkLeavesNoSession(t *testing.T) {
	d := newDesk(t)
	const third = "01KAH9TQ4GJ5X8C2VRB0000003"
	d.write(third, strings.Repeat("word ", 500_000)) // several batches
	ctx, cancel := context.WithCancel(t.Context())
	d.disk.Before(cancel)
	if _, err := d.Fork(ctx, catalog.Key{Dir: d.key.Dir, ID: third}, 0)(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if list, err := d.dir.List(t.Context(), catalog.Query{}); err != nil || len(list.Sessions) != 3 {
		t.Errorf("%d sessions, %v", len(list.Sessions), err)
	}
}
