package sessioncopy_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// sessionFrom returns the session of a transcript.
func sessionFrom(t testing.TB, format, text string) *interchange.Session {
	t.Helper()
	s, err := interchange.Transcript(format, interchange.Source{Path: "/old/s.jsonl",
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}, projection.App{Name: "test", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stepsOf returns the messages and tools of a session, and what its turns are.
func stepsOf(t testing.TB, dir *catalog.Dir, id string) (all []string) {
	t.Helper()
	for e, err := range dir.Events(ctx, id) {
		if err != nil {
			t.Fatal(err)
		}
		p, err := projection.Decode(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := projection.Validate(e); err != nil {
			t.Error(err)
		}
		switch p := p.(type) {
		case projection.TurnStarted:
			all = append(all, "turn "+p.TurnID)
		case projection.TurnEnded:
			all = append(all, "end "+p.TurnID)
			if p.Usage != nil {
				all = append(all, fmt.Sprint("tokens ", p.Usage.Output))
			}
		case projection.ToolStarted:
			all = append(all, "call "+p.ToolID)
		case projection.ToolCompleted:
			all = append(all, "result "+p.ToolID+" "+p.Output)
		case projection.MessageAppended:
			all = append(all, p.Message.ID+": "+p.Message.Content)
		}
	}
	return all
}

const geminiHeader = `{"sessionId":"s","projectHash":"h","startTime":"2026-05-01T09:00:00Z"}` + "\n"

func geminiLine(id, kind, text string, second int, more string) string {
	return fmt.Sprintf(`{"id":%q,"type":%q,"content":%q,"timestamp":"2026-05-01T09:00:%02dZ"%s}`+"\n", id, kind, text, second, more)
}

// A message that was imported may get calls, and a call its result. They are imported later, in their turn.
func TestImportAddsWhatAMessageGot(t *testing.T) {
	call := func(id, status, result string) string {
		return fmt.Sprintf(`{"id":%q,"name":"read","args":{},"status":%q,"result":[{"text":%q}]}`, id, status, result)
	}
	ask, done := geminiLine("m1", "user", "read it", 1, ""), geminiLine("m3", "gemini", "Done.", 9, "")
	reply := func(calls ...string) string {
		return geminiLine("m2", "gemini", "It says hello.", 2, `,"tokens":{"output":5},"toolCalls":[`+strings.Join(calls, ",")+`]`)
	}
	saves := []string{
		ask + reply(),
		ask + reply(call("c1", "executing", "")) + done,
		ask + reply(call("c1", "success", "hello"), call("c2", "success", "world")) + done,
	}
	c, _ := newTeam(t, journal.Options{})
	dir := c.Team("gemini")
	for n, want := range []int{2, 1, 0} {
		s := sessionFrom(t, "gemini", geminiHeader+saves[n])
		done, err := sessioncopy.Import(ctx, dir, s, keepSecrets)
		if err != nil || done.Written != want || done.Late != []int{0, 1, 3}[n] {
			t.Errorf("save %d: %+v, %v", n, done, err)
		}
	}
	s := sessionFrom(t, "gemini", geminiHeader+saves[2])
	want := []string{
		"m1: read it", "turn m2", "m2: It says hello.", "end m2", "tokens 5",
		"turn m2", "call c1", "end m2", "turn m3", "m3: Done.", "end m3",
		"turn m2", "result c1 hello", "call c2", "result c2 world", "end m2",
	}
	got := stepsOf(t, dir, s.ID)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if done, err := sessioncopy.Import(ctx, dir, s, keepSecrets); err != nil || done.Written+done.Late > 0 {
		t.Errorf("the same save again: %+v, %v", done, err)
	}
	grown := sessionFrom(t, "gemini", geminiHeader+saves[2]+geminiLine("m4", "user", "thanks", 20, ""))
	if done, err := sessioncopy.Import(ctx, dir, grown, keepSecrets); err != nil || done.Written != 1 || done.Late > 0 {
		t.Errorf("a later save: %+v, %v", done, err)
	}
}

// A reply that was saved unfinished gets the rest, in a message of its own.
func TestImportAddsTheRestOfAReply(t *testing.T) {
	line := func(n, parent, role, id, text string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%q,"sessionId":"s","timestamp":"2026-05-01T09:00:0%sZ",`+
			`"message":{"id":%q,"content":[{"type":"text","text":%q}]}}`+"\n", role, n, parent, n, id, text)
	}
	c, _ := newTeam(t, journal.Options{})
	dir := c.Team("claude")
	text := line("1", "", "user", "", "go")
	var s *interchange.Session
	size := 0
	for n, more := range []string{line("2", "1", "assistant", "r", "one"), line("3", "2", "assistant", "r", "two"),
		line("4", "3", "assistant", "r", "three") + line("5", "4", "user", "", "on"), line("6", "5", "assistant", "q", "ok")} {
		text += more
		for again := range 2 {
			s = sessionFrom(t, "claude", text)
			done, err := sessioncopy.Import(ctx, dir, s, keepSecrets)
			if err != nil || again == 1 && done.Written+done.Late > 0 {
				t.Errorf("save %d: %+v, %v", n, done, err)
			}
			if now := len(read(t, journalOf(dir, s.ID))); again == 1 && now != size {
				t.Errorf("save %d again: %d bytes became %d", n, size, now)
			} else {
				size = now
			}
		}
	}
	want := []string{"1: go", "turn 2", "2: one", "end 2", "turn 2", "2#2: two", "end 2", "turn 2", "2#3: three", "end 2",
		"5: on", "turn 6", "6: ok", "end 6"}
	if diff := cmp.Diff(want, stepsOf(t, dir, s.ID)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	other := strings.Replace(text, `"text":"go"`, `"text":"stay"`, 1)
	if _, err := sessioncopy.Import(ctx, dir, sessionFrom(t, "claude", other), keepSecrets); err == nil {
		t.Error("another message of a person was taken for the same")
	}
}

// A save after a compaction extends the one before it.
func TestImportExtendsACompactedSession(t *testing.T) {
	line := func(n, parent, role, text, more string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"s","timestamp":"2026-05-01T09:00:0%sZ",`+
			`"message":{"content":%q}%s}`+"\n", role, n, parent, n, text, more)
	}
	before := line("1", "null", "user", "plan", "") + line("2", `"1"`, "assistant", "planned", "")
	after := `{"type":"system","subtype":"compact_boundary","uuid":"3","parentUuid":null,"logicalParentUuid":"never"}` + "\n" +
		line("4", `"3"`, "user", "They planned.", `,"isCompactSummary":true`) + line("5", `"4"`, "user", "go on", "")
	c, _ := newTeam(t, journal.Options{})
	dir := c.Team("claude")
	wantImport(t, dir, sessionFrom(t, "claude", before), 2)
	wantImport(t, dir, sessionFrom(t, "claude", before+after), 1)
	wantImport(t, dir, sessionFrom(t, "claude", before), 0)
}
