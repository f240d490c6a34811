package storetest

import (
	"errors"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
)

func checkLocked(t *testing.T, what string, err error) {
	t.Helper()
	var locked *journal.LockedError
	if !errors.As(err, &locked) || !errors.Is(err, journal.ErrLocked) {
		t.Errorf("%s: %v, want a *journal.LockedError", what, err)
		return
	}
	if locked.Holder.PID == 0 || locked.Holder.StartedAt.IsZero() {
		t.Errorf("%s: the holder is %+v, want this process", what, locked.Holder)
	}
}

func oneWriter(t *testing.T, s store.Store) {
	log := begin(t, s, team, noon, "one")
	id := log.SessionID()
	_, err := s.Open(team, id)
	checkLocked(t, "open of a session that was just begun", err)
	checkTexts(t, s, id, "one")
	closeLog(t, log, fold(t, s, team, id, []string{"one"}))

	again := openLog(t, s, team, id)
	_, err = s.Open(team, id)
	checkLocked(t, "open of a session that was opened", err)
	closeLog(t, again, again.State())
	last := openLog(t, s, team, id)
	closeLog(t, last, last.State())
}

func deleteLocked(t *testing.T, s store.Store) {
	log := begin(t, s, team, noon, "one")
	checkLocked(t, "delete", s.Delete(team, log.SessionID()))
	checkTexts(t, s, log.SessionID(), "one")
	closeLog(t, log, fold(t, s, team, log.SessionID(), []string{"one"}))
	if err := s.Delete(team, log.SessionID()); err != nil {
		t.Error("delete after the writer is gone:", err)
	}
}

func closeTwice(t *testing.T, s store.Store) {
	id := kept(t, s, team, noon, "one")
	first := openLog(t, s, team, id)
	closeLog(t, first, first.State())
	second := openLog(t, s, team, id)
	closeLog(t, first, first.State())
	_, err := s.Open(team, id)
	checkLocked(t, "open while the second one writes", err)
	closeLog(t, second, second.State())
}

func closedLog(t *testing.T, s store.Store) {
	id := kept(t, s, team, noon, "one")
	log := openLog(t, s, team, id)
	closeLog(t, log, log.State())
	if _, err := log.Append(message("late", noon)); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("append: %v, want %v", err, journal.ErrClosed)
	}
	if err := log.Save(log.State()); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("save: %v, want %v", err, journal.ErrClosed)
	}
	if _, err := log.Recover(); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("recover: %v, want %v", err, journal.ErrClosed)
	}
	checkTexts(t, s, id, "one")
}

func nothingToRecover(t *testing.T, s store.Store) {
	log := begin(t, s, team, noon, "one")
	defer log.Close(log.State())
	if events, err := log.Recover(); err != nil || len(events) > 0 {
		t.Errorf("recovered %v, %v", events, err)
	}
	checkTexts(t, s, log.SessionID(), "one")
}
