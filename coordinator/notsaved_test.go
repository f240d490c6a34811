package coordinator_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
)

// What was said after another program has truncated the journal is in a file beside it when the session ends.
func TestWhatCannotBeSavedIsSetAside(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d, says("a1"), says("a2"), says("a3"))
	s.say("first")
	id := s.Session().ID
	if err := os.Truncate(d.path(id), 0); err != nil {
		t.Fatal(err)
	}
	s.say("second", "third")
	if err := s.Stop("end"); err == nil {
		t.Error("it was saved")
	}
	if len(s.recorder.notSaved) != 1 {
		t.Fatalf("notified %+v", s.recorder.notSaved)
	}
	n := s.recorder.notSaved[0]
	content, err := os.ReadFile(n.File)
	if err != nil || n.Err != nil || n.Whole || filepath.Dir(n.File) != d.dir() {
		t.Fatalf("%+v: %v", n, err)
	}
	if got := strings.Count(string(content), "\n"); got != n.Events {
		t.Errorf("%d lines of %d events", got, n.Events)
	}
	at := 0
	for _, text := range []string{`"second"`, `"a2"`, `"third"`, `"a3"`, `"session.ended"`} {
		i := strings.Index(string(content)[at:], text)
		if i < 0 {
			t.Fatalf("%s is missing, or in another order:\n%s", text, content)
		}
		at += i
	}
	if again := s.Stop("end"); again != nil || len(s.recorder.notSaved) != 1 {
		t.Errorf("a second end: %v", again)
	}
}

// If there is no room for that file, the listener is notified of what is lost.
func TestWhatCannotBeSetAsideIsReported(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d)
	s.say("first")
	d.FailFrom(1, syscall.EROFS, journaltest.Open, journaltest.Write)
	s.say("second")
	if err := s.Stop("end"); !errors.Is(err, syscall.EROFS) {
		t.Errorf("Stop: %v", err)
	}
	if n := s.recorder.notSaved; len(n) != 1 || n[0].File != "" || !errors.Is(n[0].Err, syscall.EROFS) {
		t.Errorf("notified %+v", n)
	}
	if asides, _ := filepath.Glob(filepath.Join(d.dir(), "*.aside-*")); len(asides) > 0 {
		t.Errorf("%q are left", asides)
	}
}

func TestSavedSessionsSetNothingAside(t *testing.T) {
	d := onDisk(t, 0)
	for _, files := range []store.Store{d, &store.Memory{}} {
		s := start(t, files)
		s.say("first")
		s.stop()
		if len(s.recorder.notSaved) > 0 {
			t.Errorf("notified %+v", s.recorder.notSaved)
		}
	}
	if names, err := fs.Glob(os.DirFS(d.dir()), "*.aside-*"); err != nil || len(names) > 0 {
		t.Errorf("%q, %v", names, err)
	}
}
