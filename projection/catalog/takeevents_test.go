package catalog_test

import (
	"bytes"
	"errors"
	"iter"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// elsewhere are the events of a journal that somebody brings along.
func elsewhere(t testing.TB, records ...journal.Record) iter.Seq2[journal.Event, error] {
	t.Helper()
	var events []journal.Event
	at := journal.Position{}
	for _, r := range records {
		e, next, err := at.Next(r)
		if err != nil {
			t.Fatal(err)
		}
		events, at = append(events, e), next
	}
	return func(yield func(journal.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// cutOff ends events with an error.
func cutOff(events iter.Seq2[journal.Event, error], err error) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e := range events {
			if !yield(e, nil) {
				return
			}
		}
		yield(journal.Event{}, err)
	}
}

// talk are the records of a session with these messages.
func talk(texts ...string) []journal.Record {
	records := []journal.Record{begun(id(1), "kitchen")}
	for i, text := range texts {
		records = append(records, said(i+1, []projection.Speaker{mia, ada}[i%2], text))
	}
	return records
}

var fromBundle = projection.SessionImported{Source: "bundle", Path: "/old/all.bundle"}

func takeEvents(t testing.TB, team *catalog.Dir, texts ...string) (taken int, err error) {
	t.Helper()
	taken, _, err = team.ImportEvents(id(1), fromBundle, elsewhere(t, talk(texts...)...))
	return taken, err
}

func TestAJournalIsTakenIntoWhatACrashLeftOfIt(t *testing.T) {
	source := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	if _, err := takeEvents(t, source, "hello", "well", "more"); err != nil {
		t.Fatal(err)
	}
	whole := read(t, live(source, id(1)))
	at := 0
	for line := range bytes.Lines(whole) {
		for _, n := range []int{at, at + len(line)/2, at + len(line) - 1} {
			c := catalog.New(t.TempDir(), journal.Options{})
			team := c.Team("kitchen")
			write(t, live(team, id(1)), whole[:n])
			if _, err := takeEvents(t, team, "hello", "well", "more"); err != nil {
				t.Error(err)
			}
			sameTexts(t, team, "hello", "well", "more")
			if sessions := list(t, c); len(sessions) != 1 || sessions[0].Damaged != "" || sessions[0].TeamID != "kitchen" {
				t.Errorf("listed: %+v", sessions)
			}
			if t.Failed() {
				t.Fatalf("%d bytes were left", n)
			}
		}
		at += len(line)
	}
}

func TestNoFailureWhileAJournalIsTakenLosesOrDoublesAMessage(t *testing.T) {
	for _, again := range []bool{false, true} {
		for n := 1; ; n++ {
			disk := journaltest.New(journal.OS)
			c := catalog.New(t.TempDir(), journal.Options{FS: disk})
			team := c.Team("kitchen")
			if again {
				if _, err := takeEvents(t, team, "hello"); err != nil {
					t.Fatal(err)
				}
			}
			disk.FailFrom(n, syscall.EIO)
			taken, err := takeEvents(t, team, "hello", "well", "more")
			if err != nil && (taken != 0 || !errors.Is(err, syscall.EIO)) {
				t.Errorf("took %d, %v", taken, err)
			}
			failed := disk.Failed()
			disk.Heal()
			if _, err := takeEvents(t, team, "hello", "well", "more"); err != nil {
				t.Errorf("once more: %v", err)
			}
			sameTexts(t, team, "hello", "well", "more")
			if sessions := list(t, c); len(sessions) != 1 || sessions[0].Damaged != "" || sessions[0].MessageCount != 3 {
				t.Errorf("listed: %+v", sessions)
			}
			if t.Failed() {
				t.Fatalf("again=%v, operation %d failed\n%s", again, n, disk)
			}
			if !failed {
				break
			}
		}
	}
}

func TestAJournalOfWhichTheEndIsMissingLeavesNothingBehind(t *testing.T) {
	for _, crashed := range []bool{false, true} {
		c := catalog.New(t.TempDir(), journal.Options{})
		team := c.Team("kitchen")
		if _, err := takeEvents(t, team, "hello", "well", "precious"); err != nil {
			t.Fatal(err)
		}
		if err := team.Delete(id(1)); err != nil {
			t.Fatal(err)
		}
		if crashed { // while it was made before
			write(t, live(team, id(1)), nil)
		}
		missing := errors.New("the bundle was cut off there")
		long := append(talk("hello"), said(2, ada, strings.Repeat("word ", 500_000)), said(3, mia, "more"))
		if taken, _, err := team.ImportEvents(id(1), fromBundle, cutOff(elsewhere(t, long...), missing)); taken != 0 || !errors.Is(err, missing) {
			t.Errorf("took %d, %v", taken, err)
		}
		if sessions := list(t, c); len(sessions) > 0 {
			t.Errorf("listed: %v", ids(sessions))
		}
		if err := team.Restore(id(1)); err != nil {
			t.Fatal(err)
		}
		sameTexts(t, team, "hello", "well", "precious")
	}
}

// once runs a hook before the first operation that changes something.
func once(disk *journaltest.FS, hook func()) {
	var first sync.Once
	disk.Before(func() { first.Do(hook) })
}

func TestTwoImportsAtOnceDoubleNothing(t *testing.T) {
	for name, c := range map[string]struct{ first, second func(*catalog.Dir) error }{
		"of a journal": {
			func(team *catalog.Dir) error { _, err := takeEvents(t, team, "hello"); return err },
			func(team *catalog.Dir) error { _, err := takeEvents(t, team, "hello", "well"); return err },
		},
		"of a save": {
			func(team *catalog.Dir) error { _, err := team.ImportSession(save(t, "hello")); return err },
			func(team *catalog.Dir) error { _, err := team.ImportSession(save(t, "hello", "well")); return err },
		},
	} {
		t.Run(name, func(t *testing.T) {
			root, disk := t.TempDir(), journaltest.New(journal.OS)
			team, other := catalog.New(root, journal.Options{FS: disk}).Team("kitchen"), catalog.New(root, journal.Options{}).Team("kitchen")
			if err := c.first(team); err != nil {
				t.Fatal(err)
			}
			once(disk, func() {
				if err := c.second(other); err != nil {
					t.Error(err)
				}
			})
			if err := c.second(team); !errors.Is(err, journal.ErrChanged) {
				t.Errorf("the one that came too late: %v", err)
			}
			sameTexts(t, team, "hello", "well")
			if err := c.second(team); err != nil {
				t.Errorf("once more: %v", err)
			}
			sameTexts(t, team, "hello", "well")
		})
	}
}

func TestAnImportHoldsAFewMegabytesHoweverLongTheJournalIs(t *testing.T) {
	disk := &weighed{FS: journal.OS}
	team := catalog.New(t.TempDir(), journal.Options{FS: disk}).Team("kitchen")
	texts := []string{"hello"}
	for _, more := range []int{30, 30} {
		for range more {
			texts = append(texts, strings.Repeat("word ", 200_000))
		}
		if taken, err := takeEvents(t, team, texts...); taken < more || err != nil {
			t.Fatalf("took %d, %v", taken, err)
		}
		if disk.most > 12<<20 {
			t.Errorf("%d bytes were held", disk.most)
		}
	}
	if s, err := team.Session(id(1)); err != nil || s.MessageCount != len(texts) {
		t.Errorf("%d messages, %v", s.MessageCount, err)
	}
}
