package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
)

// discarded is a journal that is moved to the trash and back while the disk
// fails.
type discarded struct {
	t      *testing.T
	path   string
	disk   *journaltest.FS
	dir    *journal.Dir // on the disk that fails
	id     string
	name   string // of the file, live or archived
	data   []byte
	aside  []byte
	events int
}

// newDiscarded makes a journal from which something was set aside.
func newDiscarded(t *testing.T, archived bool) *discarded {
	t.Helper()
	sane := newDir(t)
	id := newJournal(t, sane, 0)
	appendFile(t, filepath.Join(sane.Path(), id+".jsonl"), []byte("half"))
	l := mustOpen(t, sane, id)
	mustAppend(t, l, counted(16, 0))
	must(t, l.Close())
	d := &discarded{t: t, path: sane.Path(), id: id, name: id + ".jsonl"}
	if archived {
		must(t, sane.Archive(id))
		d.name = "archive/" + id + ".jsonl.zst"
	}
	d.data = readFile(t, filepath.Join(d.path, d.name))
	d.aside = readFile(t, filepath.Join(d.path, id+".aside-1"))
	d.events = len(sound(t, sane, id))
	d.disk = journaltest.New(journal.OS)
	d.dir = journal.NewDir(d.path, journal.Options{Now: atNoon, FS: d.disk})
	return d
}

// whole checks that the journal and what was set aside from it are there, once
// and unchanged, and says whether the journal is in its place.
func (d *discarded) whole(what string) (inPlace bool) {
	d.t.Helper()
	found := map[string]int{}
	for _, name := range filesIn(d.t, d.path) {
		base := filepath.Base(name)
		found[base]++
		var want []byte
		switch base {
		case filepath.Base(d.name):
			want, inPlace = d.data, name == d.name
		case d.id + ".aside-1":
			want = d.aside
		default:
			continue
		}
		if !bytes.Equal(readFile(d.t, filepath.Join(d.path, name)), want) {
			d.t.Errorf("%s: %s has changed", what, name)
		}
	}
	if found[filepath.Base(d.name)] != 1 || found[d.id+".aside-1"] != 1 {
		d.t.Errorf("%s: %v\n%s", what, filesIn(d.t, d.path), d.disk)
	}
	return inPlace
}

// eachFailure runs a test with every operation failing, once or, as a dead
// program leaves it, from then on.
func eachFailure(t *testing.T, prepare func(d *discarded), run func(d *discarded) error, after func(d *discarded)) {
	for _, archived := range []bool{false, true} {
		for _, forever := range []bool{false, true} {
			t.Run(fmt.Sprintf("archived=%v,dead=%v", archived, forever), func(t *testing.T) {
				for n := 1; ; n++ {
					d := newDiscarded(t, archived)
					prepare(d)
					fail := d.disk.Fail
					if forever {
						fail = d.disk.FailFrom
					}
					fail(n, syscall.EIO)
					err := run(d)
					failed := d.disk.Failed()
					d.disk.Heal()
					if err != nil && !errors.Is(err, syscall.EIO) {
						t.Fatalf("operation %d: %v\n%s", n, err, d.disk)
					}
					d.whole(fmt.Sprintf("operation %d", n))
					after(d)
					if t.Failed() {
						t.Fatalf("operation %d failed\n%s", n, d.disk)
					}
					if !failed {
						return
					}
				}
			})
		}
	}
}

func TestFailedTrashLosesNothing(t *testing.T) {
	eachFailure(t, func(*discarded) {}, func(d *discarded) error { return d.dir.Trash(d.id) }, func(d *discarded) {
		// Whoever tries again has it in the trash, and gets it back whole.
		if err := d.dir.Trash(d.id); err != nil && !errors.Is(err, journal.ErrNotFound) {
			d.t.Error("Trash again:", err)
		}
		if d.whole("trashed again") {
			d.t.Error("it is not in the trash")
		}
		if all, err := d.dir.ListTrash(); err != nil || len(all) != 1 || all[0].ID != d.id || !all[0].Since.Equal(noon) || all[0].Bytes != int64(len(d.data)) {
			d.t.Errorf("in the trash: %+v, %v", all, err)
		}
		must(d.t, d.dir.Restore(d.id))
		d.restored()
	})
}

func TestFailedRestoreLosesNothing(t *testing.T) {
	trash := func(d *discarded) { must(d.t, d.dir.Trash(d.id)) }
	eachFailure(t, trash, func(d *discarded) error { return d.dir.Restore(d.id) }, func(d *discarded) {
		if err := d.dir.Restore(d.id); err != nil && !errors.Is(err, fs.ErrExist) {
			d.t.Error("Restore again:", err)
		}
		d.restored()
	})
}

// restored checks that everything is where it was.
func (d *discarded) restored() {
	d.t.Helper()
	if !d.whole("restored") {
		d.t.Errorf("it is not in its place: %v", filesIn(d.t, d.path))
	}
	if _, err := os.Stat(filepath.Join(d.path, d.id+".aside-1")); err != nil {
		d.t.Error(err)
	}
	if n := len(sound(d.t, d.dir, d.id)); n != d.events {
		d.t.Errorf("%d events, want %d", n, d.events)
	}
	if all, err := d.dir.ListTrash(); err != nil || len(all) > 0 {
		d.t.Errorf("in the trash: %+v, %v", all, err)
	}
}

func TestPurgeAfterAnyFailureLeavesNoFile(t *testing.T) {
	for _, step := range []string{"trash", "purge"} {
		t.Run(step, func(t *testing.T) {
			for n := 1; ; n++ {
				d := newDiscarded(t, n%2 == 0)
				neighbour := newJournal(t, d.dir, 0)
				if step == "purge" {
					must(t, d.dir.Trash(d.id))
				}
				d.disk.FailFrom(n, syscall.EIO)
				if step == "trash" {
					_ = d.dir.Trash(d.id)
				} else {
					_ = d.dir.Purge(d.id)
				}
				failed := d.disk.Failed()
				d.disk.Heal()
				if err := d.dir.Trash(d.id); err != nil && !errors.Is(err, journal.ErrNotFound) {
					t.Fatal(err)
				}
				must(t, d.dir.Purge(d.id))
				for _, name := range filesIn(t, d.path) {
					if strings.Contains(name, d.id) {
						t.Errorf("operation %d failed, and %s is left\n%s", n, name, d.disk)
					}
				}
				if len(sound(t, d.dir, neighbour)) != 15 {
					t.Error("another journal was touched")
				}
				if t.Failed() || !failed {
					return
				}
			}
		})
	}
}

func TestPurgeKeepsALiveJournal(t *testing.T) {
	d := newDiscarded(t, false)
	before := filesIn(t, d.path)
	must(t, d.dir.Purge(d.id))
	if after := filesIn(t, d.path); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("files %v, want %v", after, before)
	}
	d.restored()
}

func TestTrashOfALiveAndArchivedJournal(t *testing.T) {
	for n := 1; ; n++ {
		d := newDiscarded(t, true)
		stale := readFile(t, filepath.Join(d.path, d.name))
		l := mustOpen(t, d.dir, d.id)
		mustAppend(t, l, counted(17, 0))
		must(t, l.Close())
		writeFile(t, filepath.Join(d.path, d.name), stale) // as a crash leaves it

		d.disk.FailFrom(n, syscall.EIO)
		err := d.dir.Trash(d.id)
		d.disk.Heal()
		if _, statErr := d.dir.Stat(d.id); statErr == nil {
			if got := len(sound(t, d.dir, d.id)); got != d.events+1 {
				t.Fatalf("operation %d: %d events are in place, want %d\n%s", n, got, d.events+1, d.disk)
			}
			must(t, d.dir.Trash(d.id))
		}
		if all, err := d.dir.ListTrash(); err != nil || len(all) != 1 {
			t.Errorf("operation %d: in the trash: %+v, %v", n, all, err)
		}
		must(t, d.dir.Restore(d.id))
		if got := len(sound(t, d.dir, d.id)); got != d.events+1 {
			t.Errorf("operation %d: restored %d events, want %d", n, got, d.events+1)
		}
		if err == nil || t.Failed() {
			return
		}
	}
}

func TestTrashKeepsAnEarlierJournal(t *testing.T) {
	for _, archived := range []bool{false, true} {
		dir := newDir(t)
		id := newJournal(t, dir, 0)
		appendFile(t, filepath.Join(dir.Path(), id+".jsonl"), []byte("half"))
		l := mustOpen(t, dir, id)
		mustAppend(t, l, counted(16, 0))
		must(t, l.Close())
		name := id + ".jsonl"
		if archived {
			must(t, dir.Archive(id))
			name = "archive/" + id + ".jsonl.zst"
		}
		earlier := readFile(t, filepath.Join(dir.Path(), name))
		must(t, dir.Trash(id))

		again, err := dir.Create(id)
		must(t, err)
		mustAppend(t, again, counted(1, 0))
		must(t, again.Close())
		writeFile(t, filepath.Join(dir.Path(), id+".aside-1"), []byte("of the second"))
		must(t, dir.Trash(id))

		var kept [][]byte
		for _, file := range filesIn(t, dir.Path()) {
			kept = append(kept, readFile(t, filepath.Join(dir.Path(), file)))
		}
		for what, want := range map[string][]byte{"the earlier journal": earlier, "what was set aside of it": []byte("half"), "what was set aside of the later": []byte("of the second")} {
			if !slices.ContainsFunc(kept, func(data []byte) bool { return bytes.Equal(data, want) }) {
				t.Errorf("archived=%v: %s is lost: %v", archived, what, filesIn(t, dir.Path()))
			}
		}
		must(t, dir.Restore(id))
		if n := len(sound(t, dir, id)); n != 1 {
			t.Errorf("archived=%v: restored %d events, not those of the later journal", archived, n)
		}
	}
}

func TestFailedTrashKeepsAnEarlierJournal(t *testing.T) {
	for _, forever := range []bool{false, true} {
		for n := 1; ; n++ {
			d := newDiscarded(t, n%2 == 0)
			must(t, d.dir.Trash(d.id))
			again, err := d.dir.Create(d.id)
			must(t, err)
			mustAppend(t, again, counted(1, 0))
			must(t, again.Close())
			later := readFile(t, filepath.Join(d.path, d.id+".jsonl"))
			if d.disk.Fail(n, syscall.EIO); forever {
				d.disk.FailFrom(n, syscall.EIO)
			}
			_ = d.dir.Trash(d.id)
			failed := d.disk.Failed()
			d.disk.Heal()
			if err := d.dir.Trash(d.id); err != nil && !errors.Is(err, journal.ErrNotFound) {
				t.Errorf("operation %d: Trash again: %v", n, err)
			}
			found := map[string]int{}
			for _, file := range filesIn(t, d.path) {
				found[string(readFile(t, filepath.Join(d.path, file)))]++
			}
			for what, data := range map[string][]byte{"the earlier": d.data, "what was set aside of it": d.aside, "the later": later} {
				if found[string(data)] != 1 {
					t.Errorf("operation %d: %s is there %d times\n%s", n, what, found[string(data)], d.disk)
				}
			}
			must(t, d.dir.Restore(d.id))
			if events := len(sound(t, d.dir, d.id)); events != 1 {
				t.Errorf("operation %d: %d events are restored", n, events)
			}
			if !failed || t.Failed() {
				break
			}
		}
	}
}

func TestRestoreDoesNotReplaceANewJournal(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	must(t, dir.Trash(id))
	unlock, err := journal.OS.Lock(filepath.Join(dir.Path(), id+".lock")) // as the first append does first
	must(t, err)
	if err := dir.Restore(id); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("Restore: %v", err)
	}
	must(t, unlock())
	must(t, dir.Restore(id))
}

func TestTrashOfALockedJournal(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	l := mustOpen(t, dir, id)
	var locked *journal.LockedError
	if err := dir.Trash(id); !errors.As(err, &locked) || locked.Holder.PID != os.Getpid() {
		t.Errorf("Trash: %v", err)
	}
	must(t, l.Close())
	must(t, dir.Trash(id))
}

func TestRestoreOfAMissingJournal(t *testing.T) {
	dir := newDir(t)
	if all, err := dir.ListTrash(); err != nil || len(all) > 0 {
		t.Errorf("the trash of nothing: %+v, %v", all, err)
	}
	if err := dir.Restore(dir.NewID()); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("Restore: %v", err)
	}
	if names := filesIn(t, filepath.Dir(dir.Path())); len(names) > 0 {
		t.Errorf("it left %v", names)
	}
}

func TestUnreadableTrashTimeIsUnknown(t *testing.T) {
	for _, date := range []string{"", "yesterday", "2026-11-21\n"} {
		dir := newDir(t)
		id := newJournal(t, dir, 0)
		must(t, dir.Trash(id))
		writeFile(t, filepath.Join(dir.Path(), "trash", id+".trashed"), []byte(date))
		all, err := dir.ListTrash()
		if err != nil || len(all) != 1 || !all[0].Since.IsZero() {
			t.Errorf("%q: %+v, %v", date, all, err)
		}
	}
}
