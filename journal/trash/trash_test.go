package trash_test

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
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// trashing is a journal that is moved to the trash and back while the disk fails.
type trashing struct {
	t      *testing.T
	path   string
	disk   *journaltest.FS
	dir    *journal.Dir // on the failing disk
	id     string
	name   string // of the file, live or archived
	data   []byte
	aside  []byte
	events int
}

// newTrashing creates a journal with a file set aside.
func newTrashing(t *testing.T, archived bool) *trashing {
	t.Helper()
	healthy := newDir(t)
	id := newJournal(t, healthy, 0)
	appendFile(t, filepath.Join(healthy.Path(), id+".jsonl"), []byte("half"))
	l := mustOpen(t, healthy, id)
	mustAppend(t, l, counted(16, 0))
	must(t, l.Close())
	d := &trashing{t: t, path: healthy.Path(), id: id, name: id + ".jsonl"}
	if archived {
		archive(t, healthy, id)
		d.name = "archive/" + id + ".jsonl.zst"
	}
	d.data = readFile(t, filepath.Join(d.path, d.name))
	d.aside = readFile(t, filepath.Join(d.path, id+".aside-1"))
	for _, content := range []string{"picture", "text"} {
		writeFile(t, filepath.Join(d.path, id+".attachments", content), []byte(content))
	}
	d.events = len(validEvents(t, healthy, id))
	d.disk = journaltest.New(vfs.OS)
	d.dir = journal.NewDir(d.path, journal.Options{Now: atNoon, FS: d.disk})
	return d
}

// complete checks that the journal and the file set aside from it exist once and
// unchanged. It reports whether the journal is in its place.
func (d *trashing) complete(what string) (inPlace bool) {
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
		case "picture", "text":
			want = []byte(base)
			if filepath.Base(filepath.Dir(name)) != d.id+".attachments" {
				d.t.Errorf("%s: %s is elsewhere", what, name)
			}
		default:
			continue
		}
		if !bytes.Equal(readFile(d.t, filepath.Join(d.path, name)), want) {
			d.t.Errorf("%s: %s has changed", what, name)
		}
	}
	attached := found["picture"] == 1 && found["text"] == 1
	if found[filepath.Base(d.name)] != 1 || found[d.id+".aside-1"] != 1 || !attached {
		d.t.Errorf("%s: %v\n%s", what, filesIn(d.t, d.path), d.disk)
	}
	return inPlace
}

// eachFailure runs a test with every operation failing, once or, as after the death
// of a process, from then on.
func eachFailure(t *testing.T, prepare func(d *trashing), run func(d *trashing) error, after func(d *trashing)) {
	for _, archived := range []bool{false, true} {
		for _, forever := range []bool{false, true} {
			t.Run(fmt.Sprintf("archived=%v,dead=%v", archived, forever), func(t *testing.T) {
				for n := 1; ; n++ {
					d := newTrashing(t, archived)
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
					d.complete(fmt.Sprintf("operation %d", n))
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
	eachFailure(t, func(*trashing) {}, func(d *trashing) error { return trash.Of(d.dir).Move(t.Context(), d.id) },
		func(d *trashing) {
			// A retry moves it to the trash, and it can be restored.
			if err := trash.Of(d.dir).Move(t.Context(), d.id); err != nil && !errors.Is(err, journal.ErrNotFound) {
				d.t.Error("Trash again:", err)
			}
			if d.complete("trashed again") {
				d.t.Error("it is not in the trash")
			}
			if all, err := trash.Of(d.dir).List(); err != nil || len(all) != 1 || all[0].ID != d.id ||
				!all[0].Since.Equal(noon) || all[0].Bytes != int64(len(d.data)) {
				d.t.Errorf("in the trash: %+v, %v", all, err)
			}
			must(d.t, trash.Of(d.dir).Restore(t.Context(), d.id))
			d.restored()
		})
}

func TestFailedRestoreLosesNothing(t *testing.T) {
	move := func(d *trashing) { must(d.t, trash.Of(d.dir).Move(t.Context(), d.id)) }
	eachFailure(t, move, func(d *trashing) error { return trash.Of(d.dir).Restore(t.Context(), d.id) }, func(d *trashing) {
		if err := trash.Of(d.dir).Restore(t.Context(), d.id); err != nil && !errors.Is(err, fs.ErrExist) {
			d.t.Error("Restore again:", err)
		}
		d.restored()
	})
}

// restored checks that all files are in their places.
func (d *trashing) restored() {
	d.t.Helper()
	if !d.complete("restored") {
		d.t.Errorf("it is not in its place: %v", filesIn(d.t, d.path))
	}
	for _, name := range []string{".aside-1", ".attachments/picture", ".attachments/text"} {
		if _, err := os.Stat(filepath.Join(d.path, d.id+name)); err != nil {
			d.t.Error(err)
		}
	}
	if n := len(validEvents(d.t, d.dir, d.id)); n != d.events {
		d.t.Errorf("%d events, want %d", n, d.events)
	}
	if all, err := trash.Of(d.dir).List(); err != nil || len(all) > 0 {
		d.t.Errorf("in the trash: %+v, %v", all, err)
	}
}

func TestPurgeAfterAnyFailureLeavesNoFile(t *testing.T) {
	for _, step := range []string{"trash", "purge"} {
		t.Run(step, func(t *testing.T) {
			for n := 1; ; n++ {
				d := newTrashing(t, n%2 == 0)
				neighbour := newJournal(t, d.dir, 0)
				if step == "purge" {
					must(t, trash.Of(d.dir).Move(t.Context(), d.id))
				}
				d.disk.FailFrom(n, syscall.EIO)
				if step == "trash" {
					_ = trash.Of(d.dir).Move(t.Context(), d.id)
				} else {
					_ = trash.Of(d.dir).Purge(d.id)
				}
				failed := d.disk.Failed()
				d.disk.Heal()
				if err := trash.Of(d.dir).Move(t.Context(), d.id); err != nil && !errors.Is(err, journal.ErrNotFound) {
					t.Fatal(err)
				}
				must(t, trash.Of(d.dir).Purge(d.id))
				for _, name := range filesIn(t, d.path) {
					if strings.Contains(name, d.id) {
						t.Errorf("operation %d failed, and %s is left\n%s", n, name, d.disk)
					}
				}
				if len(validEvents(t, d.dir, neighbour)) != 15 {
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
	d := newTrashing(t, false)
	before := filesIn(t, d.path)
	must(t, trash.Of(d.dir).Purge(d.id))
	if after := filesIn(t, d.path); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("files %v, want %v", after, before)
	}
	d.restored()
}

func TestTrashOfALiveAndArchivedJournal(t *testing.T) {
	for n := 1; ; n++ {
		d := newTrashing(t, true)
		stale := readFile(t, filepath.Join(d.path, d.name))
		l := mustOpen(t, d.dir, d.id)
		mustAppend(t, l, counted(17, 0))
		must(t, l.Close())
		writeFile(t, filepath.Join(d.path, d.name), stale) // as after a crash

		d.disk.FailFrom(n, syscall.EIO)
		err := trash.Of(d.dir).Move(t.Context(), d.id)
		d.disk.Heal()
		if _, statErr := d.dir.Stat(d.id); statErr == nil {
			if got := len(validEvents(t, d.dir, d.id)); got != d.events+1 {
				t.Fatalf("operation %d: %d events are in place, want %d\n%s", n, got, d.events+1, d.disk)
			}
			must(t, trash.Of(d.dir).Move(t.Context(), d.id))
		}
		if all, err := trash.Of(d.dir).List(); err != nil || len(all) != 1 {
			t.Errorf("operation %d: in the trash: %+v, %v", n, all, err)
		}
		must(t, trash.Of(d.dir).Restore(t.Context(), d.id))
		if got := len(validEvents(t, d.dir, d.id)); got != d.events+1 {
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
			archive(t, dir, id)
			name = "archive/" + id + ".jsonl.zst"
		}
		earlier := readFile(t, filepath.Join(dir.Path(), name))
		writeFile(t, filepath.Join(dir.Path(), id+".attachments", "1"), []byte("attached to the first"))
		must(t, trash.Of(dir).Move(t.Context(), id))

		again, err := dir.Create(id)
		must(t, err)
		mustAppend(t, again, counted(1, 0))
		must(t, again.Close())
		writeFile(t, filepath.Join(dir.Path(), id+".aside-1"), []byte("of the second"))
		writeFile(t, filepath.Join(dir.Path(), id+".attachments", "2"), []byte("attached to the second"))
		must(t, trash.Of(dir).Move(t.Context(), id))

		var kept [][]byte
		for _, file := range filesIn(t, dir.Path()) {
			kept = append(kept, readFile(t, filepath.Join(dir.Path(), file)))
		}
		for what, want := range map[string][]byte{
			"the earlier journal":                   earlier,
			"what was set aside from it":            []byte("half"),
			"what was set aside from the later one": []byte("of the second"),
			"what was attached to it":               []byte("attached to the first"),
			"what was attached to the later one":    []byte("attached to the second"),
		} {
			if !slices.ContainsFunc(kept, func(data []byte) bool { return bytes.Equal(data, want) }) {
				t.Errorf("archived=%v: %s is lost: %v", archived, what, filesIn(t, dir.Path()))
			}
		}
		must(t, trash.Of(dir).Restore(t.Context(), id))
		if n := len(validEvents(t, dir, id)); n != 1 {
			t.Errorf("archived=%v: restored %d events, not those of the later journal", archived, n)
		}
	}
}

func TestFailedTrashKeepsAnEarlierJournal(t *testing.T) {
	for _, forever := range []bool{false, true} {
		for n := 1; ; n++ {
			d := newTrashing(t, n%2 == 0)
			must(t, trash.Of(d.dir).Move(t.Context(), d.id))
			again, err := d.dir.Create(d.id)
			must(t, err)
			mustAppend(t, again, counted(1, 0))
			must(t, again.Close())
			later := readFile(t, filepath.Join(d.path, d.id+".jsonl"))
			if d.disk.Fail(n, syscall.EIO); forever {
				d.disk.FailFrom(n, syscall.EIO)
			}
			_ = trash.Of(d.dir).Move(t.Context(), d.id)
			failed := d.disk.Failed()
			d.disk.Heal()
			if err := trash.Of(d.dir).Move(t.Context(), d.id); err != nil && !errors.Is(err, journal.ErrNotFound) {
				t.Errorf("operation %d: Trash again: %v", n, err)
			}
			found := map[string]int{}
			for _, file := range filesIn(t, d.path) {
				found[string(readFile(t, filepath.Join(d.path, file)))]++
			}
			for what, data := range map[string][]byte{"the earlier": d.data,
				"what was set aside from it": d.aside, "the later": later} {
				if found[string(data)] != 1 {
					t.Errorf("operation %d: %s is there %d times\n%s", n, what, found[string(data)], d.disk)
				}
			}
			must(t, trash.Of(d.dir).Restore(t.Context(), d.id))
			if events := len(validEvents(t, d.dir, d.id)); events != 1 {
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
	must(t, trash.Of(dir).Move(t.Context(), id))
	lock, err := vfs.LockFile(vfs.OS, filepath.Join(dir.Path(), id+".lock")) // as the first Append does
	must(t, err)
	if err := trash.Of(dir).Restore(t.Context(), id); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("Restore: %v", err)
	}
	must(t, lock.Close())
	must(t, trash.Of(dir).Restore(t.Context(), id))
}

func TestTrashOfALockedJournal(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	l := mustOpen(t, dir, id)
	var locked *journal.LockedError
	if err := trash.Of(dir).Move(t.Context(), id); !errors.As(err, &locked) || locked.Holder.PID != os.Getpid() {
		t.Errorf("Trash: %v", err)
	}
	must(t, l.Close())
	must(t, trash.Of(dir).Move(t.Context(), id))
}

func TestRestoreOfAMissingJournal(t *testing.T) {
	dir := newDir(t)
	if all, err := trash.Of(dir).List(); err != nil || len(all) > 0 {
		t.Errorf("the trash of a missing directory: %+v, %v", all, err)
	}
	if err := trash.Of(dir).Restore(t.Context(), dir.NewID()); !errors.Is(err, journal.ErrNotFound) {
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
		must(t, trash.Of(dir).Move(t.Context(), id))
		writeFile(t, filepath.Join(dir.Path(), "trash", id+".trashed"), []byte(date))
		all, err := trash.Of(dir).List()
		if err != nil || len(all) != 1 || !all[0].Since.IsZero() {
			t.Errorf("%q: %+v, %v", date, all, err)
		}
	}
}

// timeFirst is a file system on which a directory lists the times in the trash first.
type timeFirst struct{ vfs.FS }

func (f timeFirst) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := f.FS.ReadDir(name)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int {
		rank := map[bool]int{true: -1, false: 1}
		return rank[strings.HasSuffix(a.Name(), ".trashed")] - rank[strings.HasSuffix(b.Name(), ".trashed")]
	})
	return entries, err
}

// A retention pass purges what was in the trash long enough: the time must be known as
// long as there is anything to purge.
func TestInterruptedPurgeKeepsTheTime(t *testing.T) {
	for n := 1; ; n++ {
		d := newTrashing(t, n%2 == 0)
		must(t, trash.Of(d.dir).Move(t.Context(), d.id))
		d.disk.FailFrom(n, syscall.EIO, journaltest.Remove)
		dir := journal.NewDir(d.path, journal.Options{Now: atNoon, FS: timeFirst{d.disk}})
		if err := trash.Of(dir).Purge(d.id); err == nil {
			if n < 3 {
				t.Errorf("only %d files were removed", n-1)
			}
			return
		}
		left, err := filepath.Glob(filepath.Join(d.path, "trash", d.id+".*"))
		must(t, err)
		if len(left) > 0 && !slices.Contains(left, filepath.Join(d.path, "trash", d.id+".trashed")) {
			t.Errorf("removal %d failed, and %q is left", n, left)
		}
	}
}

// Between the first look of Restore and its lock, another process can create a journal
// of that name.
func TestRestoreKeepsAJournalCreatedMeanwhile(t *testing.T) {
	d := newTrashing(t, false)
	must(t, trash.Of(d.dir).Move(t.Context(), d.id))
	path := filepath.Join(d.path, d.id+".jsonl")
	d.disk.Before(func() {
		d.disk.Before(nil)
		must(t, os.WriteFile(path, []byte("new\n"), 0o600))
	})
	if err := trash.Of(d.dir).Restore(t.Context(), d.id); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Restore: %v", err)
	}
	if got := string(readFile(t, path)); got != "new\n" {
		t.Errorf("the new journal is %q", got)
	}
	if all, err := trash.Of(d.dir).List(); err != nil || len(all) != 1 {
		t.Errorf("in the trash: %+v, %v", all, err)
	}
}

const (
	sessions = "/home/journals"
	id1      = "01KAHV6T3R8Q4Y2M0N7C5B0001"
)

// changedMeanwhile is a journal with a file set aside, which hook changes at the next
// operation.
func changedMeanwhile(t *testing.T, hook func(mem *journaltest.Mem)) (mem *journaltest.Mem, dir *journal.Dir) {
	t.Helper()
	mem = journaltest.NewMem()
	must(t, mem.Mkdir("/home", 0o700))
	disk := journaltest.New(mem)
	dir = journal.NewDir(sessions, journal.Options{FS: disk, Now: atNoon})
	l, err := dir.Create(id1)
	must(t, err)
	mustAppend(t, l, counted(1, 0))
	must(t, l.Close())
	must(t, vfs.WriteFile(mem, sessions+"/"+id1+".aside-1", []byte("half")))
	disk.Before(func() { hook(mem) })
	return mem, dir
}

func TestTrashOfAJournalRemovedMeanwhile(t *testing.T) {
	_, dir := changedMeanwhile(t, func(mem *journaltest.Mem) { mem.Remove(sessions + "/" + id1 + ".jsonl") })
	if err := trash.Of(dir).Move(t.Context(), id1); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("Trash: %v", err)
	}
}

func TestTrashIgnoresAnAsideFileRemovedMeanwhile(t *testing.T) {
	_, dir := changedMeanwhile(t, func(mem *journaltest.Mem) { mem.Remove(sessions + "/" + id1 + ".aside-1") })
	must(t, trash.Of(dir).Move(t.Context(), id1))
	if all, err := trash.Of(dir).List(); err != nil || len(all) != 1 {
		t.Errorf("in the trash: %+v, %v", all, err)
	}
}

func TestPurgeKeepsAJournalRestoredMeanwhile(t *testing.T) {
	restore := false
	_, dir := changedMeanwhile(t, func(mem *journaltest.Mem) {
		if restore {
			mem.Rename(sessions+"/trash/"+id1+".jsonl", sessions+"/"+id1+".jsonl")
		}
	})
	bin := trash.Of(dir)
	must(t, bin.Purge("01KAHV6T3R8Q4Y2M0N7C5B0002")) // it has read the names in the directory
	must(t, trash.Of(dir).Move(t.Context(), id1))
	restore = true
	must(t, bin.Purge(id1))
	if _, err := dir.Stat(id1); err != nil {
		t.Error(err)
	}
}

func TestTrashAndPurgeReportWhatTheyLeave(t *testing.T) {
	for _, kind := range []journaltest.Kind{journaltest.Read, journaltest.Rename, journaltest.Remove} {
		for i, failed := 2, true; failed || i%2 == 1; i++ {
			n, archived := i/2, i%2 == 1
			d := newTrashing(t, archived)
			d.disk.Fail(n, syscall.EIO, kind)
			trashErr := trash.Of(d.dir).Move(t.Context(), d.id)
			failed = d.disk.Failed()
			d.disk.Heal()
			if inPlace := d.complete("trashed"); inPlace && trashErr == nil {
				t.Errorf("%s %d failed: Trash reports no error, and the journal is in its place", kind, n)
			}
			if left, _ := filepath.Glob(filepath.Join(d.path, d.id+".aside-*")); len(left) > 0 && trashErr == nil {
				t.Errorf("%s %d failed: Trash reports no error and leaves %q", kind, n, left)
			}

			d = newTrashing(t, archived)
			must(t, trash.Of(d.dir).Move(t.Context(), d.id))
			d.disk.Fail(n, syscall.EIO, kind)
			purgeErr := trash.Of(d.dir).Purge(d.id)
			failed = failed || d.disk.Failed()
			d.disk.Heal()
			if left, _ := filepath.Glob(filepath.Join(d.path, "trash", d.id+".*")); len(left) > 0 && purgeErr == nil {
				t.Errorf("%s %d failed: Purge reports no error and leaves %q", kind, n, left)
			}
		}
	}
}
