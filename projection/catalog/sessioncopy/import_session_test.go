package sessioncopy_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
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

func keepSecrets(r journal.Record) journal.Record { return r }

func wantImport(t testing.TB, dir *catalog.Dir, s *interchange.Session, want int) {
	t.Helper()
	if done, err := sessioncopy.Import(ctx, dir, s, keepSecrets); done.Written != want || err != nil {
		t.Errorf("imported %d messages, want %d: %v", done.Written, want, err)
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
		if done, err := sessioncopy.Import(ctx, dir, s, keepSecrets); done.Written != 0 || !errors.Is(err, sessioncopy.ErrDiverged) {
			t.Errorf("%s: imported %d messages, %v", name, done.Written, err)
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
	if err := journaltest.Archive(t.Context(), dir.Journals(), id(1)); err != nil {
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
	done, err := sessioncopy.Import(ctx, dir, save(t, "hello", "well", "more"), keepSecrets)
	if done.Written != 0 || !errors.Is(err, journal.ErrLocked) {
		t.Errorf("locked: imported %d messages, %v", done.Written, err)
	}
	log.Close()
	if err := dir.Append(ctx, id(1), message(9, mia, "a local message")); err != nil {
		t.Fatal(err)
	}

	path := journalOf(dir, id(1))
	write(t, path, bytes.Replace(read(t, path), []byte("hello"), []byte("hullo"), 1))
	var corrupt *journal.CorruptError
	done, err = sessioncopy.Import(ctx, dir, save(t, "hello", "well", "more"), keepSecrets)
	if done.Written != 0 || !errors.As(err, &corrupt) {
		t.Errorf("damaged: imported %d messages, %v", done.Written, err)
	}
}

func TestImportAfterFailureIsComplete(t *testing.T) {
	for _, half := range []bool{false, true} {
		for _, exists := range []bool{false, true} {
			t.Run(fmt.Sprintf("half=%v,exists=%v", half, exists), func(t *testing.T) {
				for n := 1; ; n++ {
					disk := journaltest.New(vfs.OS)
					c, dir := newTeam(t, journal.Options{FS: disk})
					if exists {
						wantImport(t, dir, save(t, "hello"), 1)
					}
					disk.HalfWrites(half)
					disk.FailFrom(n, syscall.EIO)
					done, err := sessioncopy.Import(ctx, dir, save(t, "hello", "well", "more"), keepSecrets)
					if err != nil && (done.Written != 0 || !errors.Is(err, syscall.EIO)) {
						t.Errorf("imported %d messages, %v", done.Written, err)
					}
					failed := disk.Failed()
					disk.Heal()

					if _, err := sessioncopy.Import(ctx, dir, save(t, "hello", "well", "more"), keepSecrets); err != nil {
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
		if _, err := sessioncopy.Import(ctx, dir, save(t, "hello", "well", "more"), keepSecrets); err != nil {
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

// rollout is a session of Codex with these items, of which each is a line.
func rollout(t testing.TB, items ...string) *interchange.Session {
	t.Helper()
	text := `{"timestamp":"2026-11-21T12:00:00Z","type":"session_meta","payload":{"id":"r"}}` + "\n"
	for i, item := range items {
		kind := "response_item"
		if strings.Contains(item, "token_count") {
			kind = "event_msg"
		}
		text += fmt.Sprintf(`{"timestamp":"2026-11-21T12:00:%02dZ","type":%q,"payload":%s}`+"\n", i, kind, item)
	}
	return transcriptOf(t, "codex", text)
}

func transcriptOf(t testing.TB, format, text string) *interchange.Session {
	t.Helper()
	s, err := interchange.Transcript(format, interchange.Source{
		Path: "/old/s.jsonl",
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
	}, projection.App{Name: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	asked  = `{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`
	called = `{"type":"function_call","name":"ls","arguments":"{}","call_id":"c1"}`
	paid   = `{"type":"token_count","info":{"total_token_usage":{"input_tokens":16,"cached_input_tokens":4,` +
		`"cache_write_input_tokens":2,"output_tokens":6,"reasoning_output_tokens":1}}}`
	listed  = `{"type":"function_call_output","call_id":"c1","output":"a b"}`
	called2 = `{"type":"function_call","name":"cat","arguments":"{}","call_id":"c2"}`
	paid2   = `{"type":"token_count","info":{"total_token_usage":{"input_tokens":47,"cached_input_tokens":12,` +
		`"cache_write_input_tokens":5,"output_tokens":12,"reasoning_output_tokens":3}}}`
	replied = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a and b"}]}`
)

func TestImportContinuesUnfinishedTurn(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	saves := [][]string{{asked, called}, {asked, called, paid, listed}, {asked, called, paid, listed, called2, paid2, replied}}
	for _, items := range saves {
		s := rollout(t, items...)
		if _, err := sessioncopy.Import(ctx, dir, s, keepSecrets); err != nil {
			t.Fatal(err)
		}
		before := read(t, journalOf(dir, s.ID))
		wantImport(t, dir, rollout(t, items...), 0)
		for n := range saves { // older ones, too
			if len(saves[n]) <= len(items) {
				wantImport(t, dir, rollout(t, saves[n]...), 0)
			}
		}
		if diff := cmp.Diff(string(before), string(read(t, journalOf(dir, s.ID)))); diff != "" {
			t.Fatalf("a repeated import of %d items changed the journal (-before +after):\n%s", len(items), diff)
		}
	}
	state, _, err := dir.Load(ctx, rollout(t, asked).ID)
	if err != nil {
		t.Fatal(err)
	}
	stats := state.Stats
	used := projection.Totals{Input: 30, CachedRead: 12, CachedWrite: 5, Output: 9, Thought: 3}
	if stats.Messages != 2 || stats.Tools != 2 || !reflect.DeepEqual(stats.Usage, used) || len(state.OpenTurns) > 0 {
		t.Errorf("%+v, %+v", stats, state.OpenTurns)
	}
	want := []string{"session.created", "message.appended", "turn.started", "tool.started", "turn.ended", "session.imported",
		"turn.started", "tool.completed", "turn.ended", "session.imported",
		"turn.started", "tool.started", "message.appended", "turn.ended", "session.imported"}
	if diff := cmp.Diff(want, eventTypes(t, dir, rollout(t, asked).ID)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// A later save lacks the calls of the first turn.
func TestImportAfterCallsWereRemoved(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	const line = `{"type":%q,"uuid":"%d","parentUuid":"%d","sessionId":"s","timestamp":"2026-11-21T12:00:00Z",` +
		`"message":{"content":%s}}` + "\n"
	asked, called := fmt.Sprintf(line, "user", 1, 0, `"go"`),
		fmt.Sprintf(line, "assistant", 2, 1, `[{"type":"tool_use","id":"c","name":"ls"}]`)+
			fmt.Sprintf(line, "user", 3, 2, `[{"type":"tool_result","tool_use_id":"c","content":"a b"}]`)
	replied := func(parent int) string { return fmt.Sprintf(line, "assistant", 4, parent, `"a and b"`) }
	more := fmt.Sprintf(line, "user", 5, 4, `"on"`)
	wantImport(t, dir, transcriptOf(t, "claude", asked+called+replied(3)), 2)
	wantImport(t, dir, transcriptOf(t, "claude", asked+replied(1)), 0)
	wantImport(t, dir, transcriptOf(t, "claude", asked+replied(1)+more), 1)
	wantImport(t, dir, transcriptOf(t, "claude", asked+replied(1)+more), 0)
}

func TestImportCountsMessagesAndSkippedLines(t *testing.T) {
	const line = `{"type":"user","uuid":"%[1]d","parentUuid":"%[2]d","sessionId":"s","timestamp":"2026-11-21T12:00:00Z",` +
		`"message":{"content":"%[1]d"}}` + "\n"
	_, dir := newTeam(t, journal.Options{})
	text, id := "damaged\n", ""
	var taken []int
	for n, want := range []sessioncopy.Counts{{Written: 1, Total: 1, Skipped: 1}, {Written: 2, Total: 3, Skipped: 1},
		{Written: 0, Total: 3, Skipped: 2}} {
		switch n {
		case 0:
			text += fmt.Sprintf(line, 1, 0)
		case 1:
			text += fmt.Sprintf(line, 2, 1) + fmt.Sprintf(line, 3, 2)
		case 2:
			text += "damaged\n"
		}
		s := transcriptOf(t, "claude", text)
		id = s.ID
		if got, err := sessioncopy.Import(ctx, dir, s, keepSecrets); got != want || err != nil {
			t.Errorf("import %d: %+v, %v; want %+v", n+1, got, err, want)
		}
	}
	for e, err := range dir.Events(ctx, id) {
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := projection.Decode(e); e.Type == "session.imported" {
			taken = append(taken, p.(projection.SessionImported).Taken)
		}
	}
	if diff := cmp.Diff([]int{1, 2}, taken); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}

// Every save of a growing transcript is imported; no turn is begun without being ended.
func TestImportOfEachSaveLeavesNoOpenTurn(t *testing.T) {
	pi := func(items ...string) *interchange.Session {
		text := `{"type":"session","id":"p","timestamp":"2026-11-21T12:00:00Z","cwd":"/work"}` + "\n"
		for i, item := range items {
			text += fmt.Sprintf(`{"type":"message","id":"e%d","parentId":"e%d","timestamp":"2026-11-21T12:00:%02dZ",`+
				`"message":%s}`+"\n", i, i-1, i, item)
		}
		return transcriptOf(t, "pi", text)
	}
	for name, test := range map[string]struct {
		read  func(...string) *interchange.Session
		items []string
		tools int
	}{
		"tools before the reply": {func(items ...string) *interchange.Session { return rollout(t, items...) },
			[]string{asked, called, listed, replied, asked, replied, asked, called2, replied}, 2},
		"tools after the reply": {pi, []string{`{"role":"user","content":"go"}`,
			`{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"toolCall","id":"c1","name":"ls","arguments":{}}]}`,
			`{"role":"toolResult","toolCallId":"c1","content":[{"type":"text","text":"a b"}]}`,
			`{"role":"assistant","content":[{"type":"text","text":"a and b"}]}`,
			`{"role":"user","content":"and then?"}`, `{"role":"user","content":"hello?"}`,
			`{"role":"assistant","content":[{"type":"text","text":"Nothing."}]}`}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, dir := newTeam(t, journal.Options{})
			for n := range test.items {
				if _, err := sessioncopy.Import(ctx, dir, test.read(test.items[:n+1]...), keepSecrets); err != nil {
					t.Fatal(err)
				}
				state, _, err := dir.Load(ctx, test.read(test.items[0]).ID)
				if err != nil || len(state.OpenTurns) > 0 {
					t.Fatalf("after %d items: %+v, %v", n+1, state.OpenTurns, err)
				}
			}
			_, other := newTeam(t, journal.Options{})
			wantImport(t, other, test.read(test.items...), countMessages(test.items))
			state, _, err := dir.Load(ctx, test.read(test.items[0]).ID)
			if err != nil || state.Stats.Messages != countMessages(test.items) || state.Stats.Tools != test.tools {
				t.Errorf("%+v, %v", state.Stats, err)
			}
		})
	}
}

// countMessages counts the items that are messages.
func countMessages(items []string) (n int) {
	for _, item := range items {
		if strings.Contains(item, `"role":"user"`) || strings.Contains(item, `"role":"assistant"`) {
			n++
		}
	}
	return n
}

func TestImportIgnoresWhichSecretsAreKnown(t *testing.T) {
	hide := func(secret string) func(journal.Record) journal.Record {
		return func(r journal.Record) journal.Record {
			r.Data = bytes.ReplaceAll(r.Data, []byte(secret), []byte("[REDACTED:KEY]"))
			return r
		}
	}
	_, dir := newTeam(t, journal.Options{})
	for i, redact := range []func(journal.Record) journal.Record{hide("swordfish"), keepSecrets, hide("trout")} {
		if _, err := sessioncopy.Import(ctx, dir, save(t, "a swordfish and a trout, two", "well"), redact); err != nil {
			t.Errorf("import %d: %v", i, err)
		}
	}
	wantTexts(t, dir, "a [REDACTED:KEY] and a trout, two", "well")
	for _, other := range []string{"a swordfish and a trout, three", "the swordfish and a trout, two", "a and a trout, two"} {
		if _, err := sessioncopy.Import(ctx, dir, save(t, other), keepSecrets); !errors.Is(err, sessioncopy.ErrDiverged) {
			t.Errorf("%s: %v", other, err)
		}
	}
}

func TestImportedBranchIsFork(t *testing.T) {
	const text = `{"type":"user","uuid":"1","sessionId":"s","timestamp":"2026-11-21T12:00:00Z","message":{"content":"go"}}
{"type":"assistant","uuid":"2","parentUuid":"1","timestamp":"2026-11-21T12:00:01Z","message":{"content":"swordfish"}}
{"type":"user","uuid":"3","parentUuid":"2","timestamp":"2026-11-21T12:00:02Z","message":{"content":"one way"}}
{"type":"user","uuid":"4","parentUuid":"2","timestamp":"2026-11-21T12:00:03Z","message":{"content":"another way"}}
`
	hide := func(r journal.Record) journal.Record {
		r.Data = bytes.ReplaceAll(r.Data, []byte("swordfish"), []byte("[REDACTED:KEY]"))
		return r
	}
	_, dir := newTeam(t, journal.Options{})
	s := transcriptOf(t, "claude", text)
	if len(s.Branches) != 1 {
		t.Fatalf("%d branches", len(s.Branches))
	}
	other, err := s.Branches[0]()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{3, 0} {
		if done, err := sessioncopy.Import(ctx, dir, s, hide); err != nil || done.Written != want {
			t.Fatalf("%+v, %v", done, err)
		}
		done, err := sessioncopy.ImportBranch(ctx, dir, s.ID, other, hide)
		if err != nil || done.Written != want {
			t.Fatalf("the branch: %+v, %v", done, err)
		}
	}
	branch, err := dir.Session(ctx, other.ID)
	if err != nil || branch.MessageCount != 3 {
		t.Fatalf("%+v, %v", branch, err)
	}
	state, _, err := dir.Load(ctx, branch.ID)
	// session.created, the message, and the turn with its message and end
	if want := (projection.Parent{SessionID: s.ID, Seq: 5}); err != nil || state.Parent == nil || *state.Parent != want {
		t.Errorf("the parent is %+v, want %+v: %v", state.Parent, want, err)
	}
}

func TestImportedBranchWithoutCommonEventIsForkOfTheBeginning(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	wantImport(t, dir, save(t, "hello"), 1)
	branch := rollout(t, asked)
	if done, err := sessioncopy.ImportBranch(ctx, dir, id(1), branch, keepSecrets); err != nil || done.Written != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	state, _, err := dir.Load(ctx, branch.ID)
	if want := (projection.Parent{SessionID: id(1), Seq: 1}); err != nil || state.Parent == nil || *state.Parent != want {
		t.Errorf("the parent is %+v, want %+v: %v", state.Parent, want, err)
	}
}

func TestImportSetsTitleOnce(t *testing.T) {
	const start = `{"type":"user","uuid":"1","sessionId":"s","timestamp":"2026-11-21T12:00:00Z","message":{"content":"go"}}
{"type":"custom-title","customTitle":"Theirs"}
`
	const more = `{"type":"user","uuid":"2","parentUuid":"1","timestamp":"2026-11-21T12:00:01Z","message":{"content":"on"}}
`
	_, dir := newTeam(t, journal.Options{})
	s := transcriptOf(t, "claude", start)
	wantImport(t, dir, s, 1)
	if row, err := dir.Session(ctx, s.ID); err != nil || row.Title != "Theirs" {
		t.Errorf("%+v, %v", row, err)
	}
	if err := dir.Append(ctx, s.ID, projection.Record(created, projection.SessionRenamed{Title: "Ours"})); err != nil {
		t.Fatal(err)
	}
	wantImport(t, dir, transcriptOf(t, "claude", start+more), 1)
	if row, err := dir.Session(ctx, s.ID); err != nil || row.Title != "Ours" || row.MessageCount != 2 {
		t.Errorf("%+v, %v", row, err)
	}
}

// A title that the other program gave after the first import is left out: the session may have been renamed since.
func TestImportLeavesOutLaterTitle(t *testing.T) {
	const start = `{"type":"user","uuid":"1","sessionId":"s","timestamp":"2026-11-21T12:00:00Z","message":{"content":"go"}}
`
	const more = `{"type":"custom-title","customTitle":"Theirs"}
{"type":"user","uuid":"2","parentUuid":"1","timestamp":"2026-11-21T12:00:01Z","message":{"content":"on"}}
`
	_, dir := newTeam(t, journal.Options{})
	wantImport(t, dir, transcriptOf(t, "claude", start), 1)
	s := transcriptOf(t, "claude", start+more)
	wantImport(t, dir, s, 1)
	if row, err := dir.Session(ctx, s.ID); err != nil || row.Title != "go" || row.MessageCount != 2 {
		t.Errorf("%+v, %v", row, err)
	}
}

// A crash leaves any beginning of the records, each time with a sound last line.
func TestImportOfTranscriptAfterCrashIsComplete(t *testing.T) {
	_, source := newTeam(t, journal.Options{})
	whole := rollout(t, asked, called, paid, listed, called2, paid2, replied, asked, called)
	wantImport(t, source, whole, 3)
	want := eventTypes(t, source, whole.ID)
	data := read(t, journalOf(source, whole.ID))
	at := 0
	for line := range bytes.Lines(data) {
		_, dir := newTeam(t, journal.Options{})
		write(t, journalOf(dir, whole.ID), data[:at])
		at += len(line)
		if _, err := sessioncopy.Import(ctx, dir, rollout(t, asked, called, paid, listed, called2, paid2, replied, asked,
			called), keepSecrets); err != nil {
			t.Fatalf("after %d bytes: %v", at, err)
		}
		if diff := cmp.Diff(want, eventTypes(t, dir, whole.ID)); diff != "" {
			t.Fatalf("after %d bytes (-want +got):\n%s", at, diff)
		}
	}
}

// eventTypes returns the types of the events of a session, without those about its
// file.
func eventTypes(t testing.TB, dir *catalog.Dir, id string) (types []string) {
	t.Helper()
	for e, err := range dir.Events(ctx, id) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type != journal.TypeRecovered && e.Type != journal.TypeSealed {
			types = append(types, e.Type)
		}
	}
	return types
}

// The origin is that of the messages that were written. A program's session with what was redacted must not be continued.
func TestImportRecordsTheOrigin(t *testing.T) {
	const talk = `{"type":"%s","uuid":"u%d","parentUuid":"u%d","sessionId":"c","timestamp":"2026-11-21T12:00:0%[2]dZ",` +
		`"message":{"id":"m%[2]d","content":[{"type":"text","text":"text %[2]d"}]}}` + "\n"
	first := fmt.Sprintf(talk, "user", 1, 0) + fmt.Sprintf(talk, "assistant", 2, 1)
	hides := func(r journal.Record) journal.Record {
		r.Data = bytes.ReplaceAll(r.Data, []byte("text 1"), []byte("[REDACTED:KEY]"))
		return r
	}
	sign := func(source string, o projection.ImportOrigin) string { return source + o.Point + o.Sum }
	for name, test := range map[string]struct {
		redact func(journal.Record) journal.Record
		sign   func(string, projection.ImportOrigin) string
		want   bool
	}{
		"signed":     {keepSecrets, sign, true},
		"not signed": {keepSecrets, nil, false},
		"foreign":    {keepSecrets, func(string, projection.ImportOrigin) string { return "" }, false},
		"redacted":   {hides, sign, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, dir := newTeam(t, journal.Options{})
			text := first
			for n := range 2 {
				if n == 1 {
					text += fmt.Sprintf(talk, "user", 3, 2)
					test.redact = keepSecrets // the first message stays redacted
				}
				s := transcriptOf(t, "claude", text)
				s.Sign = test.sign
				if _, err := sessioncopy.Import(ctx, dir, s, test.redact); err != nil {
					t.Fatal(err)
				}
				state, _, err := dir.Load(ctx, s.ID)
				if err != nil || (state.Origin != nil) != test.want {
					t.Fatalf("import %d: %+v, %v", n+1, state.Origin, err)
				}
				if o := state.Origin; o != nil && (!o.Fits || o.Seen != state.LastMessage || o.Sum != state.History ||
					o.Host != sign("claude", o.ImportOrigin) || o.Point != fmt.Sprintf("u%d", n+2)) {
					t.Errorf("import %d: %+v, state %+v", n+1, o, state)
				}
			}
		})
	}
}
