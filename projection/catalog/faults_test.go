package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// teamLives are sequences of operations on the sessions of a team.
var teamLives = []struct {
	name string
	live func(*teamLife)
}{
	{"two sessions, listed and closed", func(l *teamLife) {
		l.begin(1)
		l.say(1, "hello")
		l.close(1)
		l.begin(2)
		l.say(2, "and", "goodbye")
		l.list()
		l.close(2)
		l.resume(1)
		l.say(1, "again")
		l.close(1)
		l.list()
	}},
	{"a checkpoint and later events", func(l *teamLife) {
		l.begin(1)
		l.say(1, "one")
		l.checkpoint(1)
		l.say(1, "two")
		l.close(1)
		l.resume(1)
		l.checkpoint(1)
		l.say(1, "three")
		l.checkpoint(1)
		l.close(1)
	}},
	{"archived, renamed, archived again", func(l *teamLife) {
		l.begin(1)
		l.say(1, "one")
		l.checkpoint(1)
		l.close(1)
		l.begin(2)
		l.say(2, "two")
		l.close(2)
		l.retain(24 * time.Hour)
		l.list()
		l.do("Append", func(team *catalog.Dir) error {
			return team.Append(ctx, id(1), after(50, projection.SessionRenamed{Title: "renamed"}))
		})
		l.retain(48 * time.Hour)
		l.list()
	}},
	{"deleted, restored, deleted", func(l *teamLife) {
		l.begin(1)
		l.say(1, "one")
		l.checkpoint(1)
		l.close(1)
		l.begin(2)
		l.say(2, "two")
		l.close(2)
		l.list()
		l.remove(1)
		l.list()
		l.restore(1)
		l.list()
		l.remove(2)
	}},
}

// With -full, each operation fails in every way. Otherwise every second one fails once.
func TestEveryFault(t *testing.T) {
	tried := &triedImages{seen: map[[32]byte]bool{}}
	t.Run("lives", func(t *testing.T) {
		for _, c := range teamLives {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				cutTeam(t, tried, c.live)
				for _, f := range []struct {
					name string
					fail func(d *journaltest.FS, nth int)
				}{
					{"EIO once", func(d *journaltest.FS, n int) { d.Fail(n, syscall.EIO) }},
					{"ENOSPC for a while", func(d *journaltest.FS, n int) {
						d.HalfWrites(true)
						d.FailFrom(n, syscall.ENOSPC, journaltest.Write, journaltest.Open, journaltest.Rename,
							journaltest.Mkdir)
					}},
					{"EROFS for a while", func(d *journaltest.FS, n int) { d.FailFrom(n, syscall.EROFS) }},
					{"EACCES once on read", func(d *journaltest.FS, n int) {
						d.Fail(n, syscall.EACCES,
							journaltest.Read)
					}},
				} {
					if !sizetest.Full() && f.name != "EIO once" {
						continue
					}
					t.Run(f.name, func(t *testing.T) { failTeam(t, tried, c.live, f.fail) })
				}
			})
		}
	})
	t.Logf("%d operations failed, %d power cuts left %d different disks",
		tried.faults.Load(), tried.cuts.Load(), len(tried.seen))
}

func TestErrorOfReadingTheDirectoryIsReturned(t *testing.T) {
	disk := journaltest.New(vfs.OS)
	c := catalog.New(t.TempDir(), journal.Options{FS: disk})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair", 3)...)
	list(t, team)
	policy := catalog.Policy{ArchiveAfter: time.Hour}
	calls := map[string]func(context.Context) error{
		"Dir.List":      func(ctx context.Context) error { _, err := team.List(ctx, catalog.Query{}); return err },
		"Catalog.List":  func(ctx context.Context) error { _, err := c.List(ctx, catalog.Query{}); return err },
		"of a team":     func(ctx context.Context) error { _, err := c.List(ctx, catalog.Query{Team: "kitchen"}); return err },
		"Find a title":  func(ctx context.Context) error { _, _, err := c.Find(ctx, "Repair"); return err },
		"Find latest":   func(ctx context.Context) error { _, _, err := c.Find(ctx, catalog.LatestName); return err },
		"EmptyJournals": func(ctx context.Context) error { _, err := team.EmptyJournals(ctx); return err },
		"Reindex":       func(ctx context.Context) error { _, err := team.Reindex(ctx); return err },
		"ApplyRetention": func(ctx context.Context) error {
			return team.ApplyRetention(ctx, policy, created.Add(48*time.Hour), catalog.Budget{})
		},
		"UnknownFiles": func(context.Context) error { _, err := team.UnknownFiles(); return err },
		"Find an id":   func(ctx context.Context) error { _, _, err := c.Find(ctx, id(1)); return err },
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range calls {
		disk.FailFrom(1, syscall.EIO, journaltest.Read)
		if err := call(ctx); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", name, err)
		}
		disk.Heal()
		if name == "UnknownFiles" || name == "Find an id" { // a directory or a file
			continue
		}
		want := context.Canceled
		if name == "ApplyRetention" { // a later call continues
			want = nil
		}
		if err := call(done); !errors.Is(err, want) {
			t.Errorf("%s with a context that is done: %v", name, err)
		}
	}
	if s, err := team.Session(ctx, id(1)); err != nil || s.Archived {
		t.Errorf("the session is %+v, %v", s, err)
	}
}

func TestReindexReportsWhatItCannotWrite(t *testing.T) {
	disk := journaltest.New(vfs.OS)
	team := catalog.New(t.TempDir(), journal.Options{FS: disk}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair", 3)...)
	for n, want := range []error{syscall.ENOSPC, syscall.ENOSPC, nil} { // a checkpoint and the index are renamed
		disk.Fail(n+1, syscall.ENOSPC, journaltest.Rename)
		if _, err := team.Reindex(ctx); !errors.Is(err, want) {
			t.Errorf("rename %d failed: %v, want %v", n+1, err, want)
		}
	}
	disk.Heal()
	lock, err := vfs.LockFile(vfs.OS, filepath.Join(team.Journals().Path(), "sessions.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := team.Reindex(ctx); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("with a locked index: %v", err)
	}
}

// triedImages counts what a run has tried.
type triedImages struct {
	faults, cuts atomic.Int64

	mu   sync.Mutex
	seen map[[32]byte]bool
}

func (c *triedImages) add(image *journaltest.Mem) (sum [32]byte) {
	c.cuts.Add(1)
	sum = image.Sum()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[sum] = true
	return sum
}

func cutTeam(t *testing.T, tried *triedImages, live func(*teamLife)) {
	l := newTeamLife(t, tried)
	operation := uint64(0)
	cut := func() {
		operation++
		l.cut(fmt.Sprint("before operation ", operation), 8, operation)
	}
	l.disk.Before(cut)
	live(l)
	cut()
}

func failTeam(t *testing.T, tried *triedImages, live func(*teamLife), fail func(*journaltest.FS, int)) {
	step := 2
	if sizetest.Full() {
		step = 1
	}
	for n := 1; !t.Failed(); n += step {
		l := newTeamLife(t, tried)
		fail(l.disk, n)
		live(l)
		l.cut(fmt.Sprint("at the end, with failure ", n), 2, uint64(n))
		if !l.disk.Failed() {
			return
		}
		tried.faults.Add(1)
	}
}

const teamRoot = "/home/sessions"

// teamLife works on the sessions of one team, retries what fails, and records
// what was acknowledged.
type teamLife struct {
	t     *testing.T
	tried *triedImages
	mem   *journaltest.Mem
	disk  *journaltest.FS
	team  *catalog.Dir

	failures int
	open     map[int]*session
	said     map[int]int    // messages that were appended, by session
	synced   map[int]int    // those that were synced
	place    map[int]string // "in place", "in the trash"; "": either

	seen map[string]bool // images, each with what was acknowledged then
}

// session is an open session.
type session struct {
	log   *journal.Log
	state *projection.State
}

func newTeamLife(t *testing.T, tried *triedImages) *teamLife {
	mem := journaltest.NewMem()
	for _, dir := range []string{"/home", teamRoot} {
		if err := errors.Join(mem.Mkdir(dir, 0o700), mem.SyncDir("/"), mem.SyncDir("/home")); err != nil {
			t.Fatal(err)
		}
	}
	disk := journaltest.New(mem)
	return &teamLife{
		t: t, tried: tried, mem: mem, disk: disk, team: teamOn(disk),
		open: map[int]*session{}, said: map[int]int{}, synced: map[int]int{}, place: map[int]string{},
		seen: map[string]bool{},
	}
}

func teamOn(fsys vfs.FS) *catalog.Dir {
	return catalog.New(teamRoot, journal.Options{FS: fsys, Now: func() time.Time { return created }}).Team("review")
}

// try retries an operation until it succeeds or, from the second time on,
// returns one of the errors that mean that it was done before. It reports
// whether it succeeded.
func (l *teamLife) try(what string, do func() error, done ...error) (succeeded bool) {
	l.t.Helper()
	for attempt := 0; ; attempt++ {
		err := do()
		if err == nil {
			return true
		}
		if attempt > 0 && slices.ContainsFunc(done, func(d error) bool { return errors.Is(err, d) }) {
			return false
		}
		if l.failures++; !l.disk.Failed() || l.failures > 20 {
			l.t.Fatalf("%s: %v\n%s", what, err, l.disk)
		}
		if l.failures%3 == 0 {
			l.disk.Heal()
		}
	}
}

func (l *teamLife) do(what string, do func(team *catalog.Dir) error) {
	l.t.Helper()
	l.try(what, func() error { return do(l.team) })
}

func (l *teamLife) begin(n int) {
	l.t.Helper()
	log, err := l.team.Journals().Create(id(n))
	if err != nil {
		l.t.Fatal(err)
	}
	l.open[n] = &session{log, &projection.State{}}
	l.place[n] = "in place"
	l.append(n, begun(id(n), "review"))
}

func (l *teamLife) resume(n int) {
	l.t.Helper()
	s := &session{}
	l.try("Open", func() (err error) {
		s.log, err = l.team.Journals().Open(l.t.Context(), id(n))
		return err
	})
	l.try("Load", func() (err error) {
		s.state, _, err = l.team.Load(ctx, id(n))
		return err
	})
	l.open[n] = s
}

// say appends messages and syncs them.
func (l *teamLife) say(n int, texts ...string) {
	l.t.Helper()
	for _, text := range texts {
		l.said[n]++
		l.append(n, said(l.said[n], mia, text))
	}
	s := l.open[n]
	l.survive(n, "Sync", s.log.Sync)
	l.synced[n] = l.said[n]
}

func (l *teamLife) append(n int, r journal.Record) {
	l.t.Helper()
	s := l.open[n]
	l.survive(n, "Append", func() error {
		events, err := s.log.Append(r)
		s.apply(events)
		return err
	})
}

// survive retries an operation on a journal, with Recover if it is poisoned.
func (l *teamLife) survive(n int, what string, do func() error) {
	l.t.Helper()
	s := l.open[n]
	poisoned := false
	l.try(what, func() error {
		if poisoned {
			events, err := s.log.Recover(l.t.Context())
			s.apply(events)
			return err
		}
		err := do()
		poisoned = errors.Is(err, journal.ErrPoisoned)
		return err
	})
}

func (s *session) apply(events []journal.Event) {
	for _, e := range events {
		s.state.Apply(e)
	}
}

func (l *teamLife) checkpoint(n int) {
	l.t.Helper()
	s := l.open[n]
	l.try("WriteCheckpoint", func() error { return l.team.WriteCheckpoint(id(n), s.state, s.log.Position()) })
}

func (l *teamLife) close(n int) {
	l.t.Helper()
	s := l.open[n]
	at := s.log.Position()
	if err := s.log.Close(); err != nil {
		l.t.Fatalf("Close: %v\n%s", err, l.disk)
	}
	l.team.UpdateIndex(id(n), s.state, at)
}

func (l *teamLife) list() {
	l.t.Helper()
	l.do("List", func(team *catalog.Dir) error {
		_, err := team.List(ctx, catalog.Query{})
		return err
	})
}

// retain archives all but the newest session.
func (l *teamLife) retain(after time.Duration) {
	l.t.Helper()
	l.do("ApplyRetention", func(team *catalog.Dir) error {
		return team.ApplyRetention(ctx, catalog.Policy{Keep: 1}, created.Add(after), catalog.Budget{})
	})
}

func (l *teamLife) remove(n int) {
	l.t.Helper()
	l.place[n] = ""
	if l.try("Delete", func() error { return l.team.Delete(l.t.Context(), id(n)) }, journal.ErrNotFound) {
		l.place[n] = "in the trash"
	}
}

func (l *teamLife) restore(n int) {
	l.t.Helper()
	l.place[n] = ""
	if l.try("Restore", func() error { return l.team.Restore(l.t.Context(), id(n)) }, fs.ErrExist) {
		l.place[n] = "in place"
	}
}

// cut checks every state of the disk that a power cut may leave now.
func (l *teamLife) cut(when string, parts int, seed uint64) {
	l.t.Helper()
	for kind, image := range l.mem.Images(parts, seed) {
		// The same image may be right before an acknowledgement and wrong after it.
		known := fmt.Sprintf("%x %v %v %v", l.tried.add(image), l.synced, l.said, l.place)
		if l.seen[known] {
			continue
		}
		l.seen[known] = true
		if err := l.check(image); err != nil {
			l.t.Fatalf("power cut %s, of the rest %s: %v\n%s", when, kind, err, l.disk)
		}
	}
}

// check returns an error unless every session is in its place with all that was
// acknowledged, and the caches change no answer.
func (l *teamLife) check(image *journaltest.Mem) error {
	team := teamOn(image)
	for n, least := range l.synced {
		if err := l.present(team, n, least); err != nil {
			return err
		}
	}
	return cachesChangeNothing(team, image)
}

func (l *teamLife) present(team *catalog.Dir, n, least int) error {
	s, err := team.Session(ctx, id(n))
	inPlace := err == nil
	trashed, trashErr := trash.Of(team.Journals()).List()
	inTrash := slices.ContainsFunc(trashed, func(t trash.Item) bool { return t.ID == id(n) })
	switch {
	case err != nil && !errors.Is(err, journal.ErrNotFound) || trashErr != nil:
		return errors.Join(err, trashErr)
	case !inPlace && !inTrash && least > 0:
		return fmt.Errorf("session %d is lost", n)
	case l.place[n] == "in place" && !inPlace && least > 0, l.place[n] == "in the trash" && !inTrash:
		return fmt.Errorf("session %d is not %s", n, l.place[n])
	case inPlace && (s.MessageCount < least || s.MessageCount > l.said[n]):
		return fmt.Errorf("session %d has %d messages; %d were synced, %d appended",
			n, s.MessageCount, least, l.said[n])
	case inPlace && s.Damaged != "":
		return fmt.Errorf("session %d: %s", n, s.Damaged)
	}
	return nil
}

// cachesChangeNothing compares the answers of a team with and without its index
// and checkpoints.
func cachesChangeNothing(team *catalog.Dir, image *journaltest.Mem) error {
	withCaches, err := answersOf(team)
	if err != nil {
		return err
	}
	for _, s := range withCaches.Sessions {
		if removed, err := audited(team, s.ID); len(removed) > 0 || err != nil {
			return fmt.Errorf("a cache of session %s is wrong: %v, %v", s.ID, removed, err)
		}
	}
	for _, name := range []string{indexOf(team), checkpointOf(team, id(1)), checkpointOf(team, id(2))} {
		if err := image.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	without, err := answersOf(team)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(without, withCaches, cmp.AllowUnexported(catalog.Session{})); diff != "" {
		return fmt.Errorf("the caches change the answers (-without +with):\n%s", diff)
	}
	return nil
}

// audited removes the caches of a session that contradict its journal.
func audited(team *catalog.Dir, id string) (removed []string, err error) {
	audit := team.Audit(id)
	r, err := team.Journals().Reader(id, journal.Position{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for e, err := range r.All() {
		if err != nil {
			return nil, err
		}
		audit.Apply(e, r.Position())
	}
	return removeInvalid(audit)
}

// removeInvalid returns the caches that an audit removed, and joins the errors of the others.
func removeInvalid(audit *catalog.Audit) (removed []string, err error) {
	for problem, failed := range audit.RemoveInvalid() {
		if failed == nil {
			removed = append(removed, problem)
		}
		err = errors.Join(err, failed)
	}
	return removed, err
}

func answersOf(team *catalog.Dir) (a answers, err error) {
	a.Loaded = map[string]string{}
	list, err := team.List(ctx, catalog.Query{})
	if err != nil {
		return a, err
	}
	a.Sessions = list.Sessions
	for _, s := range a.Sessions {
		state, loaded, err := team.Load(ctx, s.ID)
		text, _ := json.Marshal(state)
		a.Loaded[s.ID] = fmt.Sprintf("%s %+v %v", text, loaded.At, err)
	}
	return a, nil
}
