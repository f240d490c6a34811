package interchange_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// steps returns the events of a session in order, with their times. Events of a
// turn are indented.
func steps(t testing.TB, s *interchange.Session) string {
	t.Helper()
	var b strings.Builder
	indent := ""
	for _, r := range recordsOf(t, s) {
		p, err := projection.Decode(journal.Event{Type: r.Type, Data: r.Data})
		if err != nil {
			t.Fatal(err)
		}
		at := r.Time.UTC().Format("15:04:05 ")
		switch p := p.(type) {
		case projection.SessionRenamed:
			fmt.Fprintf(&b, "title %s\n", p.Title)
		case projection.TurnStarted:
			fmt.Fprintf(&b, "%s%s %s\n", at, p.MemberID, p.Model)
			indent = "  "
		case projection.ToolStarted:
			fmt.Fprintf(&b, "%s%s%s %s\n", indent, at, p.Name, p.Input)
		case projection.ToolCompleted:
			fmt.Fprintf(&b, "%s%s%s -> %q %q\n", indent, at, p.Name, p.Output, p.Error)
		case projection.MessageAppended:
			fmt.Fprintf(&b, "%s%s%s: %q\n", indent, at, p.Message.Speaker.Name, p.Message.Content)
		case projection.TurnEnded:
			fmt.Fprintf(&b, "%s%s %d ms", at, p.FinishReason, p.DurationMS)
			if p.Usage != nil {
				fmt.Fprintf(&b, " (%s)", tokens(*p.Usage))
			}
			if p.Error != "" {
				fmt.Fprintf(&b, " %s", p.Error)
			}
			b.WriteByte('\n')
			indent = ""
		case projection.SessionImported:
			fmt.Fprintf(&b, "%d messages, %d skipped\n", p.Taken, p.Skipped)
		}
	}
	return b.String()
}

// synapse reads a sample of Synapse with its index.
func synapse(t testing.TB, text, index string) *interchange.Session {
	t.Helper()
	modified := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	s, err := readSynapse(sourceOf("/old/s.jsonl", text), []byte(index), modified)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var update = flag.Bool("update", false, "rewrite the expected steps of the samples")

func TestStepsOfSamples(t *testing.T) {
	for _, name := range []string{
		"codex/bare-items.jsonl", "codex/whole-file.json", "opencode/interrupted.json", "pi/branches.jsonl",
		"claude-master/state.json", "claude-master/log.jsonl", "synapse/three-lines.jsonl",
	} {
		t.Run(name, func(t *testing.T) {
			format, text := filepath.Dir(name), string(transcript(t, name))
			if got := detect(t, []byte(text)); got != format {
				t.Errorf("it looks like %q", got)
			}
			var s *interchange.Session
			if format == "synapse" {
				s = synapse(t, text, `{"sessions":[{"id":"s","title":"Calc","createdAt":"2026-02-01T10:00:00Z",`+
					`"updatedAt":"2026-02-01T10:30:00Z","cwd":"/here"}]}`)
			} else {
				s = mustReadTranscript(t, format, "/old/"+name, text)
			}
			checkRecords(t, s)
			got := fmt.Sprintf("%s in %s\n%s", s.Created.Team.ID, s.Created.CWD, steps(t, s))
			for _, m := range s.Created.Team.Members {
				got += fmt.Sprintf("member %s %s\n", m.ID, m.Model)
			}
			path := filepath.Join("testdata", name+".steps")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestPi(t *testing.T) {
	const header = `{"type":"session","version":3,"id":"s","timestamp":"2026-11-21T12:00:00Z","cwd":"/work"}` + "\n"
	entry := func(id, parent, second string, message object) string {
		return line(t, object{"type": "message", "id": id, "parentId": parent,
			"timestamp": "2026-11-21T12:00:" + second + "Z", "message": message})
	}
	says := func(id, parent, role, text string) string {
		return entry(id, parent, "01", object{"role": role, "content": text, "model": "m", "stopReason": "stop"})
	}
	for name, test := range map[string]struct{ text, want string }{
		"aborted and failed": {
			says("1", "", "user", "go") +
				entry("2", "1", "02", object{"role": "assistant", "content": []object{{"type": "text", "text": "I"}},
					"stopReason": "aborted"}) +
				entry("3", "2", "03", object{"role": "user", "content": "again"}) +
				entry("4", "3", "04", object{"role": "assistant", "content": []object{}, "stopReason": "error",
					"errorMessage": "400"}),
			"12:00:01 you: \"go\"\n12:00:01 pi \n  12:00:02 pi: \"I\"\n12:00:02 cancelled 1000 ms\n" +
				"12:00:03 you: \"again\"\n12:00:03 pi \n12:00:04 error 1000 ms 400\n3 messages, 0 skipped\n"},
		"files and images": {
			entry("1", "", "01", object{"role": "user", "content": []object{
				{"type": "text", "text": "<file name=\"/a/b.txt\">\nx\n</file>\nread it"},
				{"type": "image", "mimeType": "image/png", "data": "aGVsbG8="}}}),
			"12:00:01 you: \"[file: b.txt]\\nread it\\n\\n[image: image/png, 5 bytes]\"\n1 messages, 0 skipped\n"},
		"failed tool, tokens and thinking": {
			says("1", "", "user", "go") +
				entry("2", "1", "02", object{"role": "assistant", "model": "m", "stopReason": "toolUse",
					"content": []object{{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look."},
						{"type": "toolCall", "id": "t", "name": "ls", "arguments": object{"a": 1}}},
					"usage": object{"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "cost": object{"total": 0.5}}}) +
				entry("3", "2", "03", object{"role": "toolResult", "toolCallId": "t", "isError": true,
					"content": []object{{"type": "text", "text": "no"}}}) +
				entry("4", "3", "04", object{"role": "bashExecution", "command": "ls", "output": "x"}),
			"12:00:01 you: \"go\"\n12:00:01 pi m\n  12:00:02 pi: \"I look.\"\n  12:00:02 ls {\"a\":1}\n" +
				"  12:00:03 ls -> \"\" \"no\"\n12:00:03 done 2000 ms (1+3r+4w, 2, 0.5 USD)\n2 messages, 1 skipped\n"},
		"tool without a result": {
			says("1", "", "user", "go") +
				entry("2", "1", "02", object{"role": "assistant", "content": []object{{"type": "text", "text": "I look."},
					{"type": "toolCall", "id": "t", "name": "ls", "arguments": object{}}}}),
			"12:00:01 you: \"go\"\n12:00:01 pi \n  12:00:02 pi: \"I look.\"\n  12:00:02 ls {}\n" +
				"12:00:02 interrupted 1000 ms\n2 messages, 0 skipped\n"},
		"entries without ids": {
			`{"type":"message","timestamp":"2026-11-21T12:00:01Z","message":{"role":"user","content":"one"}}` + "\n" +
				`{"type":"message","timestamp":"2026-11-21T12:00:02Z","message":{"role":"user","content":"two"}}` + "\n",
			"12:00:01 you: \"one\"\n12:00:02 you: \"two\"\n2 messages, 0 skipped\n"},
		"missing parent": {
			says("1", "", "user", "one") + says("3", "2", "user", "two"),
			"12:00:01 you: \"one\"\n12:00:01 you: \"two\"\n2 messages, 0 skipped\n"},
		"cycle of parents": {
			says("1", "2", "user", "one") + says("2", "1", "user", "two"),
			"12:00:01 you: \"one\"\n12:00:01 you: \"two\"\n2 messages, 0 skipped\n"},
		"nonsense": {
			"nonsense\n" + says("1", "", "user", "one") + `{"type":"label","id":"2","parentId":"1"}` + "\n" + `{"type":"mess`,
			"12:00:01 you: \"one\"\n1 messages, 3 skipped\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustReadTranscript(t, "pi", "/old/s.jsonl", header+test.text)
			if diff := cmp.Diff(test.want, steps(t, s)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			checkRecords(t, s)
			if len(s.Branches) != 0 {
				t.Errorf("%d branches", len(s.Branches))
			}
		})
	}
}

func TestPiBranches(t *testing.T) {
	text := string(transcript(t, "pi/branches.jsonl"))
	s := mustReadTranscript(t, "pi", "/old/s.jsonl", text)
	if len(s.Branches) != 1 {
		t.Fatalf("%d branches", len(s.Branches))
	}
	other, err := s.Branches[0]()
	if err != nil {
		t.Fatal(err)
	}
	got := steps(t, other)
	for _, want := range []string{
		"you: \"tool <<echo made; ls dot.png>>\"", "pi: \"I see it.\"", "[image: image/png, 69 bytes]",
		"error 297 ms 400 fake failure", "6 messages, 2 skipped",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("without %s:\n%s", want, got)
		}
	}
	if strings.Contains(got, "another way") || other.ID == s.ID || other.Created.SessionID != other.ID {
		t.Errorf("session %s, branch %s:\n%s", s.ID, other.ID, got)
	}
	checkRecords(t, other)
	// A later save has the same branches.
	grown := mustReadTranscript(t, "pi", "/old/s.jsonl", text+`{"type":"message","id":"99","parentId":"c8b7be99",`+
		`"timestamp":"2026-11-22T14:00:00Z","message":{"role":"user","content":"more"}}`+"\n")
	again, err := grown.Branches[0]()
	if len(grown.Branches) != 1 || err != nil || again.ID != other.ID || grown.ID != s.ID {
		t.Errorf("%+v", grown)
	}
}

func TestOpenCode(t *testing.T) {
	session := func(info object, messages ...object) string {
		info["id"], info["directory"], info["time"] = "ses_1", "/work", object{"created": 1795262400000}
		return line(t, object{"info": info, "messages": messages})
	}
	message := func(id, role string, more object, parts ...object) object {
		info := object{"id": id, "role": role, "time": object{"created": 1795262401000, "completed": 1795262404000}}
		for name, v := range more {
			info[name] = v
		}
		return object{"info": info, "parts": parts}
	}
	text := func(text string) object { return object{"type": "text", "text": text} }
	tool := func(id string, state object) object {
		state["input"], state["time"] = object{}, object{"start": 1795262402000, "end": 1795262403000}
		return object{"type": "tool", "tool": "ls", "callID": id, "state": state}
	}
	for name, test := range map[string]struct{ text, want string }{
		"text, tools and text": {
			session(object{"title": "New session - 2026-11-21T12:00:00Z"}, message("1", "user", nil, text("go")),
				message("2", "assistant", object{"modelID": "m", "finish": "stop", "cost": 0.5, "tokens": object{
					"input": 1, "output": 2, "reasoning": 5, "cache": object{"read": 3, "write": 4}}},
					text("I look."), object{"type": "reasoning", "text": "hm"},
					tool("a", object{"status": "completed", "output": "out", "attachments": []object{
						{"mime": "image/png", "url": "data:image/png;base64,aGVsbG8="}, {"mime": "a/b", "filename": "c"}}}),
					tool("b", object{"status": "error", "error": "no"}), text("Done."))),
			"12:00:01 you: \"go\"\n12:00:01 opencode m\n  12:00:01 opencode: \"I look.\"\n  12:00:02 ls {}\n" +
				"  12:00:03 ls -> \"out\\n[image: image/png, 5 bytes]\\n[file: c]\" \"\"\n  12:00:02 ls {}\n" +
				"  12:00:03 ls -> \"\" \"no\"\n12:00:03 done 2000 ms\n12:00:01 opencode m\n" +
				"  12:00:01 opencode: \"Done.\"\n12:00:01 done 0 ms (1+3r+4w, 2+5t, 0.5 USD)\n3 messages, 0 skipped\n"},
		"texts of the program": {
			session(object{"title": "Look"}, message("1", "user", nil, object{"type": "text", "text": "x", "synthetic": true},
				text("go"), object{"type": "file", "mime": "text/plain", "filename": "a.txt", "url": "file:///a.txt"},
				object{"type": "agent", "name": "plan"})),
			"title Look\n12:00:01 you: \"go\\n\\n[file: a.txt]\"\n1 messages, 2 skipped\n"},
		"failures": {
			session(object{}, message("1", "user", nil, text("go")),
				message("2", "assistant", object{"error": object{"name": "MessageAbortedError"}}, text("I")),
				message("3", "assistant", object{"error": object{"name": "APIError", "data": object{"message": "400"}}}),
				message("4", "assistant", object{"time": object{"created": 1795262405000}})),
			"12:00:01 you: \"go\"\n12:00:01 opencode \n  12:00:01 opencode: \"I\"\n12:00:04 cancelled 3000 ms\n" +
				"12:00:04 opencode \n12:00:04 error 0 ms 400\n12:00:05 opencode \n12:00:05 interrupted 0 ms\n" +
				"2 messages, 0 skipped\n"},
		"undone messages and summaries": {
			session(object{"revert": object{"messageID": "4"}}, message("1", "user", nil, text("go")),
				message("2", "assistant", object{"summary": true}, text("what was said")),
				message("3", "assistant", object{"finish": "stop"}, text("ok")),
				message("4", "user", nil, text("no")), message("5", "assistant", nil, text("never"))),
			"12:00:01 you: \"go\"\n12:00:01 opencode \n  12:00:01 opencode: \"ok\"\n12:00:01 done 0 ms\n" +
				"2 messages, 3 skipped\n"},
		"unknown part, and the rest is damaged": {
			strings.TrimSuffix(session(object{}, message("1", "user", nil, text("go")),
				message("2", "assistant", nil, text("ok"), object{"type": "strange"})), "}\n") + `,"messages":7}`,
			"12:00:01 you: \"go\"\n12:00:01 opencode \n  12:00:01 opencode: \"ok\"\n12:00:01 done 0 ms\n" +
				"2 messages, 2 skipped\n"},
		"damaged end of the messages": {
			strings.TrimSuffix(session(object{}, message("1", "user", nil, text("go"))), "]}\n") + "}",
			"12:00:01 you: \"go\"\n1 messages, 1 skipped\n"},
		"damaged end": {
			strings.TrimSuffix(session(object{}, message("1", "user", nil, text("go"))), "}\n") + "]",
			"12:00:01 you: \"go\"\n1 messages, 1 skipped\n"},
		"text after the end": {
			session(object{}, message("1", "user", nil, text("go"))) + "{}",
			"12:00:01 you: \"go\"\n1 messages, 1 skipped\n"},
		"invalid numbers": {
			session(object{}, message("1", "user", object{"time": object{"created": -7}}, text("go")),
				message("2", "assistant", object{"cost": -1, "tokens": object{"input": -5, "output": 2}}, text("ok"))),
			"12:00:00 you: \"go\"\n12:00:01 opencode \n  12:00:01 opencode: \"ok\"\n12:00:01 done 0 ms (0, 2)\n" +
				"2 messages, 0 skipped\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustReadTranscript(t, "opencode", "/old/s.json", test.text)
			if diff := cmp.Diff(test.want, steps(t, s)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			checkRecords(t, s)
		})
	}
}

// A person's last message has the time of the last save.
func TestSynapseEndsAtUpdate(t *testing.T) {
	const index = `{"sessions":[{"id":"s","createdAt":"2026-02-01T10:00:00Z","updatedAt":"2026-02-01T10:30:00Z"},` +
		`{"id":"other","createdAt":"2026-02-02T10:00:00Z","updatedAt":"2026-02-02T10:30:00Z"}]}`
	const text = `{"role":"user","content":[{"type":"text","text":"one"}]}
{"role":"user","content":[{"type":"text","text":"two"},{"type":"image_url","imageUrl":{"url":"data:image/png;base64,aGVsbG8="}}]}
`
	want := "10:00:00 you: \"one\"\n10:30:00 you: \"two\\n\\n[image: image/png, 5 bytes]\"\n2 messages, 0 skipped\n"
	if diff := cmp.Diff(want, steps(t, synapse(t, text, index))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A file system can have times that no event can.
func TestSynapseWithoutTime(t *testing.T) {
	const text = `{"role":"user","content":[{"type":"text","text":"one"}]}` + "\n"
	late := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	if s, err := readSynapse(sourceOf("/old/s.jsonl", text), nil, late); err == nil {
		t.Errorf("created at %s", s.CreatedAt)
	}
	const index = `{"sessions":[{"id":"s","createdAt":"2026-02-01T10:00:00Z"}]}`
	if _, err := readSynapse(sourceOf("/old/s.jsonl", text), []byte(index), late); err != nil {
		t.Errorf("with its time in the index: %v", err)
	}
}

// A later import finds the turns again by their ids.
func TestTurnHasIDOfItsFirstItem(t *testing.T) {
	const at = `"timestamp":"2026-11-21T12:00:00Z"`
	pi := func(reply string) string {
		return `{"type":"session","id":"s"}
{"type":"message","id":"1","message":{"role":"user","content":"go"}}
{"type":"message","id":"2","parentId":"1",` + at + `,"message":{"role":"assistant",` + reply + `}}
`
	}
	for name, test := range map[string]struct{ format, text, want string }{
		"call of Pi":     {"pi", pi(`"content":[{"type":"toolCall","id":"c","name":"ls","arguments":{}}]`), "2"},
		"failure of Pi":  {"pi", pi(`"content":[],"stopReason":"error"`), "2"},
		"abortion of Pi": {"pi", pi(`"content":[],"stopReason":"aborted"`), "2"},
		"tokens of Pi":   {"pi", pi(`"content":[],"usage":{"input":1}`), "s-turn-1"},
		"call of OpenCode": {"opencode", `{"info":{"id":"s"},"messages":[{"info":{"id":"1","role":"user"},"parts":[{"type":"text","text":"go"}]},` +
			`{"info":{"id":"2","role":"assistant"},"parts":[{"type":"tool","tool":"ls","callID":"c"}]}]}`, "2"},
		"failure of OpenCode": {"opencode", `{"info":{"id":"s"},"messages":[{"info":{"id":"1","role":"user"},"parts":[{"type":"text","text":"go"}]},` +
			`{"info":{"id":"2","role":"assistant","error":{}},"parts":[]}]}`, "2"},
		"call of the Gemini CLI": {"gemini", `{"id":"1","type":"user","content":"go"}
{"id":"2","type":"gemini",` + at + `,"toolCalls":[{"id":"c","name":"ls","args":{},"status":"success"}]}
`, "2"},
		"error of the Gemini CLI": {"gemini", `{"id":"1","type":"user","content":"go"}` + "\n" + `{"id":"2","type":"error","content":"no"}` + "\n", "2"},
		"call of Claude Code":     {"claude", claudeLine(t, "1", "", "user", "go") + claudeLine(t, "2", "1", "assistant", useTool("c")), "2"},
		"interruption of Claude Code": {"claude", claudeLine(t, "1", "", "user", "go") +
			claudeLine(t, "2", "1", "assistant", useTool("c"), "isAbortedMidStream", true), "2"},
		"call of Codex": {"codex", codexLine(t, "response_item", object{"type": "message", "role": "user",
			"content": []object{{"type": "input_text", "text": "go"}}}) +
			codexLine(t, "response_item", object{"type": "function_call", "name": "ls", "call_id": "c", "id": "2"}), "2"},
		"call of Codex without an id": {"codex", codexLine(t, "session_meta", object{"id": "s"}) +
			codexLine(t, "response_item", object{"type": "message", "role": "user",
				"content": []object{{"type": "input_text", "text": "go"}}}) +
			codexLine(t, "response_item", object{"type": "function_call", "name": "ls", "call_id": "c"}), "s-2"},
	} {
		t.Run(name, func(t *testing.T) {
			var ids []string
			for _, p := range payloadsOf(t, mustReadTranscript(t, test.format, "/old/s.jsonl", test.text)) {
				if started, ok := p.(projection.TurnStarted); ok {
					ids = append(ids, started.TurnID)
				}
			}
			if len(ids) == 0 || ids[0] != test.want {
				t.Errorf("the turns %q, want %q first", ids, test.want)
			}
		})
	}
}

// A branch of a branch has its own id, and what has no message is no branch.
func TestBranchesOfBranches(t *testing.T) {
	pi := func(id, parent, role, text string) string {
		return line(t, object{"type": "message", "id": id, "parentId": parent, "message": object{"role": role, "content": text}})
	}
	claude := func(id, parent, role, text string) string { return claudeLine(t, id, parent, role, text) }
	for format, says := range map[string]func(id, parent, role, text string) string{"claude": claude, "pi": pi} {
		t.Run(format, func(t *testing.T) {
			result := says("7", "3", "toolResult", "x")
			if format == "claude" {
				result = claudeLine(t, "7", "3", "user", toolResult("t", "x"))
			}
			text := says("1", "", "user", "a") + says("2", "1", "assistant", "b") + says("3", "1", "assistant", "c") +
				says("4", "3", "user", "d") + says("5", "3", "user", "e") + says("6", "", "user", "f") + result +
				says("8", "2", "user", "g")
			s := mustReadTranscript(t, format, "/old/s.jsonl", text)
			ids, got := map[string]bool{s.ID: true}, ""
			for _, branch := range s.Branches {
				other, err := branch()
				if err != nil {
					t.Fatal(err)
				}
				ids[other.ID] = true
				for _, m := range messagesOf(t, other) {
					got += m.Content
				}
				got += " "
			}
			want, n := "acd ace f ", 4
			if format == "claude" { // a later first message continues from the one before it
				want, n = "acef acd ", 3
			}
			if got != want || len(ids) != n {
				t.Errorf("the branches %q, want %q; %d ids, want %d", got, want, len(ids), n)
			}
		})
	}
}
