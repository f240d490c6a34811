package interchange_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
	"github.com/agent-chatter/agent-chatter/schemas"
)

func transcript(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sourceOf returns the source of a transcript with this text.
func sourceOf(path, text string) interchange.Source {
	return interchange.Source{
		Path: path,
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
	}
}

// readSynapse reads the header of a session of Synapse, with an index in its directory.
func readSynapse(src interchange.Source, index []byte, modified time.Time) (*interchange.Session, error) {
	src.Modified = modified
	src.File = func(path string) (interchange.Source, bool) {
		return sourceOf(path, string(index)), filepath.Base(path) == "sessions.json"
	}
	return interchange.Transcript("synapse", src, app)
}

// mustReadTranscript reads the header of a transcript.
func mustReadTranscript(t testing.TB, format, path, text string) *interchange.Session {
	t.Helper()
	s, err := interchange.Transcript(format, sourceOf(path, text), app)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// recordsOf collects the events of a session. So the session must not reuse the memory of
// their Data.
func recordsOf(t testing.TB, s *interchange.Session) (records []journal.Record) {
	t.Helper()
	for r, err := range s.Records() {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

// payloadsOf returns what the events of a session record.
func payloadsOf(t testing.TB, s *interchange.Session) (payloads []projection.Payload) {
	t.Helper()
	for _, r := range recordsOf(t, s) {
		p, err := projection.Decode(journal.Event{Type: r.Type, Data: r.Data})
		if err != nil {
			t.Fatal(err)
		}
		payloads = append(payloads, p)
	}
	return payloads
}

func messagesOf(t testing.TB, s *interchange.Session) (messages []projection.Message) {
	t.Helper()
	for _, p := range payloadsOf(t, s) {
		if m, ok := p.(projection.MessageAppended); ok {
			messages = append(messages, m.Message)
		}
	}
	return messages
}

// importedOf returns the origin of a session, with its counts.
func importedOf(t testing.TB, s *interchange.Session) projection.SessionImported {
	t.Helper()
	payloads := payloadsOf(t, s)
	return payloads[len(payloads)-1].(projection.SessionImported)
}

// summary returns the messages of a session, each with the tools of its turn
// before it, and with its model and tokens. A turn without a message has a line
// of its own.
func summary(t testing.TB, s *interchange.Session) string {
	t.Helper()
	var b strings.Builder
	var tools []projection.ToolStarted
	var message *projection.Message
	model := ""
	for _, p := range payloadsOf(t, s) {
		switch p := p.(type) {
		case projection.TurnStarted:
			model = p.Model
		case projection.ToolStarted:
			tools = append(tools, p)
		case projection.ToolCompleted:
			i := slices.IndexFunc(tools, func(s projection.ToolStarted) bool { return s.ToolID == p.ToolID })
			fmt.Fprintf(&b, "  %s %s -> %q %q\n", tools[i].Name, tools[i].Input, p.Output, p.Error)
			tools = slices.Delete(tools, i, i+1)
		case projection.MessageAppended:
			if p.Message.Speaker.Type == projection.TypeHuman {
				fmt.Fprintf(&b, "%s: %s\n", p.Message.Speaker.Name, p.Message.Content)
			} else {
				message = &p.Message
			}
		case projection.TurnEnded:
			for _, tool := range tools {
				fmt.Fprintf(&b, "  %s %s ...\n", tool.Name, tool.Input)
			}
			tools = nil
			fmt.Fprintf(&b, "%s:", p.MemberID)
			if message != nil {
				fmt.Fprintf(&b, " %s", message.Content)
			}
			if p.Usage != nil {
				fmt.Fprintf(&b, " (%s, %s)", model, tokens(*p.Usage))
			}
			if p.FinishReason != projection.Done {
				fmt.Fprintf(&b, " %s%s", p.FinishReason, p.Error)
			}
			b.WriteByte('\n')
			message = nil
		}
	}
	return b.String()
}

// tokens returns the tokens and the cost of a turn.
func tokens(u projection.Usage) string {
	text := fmt.Sprint(u.Input)
	if u.CachedRead > 0 {
		text += fmt.Sprintf("+%dr", u.CachedRead)
	}
	if u.CachedWrite > 0 {
		text += fmt.Sprintf("+%dw", u.CachedWrite)
	}
	text += fmt.Sprintf(", %d", u.Output)
	if u.Thought > 0 {
		text += fmt.Sprintf("+%dt", u.Thought)
	}
	if u.Cost != nil {
		text += fmt.Sprintf(", %v %s", u.Cost.Amount, u.Cost.Currency)
	}
	return text
}

func TestRecordedTranscripts(t *testing.T) {
	for name, test := range map[string]struct {
		want    string
		skipped int
	}{
		"claude/one-tool.jsonl": {`you: tool <<touch /home/dev/project/y.txt; echo hi-from-tool>>
  Bash {"command":"touch /home/dev/project/y.txt; echo hi-from-tool","description":"fake tool call"} -> "hi-from-tool" ""
claude: Tool done. Hello from fake. [NEXT: human] (claude-opus-5-5, 20, 10)
`, 17},
		"claude/interrupted.jsonl": {`you: slow 100
claude: Hello from fake. [NEXT: human] w0 w1 w2 w3 w4 w5 w6 w7 w8 (claude-opus-5-5, 10, 1) cancelled
`, 14},
		"codex/one-tool.jsonl": {`you: tool <<echo hi-from-tool; touch x9; id -u>>
  exec_command {"cmd":"echo hi-from-tool; touch x9; id -u"} -> "Chunk ID: a57bbd\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 4\nOutput:\nhi-from-tool\n0\n" ""
codex: Tool done. Hello from fake. [NEXT: human] (fake-model, 20, 10)
`, 3},
		"codex/resumed.jsonl": {`you: hi
codex: Hello from fake. [NEXT: human] (fake-model, 10, 5)
you: say <<second turn>>
codex: second turn (fake-model, 10, 5)
`, 3},
		"gemini/one-tool.jsonl": {`you: tool <<echo hi-from-tool; touch g2>>
  run_shell_command {"command":"echo hi-from-tool; touch g2","description":"fake tool call"} -> "<untrusted_context>\nOutput: hi-from-tool\nProcess Group PGID: 27510\n</untrusted_context>" ""
gemini: Tool done. Hello from fake. [NEXT: human] (gemini-3.8-flash, 20, 10)
`, 1},
		"gemini/repeated-ids.jsonl": {`you: hi
gemini: Hello from fake. [NEXT: human] (gemini-3.8-flash, 10, 5)
you: say <<a>>
gemini: a (gemini-3.8-flash, 10, 5)
you: say <<b>>
gemini: b (gemini-3.8-flash, 10, 5)
`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			data := transcript(t, name)
			format := filepath.Dir(name)
			if got := detect(t, data); got != format {
				t.Errorf("it looks like %q", got)
			}
			s := mustReadTranscript(t, format, "/old/"+name, string(data))
			if diff := cmp.Diff(test.want, summary(t, s)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if skipped := importedOf(t, s).Skipped; skipped != test.skipped {
				t.Errorf("%d lines were skipped, want %d", skipped, test.skipped)
			}
			checkRecords(t, s)
		})
	}
}

// checkRecords validates each event against its schema.
func checkRecords(t testing.TB, s *interchange.Session) {
	t.Helper()
	var at journal.Position
	for _, r := range recordsOf(t, s) {
		if r.Time.IsZero() {
			r.Time = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		}
		e, next, err := at.Next(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := schemas.Check(schemas.JournalEvent, e.Line()); err != nil {
			t.Errorf("%s: %v", e.Line(), err)
		}
		at = next
	}
}

// line returns v as a line of a transcript.
func line(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

type object = map[string]any

func TestTranscripts(t *testing.T) {
	const at = "2026-11-21T02:30:23.062Z"
	claude := func(uuid, parent, role string, content any, more ...any) string {
		l := object{"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": at,
			"message": object{"id": "m" + uuid, "role": role, "content": content}}
		for i := 0; i < len(more); i += 2 {
			l[more[i].(string)] = more[i+1]
		}
		return line(t, l)
	}
	codex := func(kind string, payload object) string {
		return line(t, object{"timestamp": at, "type": kind, "payload": payload})
	}
	codexMessage := func(role, text string) string {
		return codex(
			"response_item",
			object{"type": "message", "role": role, "content": []object{{"type": "input_text", "text": text}}},
		)
	}
	attached := func(uuid string, attachment object) string { // to the line before
		return line(t, object{"type": "attachment", "uuid": uuid, "parentUuid": string(uuid[0] - 1), "attachment": attachment})
	}
	gemini := func(id, kind, text string) string {
		return line(t, object{"id": id, "timestamp": at, "type": kind, "content": text})
	}
	for name, test := range map[string]struct{ format, text, want string }{
		"rewound branch": {"claude",
			claude("1", "", "user", "hello") + claude("2", "1", "user", "not this") + claude("3", "1", "user",
				"this"), "you: hello\nyou: this\n"},
		"reply that was tried again": {"claude",
			claude("1", "", "user", "hello") + claude("2", "1", "assistant", "half") + claude("3", "1", "assistant",
				"whole"), "you: hello\nclaude: half\nclaude: whole\n"},
		"missing parent": {"claude",
			claude("1", "", "user", "hello") + claude("3", "2", "assistant", "all the same"),
			"you: hello\nclaude: all the same\n"},
		"cycle of parents": {"claude",
			claude("1", "2", "user", "hello") + claude("2", "1", "assistant", "hello"), "you: hello\nclaude: hello\n"},
		"response in several lines": {"claude",
			claude("1", "", "user", "hello") + claude("2", "1", "assistant",
				[]object{{"type": "text", "text": "one"}}) +
				strings.Replace(claude("3", "2", "assistant", []object{{"type": "text", "text": "two"}}), `"m3"`,
					`"m2"`, 1), "you: hello\nclaude: one\n\ntwo\n"},
		"side chain and program messages": {"claude",
			claude("1", "", "user", "hello") + claude("2", "1", "assistant", "aside", "isSidechain", true) +
				claude("3", "1", "user", "meta", "isMeta", true), "you: hello\n"},
		"message and side chain": {"claude",
			claude("1", "", "user", "hello") + claude("2", "1", "user", "aside", "isSidechain", true), "you: hello\n"},
		"wrappers": {"claude",
			claude("1", "", "user", "<system-reminder>never\nthis</system-reminder>hello\n<local-command-stdout>x</local-command-stdout>"), "you: hello\n"},
		"failed tool": {"claude",
			claude("1", "", "user", "hello") + claude("2", "1", "assistant",
				[]object{{"type": "tool_use", "id": "t", "name": "Bash", "input": object{"a": 1}}}) +
				claude("3", "2", "user", []object{{"type": "tool_result", "tool_use_id": "t", "is_error": true,
					"content": "no"}}) + claude("4", "3", "assistant", "sorry"),
			"you: hello\n  Bash {\"a\":1} -> \"\" \"no\"\nclaude: sorry\n"},
		"invalid lines": {"claude",
			"nonsense\n{\"type\": 7}\n" + claude("1", "", "user", "hello") +
				`{"type":"assistant","uuid":"2","message":{"cont`, "you: hello\n"},
		"damaged lines": {"claude",
			claude("1", "", "user", "hello") + "{\"type\" \"user\"}\n{\"type\":\n{\"type\":]}\n{\"type\":\"user\"]\n{\"a\":{]}x}\n" +
				"{\"a\":[\n{\"a\n{\"a\":1 \"b\":2}\n{\"a\":,}\n{\"type\":\"user\",\"message\":{}}}\n{\"a\":;}\n", "you: hello\n"},
		"spaces and escapes": {"claude",
			" \t{ \"type\" : \"user\" ,\t\"uuid\" : \"1\" , \"timestamp\" : \"" + at + "\" , \"message\" : { \"content\" : [ { \"type\" :" +
				" \"text\" , \"text\" : \"a\\\\\" } , {\"type\":\"text\",\"text\":\"\\\"b\\u00e9\\ud800\\\"\"} ] } } \r\n", "you: a\\\n\n\"bé\ufffd\"\n"},
		"invalid escape": {"claude",
			`{"type":"user","uuid":"1","timestamp":"` + at + `","message":{"content":[{"type":"text","text":"\x"},{"type":"text",` +
				`"text":"hello"}]}}` + "\n", "you: hello\n"},
		"origins of messages": {"claude",
			claude("1", "", "user", "hello", "origin", object{"kind": "human"}) +
				claude("2", "1", "user", "auto", "origin", object{"kind": "auto-continuation"}) +
				attached("3", object{"type": "other", "prompt": "no"}) + attached("4", object{"type": "queued_command"}) +
				attached("5", object{"type": "queued_command", "prompt": "no", "isMeta": true}) +
				attached("6", object{"type": "queued_command", "prompt": "no", "commandMode": "task-notification"}) +
				attached("7", object{"type": "queued_command", "prompt": "typed", "isMeta": false, "commandMode": "prompt"}) +
				claude("8", "7", "assistant", "ok"), "you: hello\nyou: typed\nclaude: ok\n"},
		"call that was aborted": {"claude",
			claude("1", "", "user", "hello") + claude("2", "1", "assistant",
				[]object{{"type": "tool_use", "id": "t", "name": "Bash", "input": object{}}}, "isAbortedMidStream", true),
			"you: hello\nclaude: cancelled\n  Bash {} ...\nclaude: interrupted\n"},
		"documents": {"claude",
			claude("1", "", "user", []object{{"type": "document", "source": object{"media_type": "text/plain"}},
				{"type": "document"}, {"type": "document", "source": object{"media_type": "a/b", "data": "aGVsbA=="}}}),
			"you: [document: text/plain]\n\n[document]\n\n[document: a/b, 4 bytes]\n"},
		"rollbacks": {"codex",
			codexMessage("user", "one") + codexMessage("assistant", "1") + codexMessage("user", "two") +
				codex("event_msg", object{"type": "thread_rolled_back", "num_turns": 0}) + codexMessage("user", "three") +
				codex("event_msg", object{"type": "thread_rolled_back", "num_turns": 1}) + codexMessage("user", "four") +
				codex("event_msg", object{"type": "thread_rolled_back", "num_turns": 2}) + codexMessage("user", "five"),
			"you: one\ncodex: 1\nyou: five\n"},
		"rollback of all turns": {"codex",
			codexMessage("user", "one") + codexMessage("assistant", "1") + codexMessage("user", "two") +
				codex("event_msg", object{"type": "thread_rolled_back", "num_turns": 7}) + codexMessage("user", "three"),
			"you: three\n"},
		"custom call and images": {"codex",
			codex("response_item", object{"type": "message", "role": "user", "content": []object{
				{"type": "input_image", "image_url": "https://host/a.png"}, {"type": "input_text", "text": "<image>"}}}) +
				codex("response_item", object{"type": "custom_tool_call", "call_id": "c", "name": "apply", "input": "a patch"}) +
				codex("response_item", object{"type": "custom_tool_call_output", "call_id": "c", "output": object{
					"success": false}}),
			"you: [image]\n  apply \"a patch\" -> \"\" \"failed\"\ncodex: interrupted\n"},
		"output with metadata": {"codex",
			codexMessage("user", "hello") + codex("response_item", object{"type": "function_call", "call_id": "c", "name": "ls"}) +
				codex("response_item", object{"type": "function_call_output", "call_id": "c",
					"output": `{"output":"out","metadata":{"exit_code":0}}`}) +
				codex("response_item", object{"type": "function_call", "call_id": "d", "name": "ls"}) +
				codex("response_item", object{"type": "function_call_output", "call_id": "d", "output": `{"output":"out"}`}),
			"you: hello\n  ls {} -> \"out\" \"\"\n  ls {} -> \"{\\\"output\\\":\\\"out\\\"}\" \"\"\ncodex: interrupted\n"},
		"files": {"gemini",
			line(t, object{"id": "1", "timestamp": at, "type": "user", "content": []object{{"text": "see "},
				{"fileData": object{"mimeType": "text/plain"}}}, "displayContent": "see @a"}) +
				line(t, object{"id": "2", "timestamp": at, "type": "strange", "content": "never"}),
			"you: see @a\n\n[file: text/plain]\n"},
		"messages set again": {"gemini",
			gemini("1", "user", "one") + gemini("2", "gemini", "1") + line(t, object{"$set": object{"messages": []object{
				{"id": "2", "type": "user", "timestamp": at, "content": "two"}}}}) + gemini("3", "gemini", "3"),
			"you: two\ngemini: 3\n"},
		"rewind of all": {"gemini",
			gemini("1", "user", "one") + line(t, object{"$rewindTo": "?"}) + gemini("1", "user", "two"), "you: two\n"},
		"result in parts": {"gemini",
			gemini("1", "user", "one") + line(t, object{"id": "2", "timestamp": at, "type": "gemini", "toolCalls": []object{
				{"id": "c", "name": "ls", "args": object{}, "status": "executing", "result": []object{{"text": "a"}, {"text": "b"}}}}}),
			"you: one\n  ls {} -> \"a\\nb\" \"\"\ngemini: interrupted\n"},
		"rollback": {"codex",
			codexMessage("user", "one") + codexMessage("assistant", "1") + codexMessage("user", "two") +
				codexMessage("assistant", "2") +
				codex("event_msg", object{"type": "thread_rolled_back", "num_turns": 1}) +
				codexMessage("user", "three"), "you: one\ncodex: 1\nyou: three\n"},
		"instructions": {"codex",
			codexMessage("developer", "never") + codexMessage("user", "# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>\nnever\n</INSTRUCTIONS>") +
				codexMessage("user", "hello"), "you: hello\n"},
		"older tool output": {"codex",
			codexMessage("user", "hello") + codex("response_item", object{"type": "function_call", "call_id": "c",
				"name": "shell", "arguments": "not json"}) +
				codex("response_item", object{"type": "function_call_output", "call_id": "c",
					"output": object{"content": "out"}}) + codexMessage("assistant", "done"),
			"you: hello\n  shell \"not json\" -> \"out\" \"\"\ncodex: done\n"},
		"rewind": {"gemini",
			gemini("1", "user", "one") + gemini("2", "gemini", "1") + gemini("3", "user", "two") +
				line(t, object{"$rewindTo": "3"}) + gemini("4", "user", "three"), "you: one\ngemini: 1\nyou: three\n"},
		"replaced message": {"gemini",
			gemini("1", "user", "one") + gemini("2", "gemini", "half") + gemini("3", "info", "note") +
				gemini("2", "gemini", "whole"), "you: one\ngemini: whole\n"},
		"instructor and worker": {"claude-master",
			line(t, object{"sessionId": "s", "createdAt": at, "config": object{"instructorModel": "big",
				"workDir": "/work"},
				"instructor": object{"conversationHistory": []object{{"role": "user", "content": "build it"},
					{"role": "assistant", "content": "do one"}, {"role": "user", "content": "one is done"},
					{"role": "assistant", "content": "do two"}}},
				"worker": object{"conversationHistory": []object{{"role": "user", "content": "do one"},
					{"role": "assistant", "content": []object{{"type": "tool_use", "id": "t", "name": "Bash",
						"input": object{}}}}, {"role": "user",
						"content": []object{{"type": "tool_result", "tool_use_id": "t", "content": "out"}}},
					{"role": "assistant", "content": "one is done"}, {"role": "user", "content": "do two"},
					{"role": "assistant", "content": "two is done"}}}}),
			"you: build it\ninstructor: do one\n  Bash {} -> \"out\" \"\"\nworker: one is done\ninstructor: do " +
				"two\nworker: two is done\n"},
		"worker after the instructor": {"claude-master",
			line(t, object{"sessionId": "s", "createdAt": at,
				"instructor": object{"conversationHistory": []object{{"role": "user", "content": "build it"}}},
				"worker": object{"conversationHistory": []object{{"role": "user", "content": "do one"},
					{"role": "assistant", "content": "one is done"}, {"role": "user", "content": "do two"},
					{"role": "assistant", "content": "two is done"}}}}),
			"you: build it\nworker: one is done\nworker: two is done\n"},
		"instructor without worker": {"claude-master",
			line(t, object{"sessionId": "s", "createdAt": at,
				"instructor": object{"conversationHistory": []object{{"role": "user", "content": "build it"},
					{"role": "assistant", "content": "do one"}, {"role": "user", "content": "done"}}}}),
			"you: build it\ninstructor: do one\nworker: done\n"},
		"instructor log": {"claude-master",
			line(t, object{"type": "session-metadata", "sessionId": "s", "createdAt": at}) +
				line(t, object{"type": "instructor-message", "timestamp": at, "message": object{"role": "user",
					"content": "build it"}}) +
				line(t, object{"type": "instructor-message", "timestamp": at, "message": object{"role": "assistant",
					"content": []object{{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "do one"}}}}) +
				`{"type":"instr`,
			"you: build it\ninstructor: do one\n"},
		"file of an older version": {"gemini",
			"{\n \"sessionId\": \"s\", \"messages\": [" + gemini("1", "user", "one") + "]\n}", "you: one\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := detect(t, []byte(test.text)); got != test.format && got != "" {
				t.Errorf("it looks like %q", got)
			}
			s := mustReadTranscript(t, test.format, "/old/s.jsonl", test.text)
			if diff := cmp.Diff(test.want, summary(t, s)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			checkRecords(t, s)
		})
	}
}

func TestSynapseTimeIsFromIndex(t *testing.T) {
	text := `{"role":"system","content":[{"type":"text","text":"never"}]}
{"role":"user","content":[{"type":"text","text":"hello"}]}
{"role":"assistant","content":[],"toolCalls":[{"id":"c","name":"ls","arguments":"{\"a\":1}"}]}
{"role":"tool","content":[{"type":"text","text":"out"}],"toolCallId":"c"}
{"role":"assistant","content":[{"type":"thinking","content":"hm"},{"type":"text","text":"done"}]}
`
	if got := detect(t, []byte(text)); got != "synapse" {
		t.Errorf("it looks like %q", got)
	}
	modified := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for index, want := range map[string]struct{ at, cwd string }{
		"": {"2026-11-21T12:00:00.000Z", ""},
		`{"version":"1.0.0","sessions":[{"id":"s","title":"T","createdAt":"2026-01-02T03:04:05Z","cwd":"/work"}]}`: {
			"2026-01-02T03:04:05.000Z", "/work"},
		`{"sessions":[{"id":"s","title":"T","createdAt":"never","cwd":"/work"}]}`: {"2026-11-21T12:00:00.000Z", "/work"},
	} {
		s, err := readSynapse(sourceOf("/old/s.jsonl", text), []byte(index), modified)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("you: hello\n  ls {\"a\":1} -> \"out\" \"\"\nsynapse: done\n", summary(t, s)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		at, skipped := messagesOf(t, s)[0].Timestamp, importedOf(t, s).Skipped
		if at != want.at || s.Created.CWD != want.cwd || skipped != 1 {
			t.Errorf("at %s in %q, want %+v; %d skipped", at, s.Created.CWD, want, skipped)
		}
		checkRecords(t, s)
		later, err := readSynapse(sourceOf("/old/s.jsonl", text), []byte(index), modified.Add(time.Hour))
		if err != nil || later.ID != s.ID {
			t.Errorf("the same file later is %s, was %s: %v", later.ID, s.ID, err)
		}
	}
}

// usageOf returns the tokens of a session with one turn.
func usageOf(t testing.TB, s *interchange.Session) *projection.Usage {
	t.Helper()
	for _, p := range payloadsOf(t, s) {
		if ended, ok := p.(projection.TurnEnded); ok {
			return ended.Usage
		}
	}
	return nil
}

func TestResponseTokensAreCountedOnce(t *testing.T) {
	s := mustReadTranscript(t, "claude", "/old/s.jsonl", `{"type":"user","uuid":"1","sessionId":"s","timestamp":"2026-11-21T12:00:00Z","message":{"content":"go"}}
{"type":"assistant","uuid":"2","parentUuid":"1","timestamp":"2026-11-21T12:00:01Z","message":{"id":"a","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}],"usage":{"input_tokens":10,"output_tokens":5}}}
{"type":"user","uuid":"3","parentUuid":"2","timestamp":"2026-11-21T12:00:02Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"out"}]}}
{"type":"assistant","uuid":"4","parentUuid":"3","timestamp":"2026-11-21T12:00:03Z","message":{"id":"a","content":[{"type":"text","text":"done"}],"usage":{"input_tokens":10,"output_tokens":5}}}
`)
	if diff := cmp.Diff(&projection.Usage{Input: 10, Output: 5}, usageOf(t, s)); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}

// Most programs announce a tool call and make it in the same message.
func TestToolOfMessageWithTextHasResult(t *testing.T) {
	const index = `{"sessions":[{"id":"s","createdAt":"2026-11-21T12:00:00Z"}]}`
	for format, text := range map[string]string{
		"claude": `{"type":"user","uuid":"1","sessionId":"s","timestamp":"2026-11-21T12:00:00Z","message":{"content":"go"}}
{"type":"assistant","uuid":"2","parentUuid":"1","timestamp":"2026-11-21T12:00:01Z","message":{"id":"a","content":[{"type":"text","text":"I look."}]}}
{"type":"assistant","uuid":"3","parentUuid":"2","timestamp":"2026-11-21T12:00:01Z","message":{"id":"a","content":[{"type":"tool_use","id":"t","name":"ls","input":{}}]}}
{"type":"user","uuid":"4","parentUuid":"3","timestamp":"2026-11-21T12:00:02Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"out"}]}}
{"type":"assistant","uuid":"5","parentUuid":"4","timestamp":"2026-11-21T12:00:03Z","message":{"id":"b","content":[{"type":"text","text":"Done."}]}}
`,
		"claude-master": `{"type":"instructor-message","timestamp":"2026-11-21T12:00:00Z","message":{"role":"user","content":"go"}}
{"type":"instructor-message","timestamp":"2026-11-21T12:00:01Z","message":{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t","name":"ls","input":{}}]}}
{"type":"instructor-message","timestamp":"2026-11-21T12:00:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"out"}]}}
{"type":"instructor-message","timestamp":"2026-11-21T12:00:03Z","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]}}
`,
		"synapse": `{"role":"user","content":[{"type":"text","text":"go"}]}
{"role":"assistant","content":[{"type":"text","text":"I look."}],"toolCalls":[{"id":"t","name":"ls","arguments":"{}"}]}
{"role":"tool","content":[{"type":"text","text":"out"}],"toolCallId":"t"}
{"role":"assistant","content":[{"type":"text","text":"Done."}]}
`,
	} {
		read := func() (*interchange.Session, error) {
			if format == "synapse" {
				return readSynapse(sourceOf("/old/s.jsonl", text), []byte(index), time.Time{})
			}
			return interchange.Transcript(format, sourceOf("/old/s.jsonl", text), app)
		}
		s, err := read()
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		want := []string{"human go", "ai I look.", `ls {} "out" ""`, "ai Done."}
		if diff := cmp.Diff(want, commonSummary(t, s, false)); diff != "" || importedOf(t, s).Skipped > 0 {
			t.Errorf("%s: %d skipped (-want +got):\n%s", format, importedOf(t, s).Skipped, diff)
		}
		checkRecords(t, s)
	}
}

func TestToolsWithoutResultAreKept(t *testing.T) {
	s := mustReadTranscript(t, "claude", "/old/s.jsonl", `{"type":"user","uuid":"1","sessionId":"s","timestamp":"2026-11-21T12:00:00Z","message":{"content":"go"}}
{"type":"assistant","uuid":"2","parentUuid":"1","timestamp":"2026-11-21T12:00:01Z","message":{"id":"a","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}
`)
	if diff := cmp.Diff("you: go\n  Bash {} ...\nclaude: interrupted\n", summary(t, s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := importedOf(t, s); got.Taken != 1 || got.Skipped != 0 {
		t.Errorf("%+v", got)
	}
}

func TestEmptyTranscript(t *testing.T) {
	for _, format := range []string{"claude", "codex", "gemini", "opencode", "pi", "claude-master"} {
		for _, text := range []string{"", "{}", "nonsense", "[]\nnull\n"} {
			if s, err := interchange.Transcript(format, sourceOf("x", text), app); err == nil {
				t.Errorf("%s: %q was read: %+v", format, text, s)
			}
		}
	}
	// The header counts lines; that no text remains is known only at the end of Records.
	s := mustReadTranscript(t, "claude", "x", claudeLine(t, "1", "", "user", "<system-reminder>x</system-reminder>"))
	var last error
	for _, err := range s.Records() {
		last = err
	}
	if !errors.Is(last, interchange.ErrNoMessages) {
		t.Errorf("the records end with %v", last)
	}
}

func TestCopyID(t *testing.T) {
	const id = "01KAHAM61B9SDF4W7TZ3YPK2WD"
	seen := map[string]bool{}
	for n := range 5 {
		copied := interchange.CopyID(id, n)
		if !journal.ValidID(copied) || copied[:10] != id[:10] || seen[copied] || interchange.CopyID(id, n) != copied {
			t.Errorf("copy %d is %s", n, copied)
		}
		seen[copied] = true
	}
	if !seen[id] {
		t.Error("copy 0 is not the session")
	}
}

func FuzzTranscript(f *testing.F) {
	names, err := filepath.Glob(filepath.Join("testdata", "*", "*.json*"))
	if err != nil || len(names) == 0 {
		f.Fatal("no samples")
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".steps") {
			continue
		}
		f.Add(
			filepath.Base(filepath.Dir(name)),
			transcript(f, strings.TrimPrefix(name, "testdata"+string(filepath.Separator))),
		)
	}
	f.Add("claude", []byte(claudeLine(f, "1", "", "user", "go")+claudeLine(f, "2", "1", "assistant", useTool("t"), "id", "r")+
		claudeLine(f, "3", "2", "assistant", useTool("u"), "id", "r", "usage", object{"input_tokens": 1})+
		claudeLine(f, "4", "2", "user", toolResult("t", text("out")))+claudeLine(f, "5", "1", "user", "another way")+
		claudeLine(f, "6", "5", "user", "a summary", "isCompactSummary", true)+
		claudeLine(f, "7", "6", "assistant", "API Error", "isApiErrorMessage", true)+
		claudeLine(f, "8", "", "assistant", useTool("s"), "isSidechain", true)+
		line(f, object{"type": "cost-state", "totalCostUSD": 0.5})))
	f.Add("codex", []byte(codexLine(f, "session_meta", object{"id": "s"})+
		codexLine(f, "compacted", object{"message": "a summary", "replacement_history": []object{{"type": "message", "role": "user",
			"content": []object{{"type": "input_image", "image_url": "data:image/png;base64,aGk="}}}}})+
		codexLine(f, "response_item", object{"type": "local_shell_call", "call_id": "c", "action": object{}})+
		codexLine(f, "response_item", object{"type": "function_call_output", "call_id": "c", "output": object{"content": "x"}})+
		codexLine(f, "event_msg", object{"type": "token_count", "info": object{"total_token_usage": object{"input_tokens": 9}}})+
		codexLine(f, "event_msg", object{"type": "turn_aborted"})))
	f.Add("gemini", []byte(`{"sessionId":"s","projectHash":"h"}
{"$set":{"messages":[{"id":"1","type":"user","content":[{"inlineData":{"mimeType":"image/png","data":"aGk="}}]}]}}
{"id":"2","type":"gemini","content":"","tokens":{"input":3,"cached":9},"toolCalls":[{"id":"c","name":"ls","status":"error"}]}
{"$rewindTo":"2"}
{"id":"3","type":"error","content":"no"}
`))
	f.Fuzz(func(t *testing.T, format string, data []byte) {
		var s *interchange.Session
		var err error
		switch format {
		case "claude", "codex", "gemini", "opencode", "pi", "claude-master":
			s, err = interchange.Transcript(format, sourceOf("x", string(data)), app)
		case "synapse":
			s, err = readSynapse(sourceOf("x", string(data)), nil, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		default:
			return
		}
		if err != nil {
			return
		}
		// Records returns them at its end, since only then is it known that no message has text.
		for _, err := range s.Records() {
			if _, unknown := errors.AsType[*interchange.UnknownLinesError](err); unknown || errors.Is(err, interchange.ErrNoMessages) {
				return
			}
		}
		messages := messagesOf(t, s)
		if !journal.ValidID(s.ID) || len(messages) != importedOf(t, s).Taken {
			t.Errorf("%+v", s)
		}
		for _, m := range messages {
			if m.Content == "" || m.ID == "" || m.Speaker == (projection.Speaker{}) {
				t.Errorf("%+v", m)
			}
		}
		checkRecords(t, s)
	})
}

func TestWrittenTranscriptIsReadTheSame(t *testing.T) {
	for _, name := range []string{"claude/one-tool.jsonl", "codex/one-tool.jsonl", "codex/resumed.jsonl",
		"gemini/one-tool.jsonl", "gemini/repeated-ids.jsonl"} {
		s := mustReadTranscript(t, filepath.Dir(name), "/old/"+name, string(transcript(t, name)))
		events := func(yield func(journal.Event, error) bool) {
			var at journal.Position
			for _, r := range recordsOf(t, s) {
				e, next, err := at.Next(r)
				if !yield(e, err) {
					return
				}
				at = next
			}
		}
		var state projection.State
		for e := range events {
			state.Apply(e)
		}
		for _, format := range []string{"claude", "codex", "gemini"} {
			var written strings.Builder
			if err := interchange.WriteTranscript(format, &written, &state, projection.Decoded(events)); err != nil {
				t.Fatal(err)
			}
			if got := detect(t, []byte(written.String())); got != format {
				t.Errorf("%s as %s looks like %q", name, format, got)
			}
			again := mustReadTranscript(t, format, "/new/x.jsonl", written.String())
			if diff := cmp.Diff(commonSummary(t, s, true), commonSummary(t, again, true)); diff != "" {
				t.Errorf("%s as %s (-want +got):\n%s", name, format, diff)
			}
			if again.Created.CWD != s.Created.CWD && format != "gemini" { // a Gemini transcript has only the hash of the directory
				t.Errorf("%s as %s is of %q, want %q", name, format, again.Created.CWD, s.Created.CWD)
			}
			checkRecords(t, again)
		}
	}
}

// A session of several agents is written for programs that have one.
func TestWrittenTranscriptNamesAgents(t *testing.T) {
	source := mustReadTranscript(t, "claude-master", "/old/s.json", line(t, object{"sessionId": "s",
		"createdAt": "2026-11-21T02:30:23Z", "config": object{"instructorModel": "big"},
		"instructor": object{"conversationHistory": []object{{"role": "user", "content": "build it"},
			{"role": "assistant", "content": "do one"}}},
		"worker": object{"conversationHistory": []object{{"role": "user", "content": "do one"},
			{"role": "assistant", "content": []object{{"type": "tool_use", "id": "t", "name": "Bash", "input": object{}}}}, {"role": "user",
				"content": []object{{"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": true}}},
			{"role": "assistant", "content": "one is done"}}}}))
	var events []journal.Event
	var state projection.State
	var at journal.Position
	records := append(recordsOf(t, source), journal.Record{Type: "unknown.event", Data: []byte("{}")})
	for _, r := range records {
		e, next, err := at.Next(r)
		if err != nil {
			t.Fatal(err)
		}
		state.Apply(e)
		events, at = append(events, e), next
	}
	const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}` // of version 8
	for format, test := range map[string]struct{ want, name string }{
		"claude": {"  Bash {} -> \"\" \"no\"\n", `^` + uuid + `\.jsonl$`},
		"codex":  {"  Bash {} -> \"no\" \"\"\n", `^rollout-2026-11-21T02-30-23-` + uuid + `\.jsonl$`},
		"gemini": {"  Bash {} -> \"\" \"error: no\"\n", `^session-2026-11-21T02-30-[0-9a-f]{8}\.jsonl$`},
	} {
		var written strings.Builder
		if err := interchange.WriteTranscript(format, &written, &state, projection.Decoded(projectiontest.Sequence(events, nil))); err != nil {
			t.Fatal(err)
		}
		s := mustReadTranscript(t, format, "/new/x.jsonl", written.String())
		want := "you: build it\nFORMAT: Instructor: do one\n" + test.want + "FORMAT: Worker: one is done\n"
		if diff := cmp.Diff(strings.ReplaceAll(want, "FORMAT", format), summary(t, s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
		if name := interchange.TranscriptName(format, &state); !regexp.MustCompile(test.name).MatchString(name) {
			t.Errorf("%s: the file is %s", format, name)
		}
		for n := 0; n < written.Len(); n += 100 {
			if err := interchange.WriteTranscript(format, &fullWriter{n}, &state, projection.Decoded(projectiontest.Sequence(events, nil))); !errors.Is(err, errFull) {
				t.Errorf("%s: full after %d of %d bytes: %v", format, n, written.Len(), err)
			}
		}
		if err := interchange.WriteTranscript(format, io.Discard, &state, projection.Decoded(projectiontest.Sequence(events, errBroken))); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// commonSummary returns the tool results and messages of a session in order, with the times
// of messages if times is set. All formats record them.
func commonSummary(t testing.TB, s *interchange.Session, times bool) []string {
	t.Helper()
	var all []string
	var tool projection.ToolStarted
	for _, p := range payloadsOf(t, s) {
		switch p := p.(type) {
		case projection.ToolStarted:
			tool = p
		case projection.ToolCompleted:
			all = append(all, fmt.Sprintf("%s %s %q %q", p.Name, tool.Input, p.Output, p.Error))
		case projection.MessageAppended:
			text := p.Message.Speaker.Type + " "
			if times {
				text += p.Message.Timestamp + " "
			}
			all = append(all, text+p.Message.Content)
		}
	}
	return all
}
