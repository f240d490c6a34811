package catalog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// save is a save of one conversation of another program, after so many
// messages.
func save(t testing.TB, messages ...string) *interchange.Session {
	t.Helper()
	task := "Ship it"
	s := projection.Snapshot{
		SchemaVersion: "1.0", TeamID: "kitchen", SessionID: id(1),
		CreatedAt: projection.FormatTime(created), UpdatedAt: projection.FormatTime(created.Add(time.Hour)),
		Context:  projection.Context{Messages: []projection.Message{}, TeamTask: &task, Timestamp: created.UnixMilli(), Version: 1},
		Metadata: projection.Metadata{MessageCount: len(messages)},
	}
	for i, text := range messages {
		by := []projection.Speaker{mia, ada}[i%2]
		s.Context.Messages = append(s.Context.Messages, projection.NewMessage(fmt.Sprint("m", i+1), created.Add(time.Duration(i+1)*time.Minute), by, text, nil).Message)
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

func take(t testing.TB, team *catalog.Dir, s *interchange.Session, want int) {
	t.Helper()
	if taken, err := team.ImportSession(s); taken != want || err != nil {
		t.Errorf("took %d messages, want %d: %v", taken, want, err)
	}
}

// sameTexts compares the messages of the only session.
func sameTexts(t testing.TB, team *catalog.Dir, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, told(t, team, id(1))); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestSeveralSavesOfASessionBecomeOneSession(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	take(t, team, save(t, "hello"), 1)
	take(t, team, save(t, "hello", "well", "more"), 2)
	sameTexts(t, team, "hello", "well", "more")

	sessions := list(t, c)
	if len(sessions) != 1 {
		t.Fatalf("%v are listed", ids(sessions))
	}
	s := sessions[0]
	if s.Title != "hello" || s.TeamID != "kitchen" || s.MessageCount != 3 || s.LastSpeaker != "Mia" || !s.CreatedAt.Equal(created) {
		t.Errorf("listed as %+v", s)
	}
	cached := ask(t, c)
	dropCaches(t, team.Journals().Path())
	sameAnswers(t, ask(t, c), cached)
}

func TestTheSameSaveTwiceChangesNothing(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	take(t, team, save(t, "hello", "well"), 2)
	before := read(t, live(team, id(1)))
	take(t, team, save(t, "hello", "well"), 0)
	take(t, team, save(t, "hello"), 0) // an older one
	if string(read(t, live(team, id(1)))) != string(before) {
		t.Error("the journal was changed")
	}
}

func TestASaveThatWentOnDifferentlyIsRefused(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	take(t, team, save(t, "hello", "well"), 2)
	if err := team.Append(id(1), said(9, mia, "here I go on")); err != nil {
		t.Fatal(err)
	}
	before := read(t, live(team, id(1)))
	for name, s := range map[string]*interchange.Session{
		"where this one went on":       save(t, "hello", "well", "more"),
		"from the second message":      save(t, "hello", "ill"),
		"from the first message, long": save(t, "hi", "well", "more", "and more"),
	} {
		if taken, err := team.ImportSession(s); taken != 0 || !errors.Is(err, catalog.ErrDiverged) {
			t.Errorf("%s: took %d, %v", name, taken, err)
		}
	}
	take(t, team, save(t, "hello", "well"), 0)
	if string(read(t, live(team, id(1)))) != string(before) {
		t.Error("the journal was changed")
	}
}

func TestATakenSessionThatWasArchivedComesBackWithWhatIsNew(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	take(t, team, save(t, "hello"), 1)
	if err := team.Archive(id(1)); err != nil {
		t.Fatal(err)
	}
	take(t, team, save(t, "hello"), 0)
	take(t, team, save(t, "hello", "well"), 1)
	sameTexts(t, team, "hello", "well")
	if _, err := os.Stat(live(team, id(1))); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeReadOrIsWrittenToTakesNothing(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	take(t, team, save(t, "hello", "well"), 2)
	log, err := team.Journals().Open(id(1))
	if err != nil {
		t.Fatal(err)
	}
	if taken, err := team.ImportSession(save(t, "hello", "well", "more")); taken != 0 || !errors.Is(err, journal.ErrLocked) {
		t.Errorf("while somebody writes: took %d, %v", taken, err)
	}
	log.Close()
	if err := team.Append(id(1), said(9, mia, "here I go on")); err != nil {
		t.Fatal(err)
	}

	change(t, live(team, id(1)), "hello", "hullo")
	var corrupt *journal.CorruptError
	if taken, err := team.ImportSession(save(t, "hello", "well", "more")); taken != 0 || !errors.As(err, &corrupt) {
		t.Errorf("with damage: took %d, %v", taken, err)
	}
}

func TestNoFailureWhileASessionIsTakenLosesOrDoublesAMessage(t *testing.T) {
	for _, half := range []bool{false, true} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("half=%v,again=%v", half, again), func(t *testing.T) {
				for n := 1; ; n++ {
					disk := journaltest.New(journal.OS)
					c := catalog.New(t.TempDir(), journal.Options{FS: disk})
					team := c.Team("kitchen")
					if again {
						take(t, team, save(t, "hello"), 1)
					}
					disk.HalfWrites(half)
					disk.FailFrom(n, syscall.EIO)
					taken, err := team.ImportSession(save(t, "hello", "well", "more"))
					if err != nil && (taken != 0 || !errors.Is(err, syscall.EIO)) {
						t.Errorf("took %d, %v", taken, err)
					}
					failed := disk.Failed()
					disk.Heal()

					if _, err := team.ImportSession(save(t, "hello", "well", "more")); err != nil {
						t.Errorf("once more: %v", err)
					}
					sameTexts(t, team, "hello", "well", "more")
					take(t, team, save(t, "hello", "well", "more"), 0)
					if sessions := list(t, c); len(sessions) != 1 || sessions[0].Damaged != "" || sessions[0].MessageCount != 3 || sessions[0].TeamID != "kitchen" {
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

func TestASessionIsTakenIntoWhatACrashLeftOfIt(t *testing.T) {
	source := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	take(t, source, save(t, "hello", "well", "more"), 3)
	whole := read(t, live(source, id(1)))
	var cuts []int
	at := 0
	for line := range bytes.Lines(whole) {
		cuts = append(cuts, at, at+len(line)/2, at+len(line)-1)
		at += len(line)
	}
	for _, n := range cuts {
		c := catalog.New(t.TempDir(), journal.Options{})
		team := c.Team("kitchen")
		write(t, live(team, id(1)), whole[:n])
		if _, err := team.ImportSession(save(t, "hello", "well", "more")); err != nil {
			t.Errorf("%v", err)
		}
		sameTexts(t, team, "hello", "well", "more")
		if sessions := list(t, c); len(sessions) != 1 || sessions[0].Damaged != "" || sessions[0].TeamID != "kitchen" {
			t.Errorf("listed: %+v", sessions)
		}
		if state, _, err := team.Load(id(1)); err != nil || state.Task == nil || *state.Task != "Ship it" {
			t.Errorf("the task: %+v, %v", state, err)
		}
		if t.Failed() {
			t.Fatalf("%d bytes were left", n)
		}
	}
}
