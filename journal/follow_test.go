package journal_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// notificationModes are the ways in which a follower is woken.
var notificationModes = map[string]func(*journal.Dir) *journal.Dir{
	"notified": func(d *journal.Dir) *journal.Dir { return d },
	"polling":  (*journal.Dir).WithoutNotifications,
}

func TestFollowBeforeTheJournalExists(t *testing.T) {
	for name, way := range notificationModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			l := mustCreate(t, dir)
			started := make(chan struct{})
			appended := make(chan []journal.Event, 2)
			disk := &hooks{FS: vfs.OS, stat: func(string) { closeOnce(started) }}
			f := follow(t, way(journal.NewDir(dir.Path(), journal.Options{FS: disk})), l.ID(), journal.Position{})
			go func() {
				<-started // it has checked once and found nothing
				for n := range 2 {
					events, err := l.Append(batch(3*n+1, 3*n+3, 10)...)
					if err != nil {
						t.Error(err)
					}
					appended <- events
				}
			}()
			first, err, ok := f.next()
			if err != nil || !ok {
				t.Fatal("no event:", err)
			}
			events := append(<-appended, <-appended...)
			same(t, "the first", []journal.Event{first}, events[:1])
			f.expect(events[1:]...)
		})
	}
}

func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// hooks is a file system that reports some calls.
type hooks struct {
	vfs.FS
	stat   func(name string)            // called after Stat
	readAt func(name string, end int64) // called after ReadAt, which read up to end
}

func (h *hooks) Stat(name string) (fs.FileInfo, error) {
	info, err := h.FS.Stat(name)
	if h.stat != nil {
		h.stat(name)
	}
	return info, err
}

func (h *hooks) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := h.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return hookedFile{f, h, name}, nil
}

type hookedFile struct {
	vfs.File
	hooks *hooks
	name  string
}

func (f hookedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	if f.hooks.readAt != nil {
		f.hooks.readAt(f.name, off+int64(n))
	}
	return n, err
}

func TestIncompleteLinesAreNeverDelivered(t *testing.T) {
	for name, way := range notificationModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := newDir(t)
			id := newJournal(t, source, 20)
			events := validEvents(t, source, id)
			data := readFile(t, filepath.Join(source.Path(), id+".jsonl"))

			dir := newDir(t)
			path := filepath.Join(dir.Path(), id+".jsonl")
			writeFile(t, path, nil)
			file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			must(t, err)
			defer file.Close()
			// Whenever the follower has read all bytes, one more is written.
			written := 0
			disk := &hooks{FS: vfs.OS, readAt: func(_ string, end int64) {
				if end == int64(written) && written < len(data) {
					file.Write(data[written : written+1])
					written++
				}
			}}
			file.Write(data[:1])
			written = 1
			f := follow(t, way(journal.NewDir(dir.Path(), journal.Options{FS: disk})), id, journal.Position{})
			f.expect(events...)
		})
	}
}

func TestReplacementOfAnIncompleteLineIsDelivered(t *testing.T) {
	source := newDir(t)
	id := newJournal(t, source, 20)
	events := validEvents(t, source, id)[:3]
	lines := splitLines(readFile(t, filepath.Join(source.Path(), id+".jsonl")))
	for name, length := range map[string]int{
		"shorter": len(lines[1]) - 5, "as long": len(lines[1]), "longer": len(lines[1]) + 5,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			path := filepath.Join(dir.Path(), id+".jsonl")
			writeFile(t, path, slices.Concat(lines[0], bytes.Repeat([]byte("x"), length)))
			var once sync.Once
			disk := &hooks{FS: vfs.OS, readAt: func(_ string, end int64) {
				if end == int64(len(lines[0])+length) {
					once.Do(func() {
						must(t, os.Truncate(path, int64(len(lines[0]))))
						appendFile(t, path, lines[1])
					})
				}
			}}
			f := follow(t, journal.NewDir(dir.Path(), journal.Options{FS: disk}), id, journal.Position{})
			f.expect(events[:2]...)
			appendFile(t, path, lines[2])
			f.expect(events[2])
		})
	}
}

func TestFollowAfterAFailedSync(t *testing.T) {
	disk := journaltest.New(vfs.OS)
	dir := journal.NewDir(t.TempDir(), journal.Options{FS: disk})
	l := mustCreate(t, dir)
	f := follow(t, dir, l.ID(), journal.Position{})
	f.expect(mustAppend(t, l, batch(1, 3, 10)...)...)
	unread := mustAppend(t, l, counted(4, 10))
	disk.Fail(1, syscall.EIO, journaltest.Sync)
	if err := l.Sync(); err == nil {
		t.Fatal("the sync did not fail")
	}
	recovered, err := l.Recover(t.Context())
	must(t, err)
	f.expect(slices.Concat(unread, recovered)...)
	f.expect(mustAppend(t, l, counted(5, 10))...)
}

func TestFollowOfAnArchivedJournal(t *testing.T) {
	for name, way := range notificationModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			id := newJournal(t, dir, 10)
			events := validEvents(t, dir, id)
			early := follow(t, way(dir), id, journal.Position{})
			early.expect(events...)
			slow := follow(t, way(dir), id, journal.Position{})
			slow.expect(events[:5]...)
			seen := 5
			for n := range 3 {
				must(t, dir.Archive(t.Context(), id))
				late := follow(t, way(dir), id, journal.Position{})
				late.expect(events...)
				slow.expect(events[seen : seen+3]...)
				seen += 3
				l := mustOpen(t, dir, id)
				added := mustAppend(t, l, batch(100*n, 100*n+n, 10)...)
				must(t, l.Close())
				late.expect(added...)
				early.expect(added...)
				events = append(events, added...)
			}
			slow.expect(events[seen:]...)
		})
	}
}

// positionAfter returns the position after the nth event.
func positionAfter(t *testing.T, dir *journal.Dir, id string, n int) journal.Position {
	t.Helper()
	r, err := dir.Reader(id, journal.Position{})
	must(t, err)
	defer r.Close()
	for e, err := range r.All() {
		must(t, err)
		if e.Seq == uint64(n) {
			break
		}
	}
	return r.Position()
}

func TestUnchangedArchiveIsReadOnce(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	events := validEvents(t, dir, id)
	must(t, dir.Archive(t.Context(), id))
	checks, added := 0, []journal.Event(nil)
	disk := journaltest.New(&hooks{FS: vfs.OS, stat: func(name string) {
		if strings.HasSuffix(name, ".zst") {
			checks++
		}
		if checks == 3 && added == nil {
			l, err := dir.Open(t.Context(), id)
			must(t, err)
			added = mustAppend(t, l, counted(16, 0))
			must(t, l.Close())
		}
	}})
	f := follow(t, journal.NewDir(dir.Path(), journal.Options{FS: disk}), id, journal.Position{})
	f.expect(events...)
	read := disk.Count(journaltest.Read)
	e, err, _ := f.next()
	must(t, err)
	same(t, "back", []journal.Event{e}, added)
	if checks < 3 || disk.Count(journaltest.Read)-read > 20 {
		t.Errorf("%d checks, %d reads", checks, disk.Count(journaltest.Read)-read)
	}
}

func TestDeletionEndsFollow(t *testing.T) {
	for name, way := range notificationModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			id := newJournal(t, dir, 0)
			f := follow(t, way(dir), id, journal.Position{})
			f.expect(validEvents(t, dir, id)...)
			must(t, trash.Of(dir).Move(t.Context(), id))
			if err := f.end(); !errors.Is(err, journal.ErrNotFound) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestReplacementByAnotherHistoryEndsFollow(t *testing.T) {
	other := newDir(t)
	otherID := newJournal(t, other, 33)
	lines := splitLines(readFile(t, filepath.Join(other.Path(), otherID+".jsonl")))
	for name, content := range map[string][][]byte{
		"as long": lines, "shorter": lines[:4], "empty": nil, "longer": append(slices.Clone(lines),
			[]byte("incomplete")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			id := newJournal(t, dir, 0)
			path := filepath.Join(dir.Path(), id+".jsonl")
			f := follow(t, dir, id, journal.Position{})
			f.expect(validEvents(t, dir, id)...)
			writeFile(t, path+".new", bytes.Join(content, nil))
			must(t, os.Rename(path+".new", path))
			if err := f.end(); !errors.Is(err, journal.ErrReplaced) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestFollowFromAPositionOfAnotherHistory(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	at := positionAfter(t, dir, id, 7)
	f := follow(t, dir, id, at)
	f.expect(validEvents(t, dir, id)[7:]...)
	for name, from := range map[string]journal.Position{
		"another sum": {Seq: at.Seq, Offset: at.Offset, Sum: at.Sum + 1},
		"the future":  {Seq: 99, Offset: 1 << 20, Sum: 1},
	} {
		if err := follow(t, dir, id, from).end(); !errors.Is(err, journal.ErrReplaced) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFollowContinuesInAnEqualCopy(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	path := filepath.Join(dir.Path(), id+".jsonl")
	f := follow(t, dir, id, journal.Position{})
	f.expect(validEvents(t, dir, id)...)
	writeFile(t, path+".new", readFile(t, path))
	must(t, os.Rename(path+".new", path))
	f.expect(mustAppend(t, mustOpen(t, dir, id), counted(16, 0))...)
}

// Between a check of one place and a check of the other, an archived journal may be
// unarchived: then it is found in neither.
func TestUnarchivingIsNotTakenForDeletion(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	unarchive := func() {
		l, err := dir.Open(t.Context(), id)
		must(t, err)
		mustAppend(t, l, counted(99, 0))
		must(t, l.Close())
	}
	armed := false
	disk := &hooks{FS: vfs.OS, stat: func(name string) {
		if armed && strings.HasSuffix(name, id+".jsonl") {
			armed = false
			unarchive()
		}
	}}
	watched := journal.NewDir(dir.Path(), journal.Options{FS: disk})

	f := follow(t, watched, id, journal.Position{})
	f.expect(validEvents(t, dir, id)...)
	must(t, dir.Archive(t.Context(), id))
	armed = true
	e, err, _ := f.next()
	if err != nil || e.Seq != 16 {
		t.Errorf("followed: event %d, %v", e.Seq, err)
	}

	must(t, dir.Archive(t.Context(), id))
	armed = true
	if info, err := watched.Stat(id); err != nil || info.Archived {
		t.Errorf("Stat: %+v, %v", info, err)
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	for name, wanted := range map[string]string{"existing": id, "missing": dir.NewID()} {
		ctx, cancel := context.WithCancel(context.Background())
		checked := make(chan struct{})
		disk := &hooks{FS: vfs.OS, stat: func(string) { closeOnce(checked) }}
		ended := make(chan error, 1)
		go func() {
			for _, err := range journal.NewDir(dir.Path(), journal.Options{FS: disk}).Follow(ctx, wanted,
				journal.Position{}) {
				if err != nil {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
		<-checked
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFollowStopsBetweenEvents(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range dir.Follow(ctx, id, journal.Position{}) {
		must(t, err)
		n++
		cancel()
	}
	if n != 1 {
		t.Errorf("%d events, want 1", n)
	}
}

func TestFollowWritesNothing(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	appendFile(t, filepath.Join(dir.Path(), id+".jsonl"), []byte("incomplete"))
	disk := journaltest.New(vfs.OS)
	f := follow(t, journal.NewDir(dir.Path(), journal.Options{FS: disk}), id, journal.Position{})
	for n := range 15 {
		if e, err, _ := f.next(); err != nil || e.Seq != uint64(n)+1 {
			t.Fatalf("event %d, %v", e.Seq, err)
		}
	}
	if n := disk.Count(); n > 0 {
		t.Errorf("%d operations change something:\n%s", n, disk)
	}
}
