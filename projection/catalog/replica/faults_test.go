package replica_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// pulls are the states of ann's machine from which a pull has something to do, beside ben's.
var pulls = map[string]struct {
	prepare func(ann, ben *machine)
	want    []string // the messages of the session after that
	fork    []string // those of its fork; nil: there is none
	kept    bool     // the previous journal
}{
	"a new session": {func(_, ben *machine) {
		ben.create("one", "two")
		ben.push()
	}, []string{"one", "two"}, nil, false},
	"new events": {func(ann, ben *machine) {
		ann.create("one")
		ann.push()
		ben.pull()
		ben.say("two")
		ben.push()
	}, []string{"one", "two"}, nil, false},
	"a diverged session": {func(ann, ben *machine) {
		ann.create("one")
		ann.push()
		ben.pull()
		ann.say("by ann", "by ann, too")
		ben.say("by ben")
		ben.push()
	}, []string{"one", "by ben"}, []string{"one", "by ann", "by ann, too"}, true},
	"a damaged journal": {func(ann, _ *machine) {
		ann.create("one", "two", "three")
		ann.push()
		ann.say("four")
		damage(ann)
	}, []string{"one", "two", "three", "four"}, nil, true},
	"a damaged journal with fewer events than the hub": {func(ann, ben *machine) {
		ann.create("one", "two", "three")
		ann.push()
		ben.pull()
		ben.say("four")
		ben.push()
		damage(ann)
	}, []string{"one", "two", "three", "four"}, nil, true},
}

// damage changes a byte in the middle of the journal.
func damage(m *machine) {
	m.t.Helper()
	changed := strings.Replace(m.read(), `"two"`, `"too"`, 1)
	if err := os.WriteFile(m.path(), []byte(changed), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// on lets the machine use another file system.
func (m *machine) on(fsys vfs.FS) {
	m.c = catalog.New(m.c.Root(), journal.Options{FS: fsys})
	m.Dir = m.c.Team("kitchen")
}

// forks returns the sessions of the machine except the one that all machines have.
func (m *machine) forks() (ids []string) {
	m.t.Helper()
	list, err := m.c.List(m.t.Context(), catalog.Query{})
	if err != nil {
		m.t.Fatal(err)
	}
	for _, s := range list.Sessions {
		if s.Damaged != "" {
			m.t.Errorf("%s is damaged: %s", s.ID, s.Damaged)
		}
		if s.ID != id {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// TestEveryFaultOfAPull fails the first, second, third … operation of a pull, alone or with all that follow it as a
// crash does, until a pull needs no more. The next pull completes it.
func TestEveryFaultOfAPull(t *testing.T) {
	for name, tt := range pulls {
		for _, crash := range []bool{true, false} {
			if !sizetest.Full() && !crash {
				continue
			}
			t.Run(name, func(t *testing.T) {
				for n, failed := 1, true; failed; n++ {
					ann, ben, _ := two(t)
					tt.prepare(ann, ben)
					before, _ := os.ReadFile(ann.path())
					fsys := journaltest.New(vfs.OS)
					ann.on(fsys)
					if crash {
						fsys.FailFrom(n, syscall.EIO)
					} else {
						fsys.Fail(n, syscall.EIO)
					}
					_, err := ann.Pull(t.Context())
					if failed = fsys.Failed(); !failed && err != nil {
						t.Fatal(err)
					}
					ann.on(vfs.OS)
					if _, err := ann.Pull(t.Context()); err != nil {
						t.Fatalf("after fault %d: %v", n, err)
					}
					ann.checkPulled(tt.want, tt.fork, tt.kept, before)
					if t.Failed() {
						t.Fatalf("after fault %d: %s", n, fsys)
					}
				}
			})
		}
	}
}

// checkPulled checks what a pull left.
func (m *machine) checkPulled(want, fork []string, kept bool, before []byte) {
	m.t.Helper()
	if diff := cmp.Diff(want, m.texts(id)); diff != "" {
		m.t.Errorf("the session (-want +got):\n%s", diff)
	}
	forks := m.forks()
	if (fork != nil) != (len(forks) == 1) || len(forks) > 1 {
		m.t.Errorf("the forks are %v", forks)
	} else if fork != nil {
		if diff := cmp.Diff(fork, m.texts(forks[0])); diff != "" {
			m.t.Errorf("the fork (-want +got):\n%s", diff)
		}
	}
	asides, _ := filepath.Glob(strings.TrimSuffix(m.path(), ".jsonl") + ".aside-*")
	found := slices.ContainsFunc(asides, func(path string) bool {
		data, err := os.ReadFile(path)
		return err == nil && string(data) == string(before)
	})
	if found != kept {
		m.t.Errorf("the previous journal is kept: %v, want %v", found, kept)
	}
}

// TestAppendDuringAPull appends before each operation of a pull that changes something. It is refused while
// the pull has the lock; otherwise the event is in the session or in its fork.
func TestAppendDuringAPull(t *testing.T) {
	tt := pulls["a diverged session"]
	appended, last := 0, false
	for n := 1; !last; n++ {
		ann, ben, _ := two(t)
		tt.prepare(ann, ben)
		other := *ann // another process
		other.on(vfs.OS)
		fsys := journaltest.New(vfs.OS)
		ann.on(fsys)
		operations, late := 0, errors.New("not tried")
		fsys.Before(func() {
			if operations++; operations != n {
				return
			}
			message := projection.NewMessage("m-late", created, mia, "late", nil)
			late = other.Dir.Append(t.Context(), id, projection.Record(created, message))
		})
		_, err := ann.Pull(t.Context())
		last = operations < n
		if err != nil && !errors.Is(err, journal.ErrLocked) {
			t.Fatalf("before operation %d: %v", n, err)
		}
		if late != nil {
			continue
		}
		appended++
		ann.on(vfs.OS)
		if _, err := ann.Pull(t.Context()); err != nil {
			t.Fatal(err)
		}
		texts := ann.texts(id)
		for _, fork := range ann.forks() {
			texts = append(texts, ann.texts(fork)...)
		}
		if !slices.Contains(texts, "late") {
			t.Errorf("an event that was appended before operation %d is lost", n)
		}
	}
	if appended == 0 {
		t.Error("no event was appended")
	}
}
