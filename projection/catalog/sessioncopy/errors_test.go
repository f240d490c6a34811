package sessioncopy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// titled is a transcript with a title, a turn with a call, and a task.
func titled(t testing.TB) *interchange.Session {
	t.Helper()
	s := transcriptOf(t, "claude", `{"type":"custom-title","customTitle":"Theirs"}
{"type":"user","uuid":"1","sessionId":"s","timestamp":"2026-11-21T12:00:00Z","message":{"content":"go"}}
{"type":"assistant","uuid":"2","parentUuid":"1","timestamp":"2026-11-21T12:00:01Z",`+
		`"message":{"content":[{"type":"tool_use","id":"c1","name":"ls","input":{}}]}}
{"type":"user","uuid":"3","parentUuid":"2","timestamp":"2026-11-21T12:00:02Z",`+
		`"message":{"content":[{"type":"tool_result","tool_use_id":"c1","content":"a b"}]}}
{"type":"assistant","uuid":"4","parentUuid":"3","timestamp":"2026-11-21T12:00:03Z","message":{"content":"a and b"}}
`)
	task := "Ship it"
	s.Task = &task
	return s
}

// titledTypes are the types of its events.
var titledTypes = []string{"session.created", "session.renamed", "message.appended", "turn.started", "tool.started",
	"tool.completed", "message.appended", "turn.ended", "task.set", "session.imported"}

// beginnings returns journals with the first lines of the journal of a session: none, one,
// and so on to all.
func beginnings(t testing.TB, s *interchange.Session) (beginnings [][]byte) {
	t.Helper()
	_, dir := newTeam(t, journal.Options{})
	if _, err := sessioncopy.Import(ctx, dir, s, keepSecrets); err != nil {
		t.Fatal(err)
	}
	data := read(t, journalOf(dir, s.ID))
	at := 0
	for line := range bytes.Lines(data) {
		beginnings = append(beginnings, data[:at])
		at += len(line)
	}
	return append(beginnings, data)
}

// An import is cancelled before each of its records, into each beginning of the session.
func TestCancelledImportCanBeRepeated(t *testing.T) {
	s := titled(t)
	journals := beginnings(t, s)
	for lines, data := range journals {
		for n := 1; ; n++ {
			c, dir := newTeam(t, journal.Options{})
			write(t, journalOf(dir, s.ID), data)
			ctx, cancel := context.WithCancel(ctx)
			records := 0
			done, err := sessioncopy.Import(ctx, dir, titled(t), func(r journal.Record) journal.Record {
				if records++; records == n {
					cancel()
				}
				return r
			})
			cancel()
			if records < n {
				if err != nil {
					t.Errorf("%d lines: %v", lines, err)
				}
				break
			}
			if !errors.Is(err, context.Canceled) || done.Written != 0 {
				t.Errorf("%d lines, cancelled before record %d: imported %d messages, %v", lines, n, done.Written, err)
			}
			if sessions := list(t, c); lines == 0 && len(sessions) > 0 {
				t.Errorf("cancelled before record %d: %d sessions are listed", n, len(sessions))
			}
			if _, err := sessioncopy.Import(t.Context(), dir, titled(t), keepSecrets); err != nil {
				t.Errorf("%d lines, cancelled before record %d, repeated: %v", lines, n, err)
			}
			if diff := cmp.Diff(titledTypes, eventTypes(t, dir, s.ID)); diff != "" {
				t.Fatalf("%d lines, cancelled before record %d (-want +got):\n%s", lines, n, diff)
			}
		}
	}
}

// Each operation fails once, also those that read. The title is missing, or the task, or the source.
func TestImportIntoABeginningFailsOrIsComplete(t *testing.T) {
	journals := beginnings(t, titled(t))
	for _, lines := range []int{1, len(titledTypes) - 2, len(titledTypes) - 1} {
		for n := 1; ; n++ {
			disk := journaltest.New(vfs.OS)
			_, dir := newTeam(t, journal.Options{FS: disk})
			s := titled(t)
			write(t, journalOf(dir, s.ID), journals[lines])
			disk.Fail(n, syscall.EIO, journaltest.Read, journaltest.Open, journaltest.Lock, journaltest.Write, journaltest.Sync)
			_, err := sessioncopy.Import(ctx, dir, s, keepSecrets)
			failed := disk.Failed()
			disk.Heal()
			if err != nil && !errors.Is(err, syscall.EIO) {
				t.Errorf("%d lines, operation %d: %v", lines, n, err)
			}
			if diff := cmp.Diff(titledTypes, eventTypes(t, dir, s.ID)); err == nil && diff != "" {
				t.Errorf("%d lines, operation %d (-want +got):\n%s\n%s", lines, n, diff, disk)
			}
			if !failed || t.Failed() {
				break
			}
		}
	}
}

// The source is read once when the transcript is opened, and once when it is imported.
func TestImportReturnsErrorOfSource(t *testing.T) {
	broken := errors.New("broken")
	const line = `{"type":"response_item","payload":{"type":"message","role":"user",` +
		`"content":[{"type":"input_text","text":"%s"}]}}` + "\n"
	text := `{"timestamp":"2026-11-21T12:00:00Z","type":"session_meta","payload":{"id":"r"}}` + "\n" +
		fmt.Sprintf(line, "hello")
	for _, exists := range []bool{false, true} {
		_, dir := newTeam(t, journal.Options{})
		var want []string
		if exists {
			wantImport(t, dir, transcriptOf(t, "codex", text), 1)
			want = []string{"hello"}
		}
		fails := false
		open := func() (io.ReadCloser, error) {
			if fails {
				return nil, broken
			}
			return io.NopCloser(strings.NewReader(text + fmt.Sprintf(line, "well"))), nil
		}
		s, err := interchange.Transcript("codex", interchange.Source{Path: "/old/s.jsonl", Open: open},
			projection.App{Name: "test", Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		fails = true
		done, err := sessioncopy.Import(ctx, dir, s, keepSecrets)
		if done.Written != 0 || !errors.Is(err, broken) {
			t.Errorf("the session exists: %t: imported %d messages, %v", exists, done.Written, err)
		}
		if infos, err := dir.Journals().List(ctx); err != nil || len(infos) != len(want) {
			t.Errorf("the session exists: %t: %d journals, %v", exists, len(infos), err)
		}
		fails = false
		wantImport(t, dir, s, 2-len(want))
		if diff := cmp.Diff([]string{"hello", "well"}, texts(t, dir, s.ID)); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	}
}

// after yields the events and calls f before each event from the nth, and at the end.
func after(events iter.Seq2[journal.Event, error], n int, f func()) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			if n--; n < 0 {
				f()
			}
			if !yield(e, err) {
				return
			}
		}
		f()
	}
}

func TestImportEventsIntoSessionReturnsErrors(t *testing.T) {
	truncated := errors.New("truncated bundle")
	all := conversation(id(1), "hello", "well", "more", "yes")
	for _, known := range [][]string{nil, {"hello"}, {"hello", "well"}, {"hello", "well", "more", "yes"}} {
		for n := range all {
			_, dir := newTeam(t, journal.Options{})
			var before []string
			if known != nil {
				if _, err := importEvents(t, dir, known...); err != nil {
					t.Fatal(err)
				}
				before = texts(t, dir, id(1))
			}
			events := failing(eventsOf(t, all[:n]...), truncated)
			written, _, err := sessioncopy.ImportEvents(ctx, dir, id(1), fromBundle, events)
			if written != 0 || !errors.Is(err, truncated) {
				t.Errorf("%d messages are known, error after %d events: imported %d, %v", len(known), n, written, err)
			}
			cancelled, cancel := context.WithCancel(ctx)
			events = after(eventsOf(t, all...), n, cancel)
			written, _, err = sessioncopy.ImportEvents(cancelled, dir, id(1), fromBundle, events)
			if written != 0 || !errors.Is(err, context.Canceled) {
				t.Errorf("%d messages are known, cancelled before event %d: imported %d, %v", len(known), n, written, err)
			}
			if known == nil {
				if infos, err := dir.Journals().List(ctx); len(infos) != 0 || err != nil {
					t.Errorf("%d journals, %v", len(infos), err)
				}
			} else if diff := cmp.Diff(before, texts(t, dir, id(1))); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if _, err := importEvents(t, dir, "hello", "well", "more", "yes"); err != nil {
				t.Error(err)
			}
			wantTexts(t, dir, "hello", "well", "more", "yes")
		}
	}
}

func TestImportEventsIgnoresWhichSecretsAreKnown(t *testing.T) {
	for _, test := range []struct {
		old, new string
		diverged bool
	}{
		{"a swordfish", "a [REDACTED:KEY]", false},
		{"a [REDACTED:KEY]", "a swordfish", false},
		{"a [REDACTED:KEY]", "the swordfish", true},
		{"a swordfish", "a trout", true},
		{"a [REDACTED:KEY] and [REDACTED:KEY]", "a swordfish or two", true},
	} {
		_, dir := newTeam(t, journal.Options{})
		if _, err := importEvents(t, dir, test.old); err != nil {
			t.Fatal(err)
		}
		written, err := importEvents(t, dir, test.new, "well")
		if diverged := errors.Is(err, sessioncopy.ErrDiverged); diverged != test.diverged || (err != nil) != test.diverged {
			t.Errorf("%s, then %s: %v", test.old, test.new, err)
		}
		if want := 1; !test.diverged && written != want {
			t.Errorf("%s, then %s: imported %d messages, want %d", test.old, test.new, written, want)
		}
	}
	_, dir := newTeam(t, journal.Options{})
	if _, err := importEvents(t, dir, "a [REDACTED:KEY]"); err != nil {
		t.Fatal(err)
	}
	task := "a swordfish"
	events := eventsOf(t, header(id(1)), projection.Record(created, projection.TaskSet{Task: &task}))
	if _, _, err := sessioncopy.ImportEvents(ctx, dir, id(1), fromBundle, events); !errors.Is(err, sessioncopy.ErrDiverged) {
		t.Errorf("a task in place of a message: %v", err)
	}
}

// The session has messages that the save does not have.
func TestDivergedErrorHasTheMessagesLeftOut(t *testing.T) {
	extra := func(n int) journal.Record { return message(20+n, mia, fmt.Sprint("extra ", n)) }
	all := conversation(id(1), "hello", "well", "more")
	for name, test := range map[string]struct {
		session []journal.Record
		want    *sessioncopy.DivergedError
	}{
		"one message": {[]journal.Record{all[0], all[1], extra(1), all[2], all[3]},
			&sessioncopy.DivergedError{ID: id(1), Message: 2, LeftOut: 1, FirstLeftOut: 3}},
		"two messages": {[]journal.Record{all[0], all[1], all[2], extra(1), extra(2), all[3]},
			&sessioncopy.DivergedError{ID: id(1), Message: 3, LeftOut: 2, FirstLeftOut: 4}},
		"the first one": {[]journal.Record{all[0], extra(1), all[1]},
			&sessioncopy.DivergedError{ID: id(1), Message: 1, LeftOut: 1, FirstLeftOut: 2}},
		"something else": {[]journal.Record{all[0], all[1], extra(1)}, &sessioncopy.DivergedError{ID: id(1), Message: 2}},
		"no message": {[]journal.Record{all[0], all[1], {Type: "message.appended", Data: []byte(`{"message":1}`), Time: created}},
			&sessioncopy.DivergedError{ID: id(1), Message: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			_, dir := newTeam(t, journal.Options{})
			put(t, dir, id(1), test.session...)
			_, err := sessioncopy.Import(ctx, dir, save(t, "hello", "well", "more"), keepSecrets)
			var diverged *sessioncopy.DivergedError
			if !errors.As(err, &diverged) {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(test.want, diverged); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
