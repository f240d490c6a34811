package sessioncopy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// save is what another program saves of a session, with these messages.
func save(t testing.TB, messages ...string) *interchange.Session {
	t.Helper()
	task := "Ship it"
	s := projection.Snapshot{
		SchemaVersion: "1.0",
		TeamID:        "kitchen",
		SessionID:     id(1),
		CreatedAt:     projection.FormatTime(created),
		UpdatedAt:     projection.FormatTime(created.Add(time.Hour)),
		Context: projection.Context{
			Messages:  []projection.Message{},
			TeamTask:  &task,
			Timestamp: created.UnixMilli(),
			Version:   1,
		},
		Metadata: projection.Metadata{MessageCount: len(messages)},
	}
	for i, text := range messages {
		by := []projection.Speaker{mia, ada}[i%2]
		at := created.Add(time.Duration(i+1) * time.Minute)
		m := projection.NewMessage(fmt.Sprint("m", i+1), at, by, text, nil)
		s.Context.Messages = append(s.Context.Messages, m.Message)
	}
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	session, err := interchange.Snapshot(data, "/old/save.json", projection.App{Name: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func wantImport(t testing.TB, dir *catalog.Dir, s *interchange.Session, want int) {
	t.Helper()
	if written, err := sessioncopy.Import(ctx, dir, s); written != want || err != nil {
		t.Errorf("imported %d messages, want %d: %v", written, want, err)
	}
}

func TestImportLaterSaveExtendsSession(t *testing.T) {
	c, dir := newTeam(t, journal.Options{})
	wantImport(t, dir, save(t, "hello"), 1)
	wantImport(t, dir, save(t, "hello", "well", "more"), 2)
	wantTexts(t, dir, "hello", "well", "more")

	sessions := list(t, c)
	if len(sessions) != 1 {
		t.Fatalf("%d sessions are listed", len(sessions))
	}
	s := sessions[0]
	if s.Title != "hello" || s.TeamID != "kitchen" || s.MessageCount != 3 || s.LastSpeaker != "Mia" ||
		!s.CreatedAt.Equal(created) {
		t.Errorf("listed as %+v", s)
	}
	if err := os.Remove(filepath.Join(dir.Journals().Path(), "sessions.json")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sessions, list(t, c), cmp.AllowUnexported(catalog.Session{})); diff != "" {
		t.Errorf("without the index (-with +without):\n%s", diff)
	}
}

func TestImportSameSaveChangesNothing(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	wantImport(t, dir, save(t, "hello", "well"), 2)
	before := read(t, journalOf(dir, id(1)))
	wantImport(t, dir, save(t, "hello", "well"), 0)
	wantImport(t, dir, save(t, "hello"), 0) // an older one
	if string(read(t, journalOf(dir, id(1)))) != string(before) {
		t.Error("the journal was changed")
	}
}

func TestImportRefusesDivergedSave(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	wantImport(t, dir, save(t, "hello", "well"), 2)
	if err := dir.Append(ctx, id(1), message(9, mia, "a local message")); err != nil {
		t.Fatal(err)
	}
	before := read(t, journalOf(dir, id(1)))
	for name, s := range map[string]*interchange.Session{
		"after the common messages":    save(t, "hello", "well", "more"),
		"from the second message":      save(t, "hello", "ill"),
		"from the first message, long": save(t, "hi", "well", "more", "and more"),
	} {
		if written, err := sessioncopy.Import(ctx, dir, s); written != 0 || !errors.Is(err, sessioncopy.ErrDiverged) {
			t.Errorf("%s: imported %d messages, %v", name, written, err)
		}
	}
	wantImport(t, dir, save(t, "hello", "well"), 0)
	if string(read(t, journalOf(dir, id(1)))) != string(before) {
		t.Error("the journal was changed")
	}
}

func TestImportExtendsArchivedSession(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	wantImport(t, dir, save(t, "hello"), 1)
	if err := dir.Journals().Archive(t.Context(), id(1)); err != nil {
		t.Fatal(err)
	}
	wantImport(t, dir, save(t, "hello"), 0)
	wantImport(t, dir, save(t, "hello", "well"), 1)
	wantTexts(t, dir, "hello", "well")
	if _, err := os.Stat(journalOf(dir, id(1))); err != nil {
		t.Error(err)
	}
}

func TestImportIntoLockedOrDamagedSession(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	wantImport(t, dir, save(t, "hello", "well"), 2)
	log, err := dir.Journals().Open(t.Context(), id(1))
	if err != nil {
		t.Fatal(err)
	}
	written, err := sessioncopy.Import(ctx, dir, save(t, "hello", "well", "more"))
	if written != 0 || !errors.Is(err, journal.ErrLocked) {
		t.Errorf("locked: imported %d messages, %v", written, err)
	}
	log.Close()
	if err := dir.Append(ctx, id(1), message(9, mia, "a local message")); err != nil {
		t.Fatal(err)
	}

	path := journalOf(dir, id(1))
	write(t, path, bytes.Replace(read(t, path), []byte("hello"), []byte("hullo"), 1))
	var corrupt *journal.CorruptError
	written, err = sessioncopy.Import(ctx, dir, save(t, "hello", "well", "more"))
	if written != 0 || !errors.As(err, &corrupt) {
		t.Errorf("damaged: imported %d messages, %v", written, err)
	}
}

func TestImportAfterFailureIsComplete(t *testing.T) {
	for _, half := range []bool{false, true} {
		for _, exists := range []bool{false, true} {
			t.Run(fmt.Sprintf("half=%v,exists=%v", half, exists), func(t *testing.T) {
				for n := 1; ; n++ {
					disk := journaltest.New(journal.OS)
					c, dir := newTeam(t, journal.Options{FS: disk})
					if exists {
						wantImport(t, dir, save(t, "hello"), 1)
					}
					disk.HalfWrites(half)
					disk.FailFrom(n, syscall.EIO)
					written, err := sessioncopy.Import(ctx, dir, save(t, "hello", "well", "more"))
					if err != nil && (written != 0 || !errors.Is(err, syscall.EIO)) {
						t.Errorf("imported %d messages, %v", written, err)
					}
					failed := disk.Failed()
					disk.Heal()

					if _, err := sessioncopy.Import(ctx, dir, save(t, "hello", "well", "more")); err != nil {
						t.Errorf("repeated: %v", err)
					}
					wantTexts(t, dir, "hello", "well", "more")
					wantImport(t, dir, save(t, "hello", "well", "more"), 0)
					sessions := list(t, c)
					if len(sessions) != 1 || sessions[0].Damaged != "" || sessions[0].MessageCount != 3 ||
						sessions[0].TeamID != "kitchen" {
						t.Errorf("listed: %+v", sessions)
					}
					if t.Failed() {
						t.Fatalf("operation %d failed\n%s", n, disk)
					}
					if !failed {
						return
					}
				}
			})
		}
	}
}

func TestImportAfterCrashIsComplete(t *testing.T) {
	_, source := newTeam(t, journal.Options{})
	wantImport(t, source, save(t, "hello", "well", "more"), 3)
	data := read(t, journalOf(source, id(1)))
	var cuts []int
	at := 0
	for line := range bytes.Lines(data) {
		cuts = append(cuts, at, at+len(line)/2, at+len(line)-1)
		at += len(line)
	}
	for _, n := range cuts {
		c, dir := newTeam(t, journal.Options{})
		write(t, journalOf(dir, id(1)), data[:n])
		if _, err := sessioncopy.Import(ctx, dir, save(t, "hello", "well", "more")); err != nil {
			t.Errorf("%v", err)
		}
		wantTexts(t, dir, "hello", "well", "more")
		if sessions := list(t, c); len(sessions) != 1 || sessions[0].Damaged != "" || sessions[0].TeamID != "kitchen" {
			t.Errorf("listed: %+v", sessions)
		}
		if state, _, err := dir.Load(ctx, id(1)); err != nil || state.Task == nil || *state.Task != "Ship it" {
			t.Errorf("the task: %+v, %v", state, err)
		}
		if t.Failed() {
			t.Fatalf("after %d bytes", n)
		}
	}
}
