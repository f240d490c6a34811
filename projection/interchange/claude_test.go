package interchange_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// claudeLine returns a line of a transcript of Claude Code. n is its uuid, the second of
// its time and, for an assistant, the end of the message's id. more has names and values of
// further fields.
func claudeLine(t testing.TB, n, parent string, role string, content any, more ...any) string {
	t.Helper()
	message := object{"role": role, "content": content}
	if role == "assistant" {
		message["id"], message["model"] = "msg-"+n, "opus"
	}
	at := "2026-11-21T12:00:" + strings.Repeat("0", max(0, 2-len(n))) + n + "Z"
	l := object{"type": role, "uuid": n, "parentUuid": parent, "sessionId": "s", "cwd": "/work", "timestamp": at,
		"message": message}
	for i := 0; i < len(more); i += 2 {
		switch name := more[i].(string); name {
		case "id", "usage":
			message[name] = more[i+1]
		default:
			l[name] = more[i+1]
		}
	}
	return line(t, l)
}

func text(s string) []object { return []object{{"type": "text", "text": s}} }

func useTool(id string) []object {
	return []object{{"type": "tool_use", "id": id, "name": "Bash", "input": object{"a": id}}}
}

func toolResult(id string, content any) []object {
	return []object{{"type": "tool_result", "tool_use_id": id, "content": content}}
}

func TestClaudeTranscript(t *testing.T) {
	c := func(n, parent, role string, content any, more ...any) string {
		return claudeLine(t, n, parent, role, content, more...)
	}
	image := object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": "aGVsbG8gd29ybGQ="}}
	for name, test := range map[string]struct {
		text, want string
		skipped    int
	}{
		"machine text": {
			c("1", "", "user", "go") +
				c("2", "1", "user", "All done.", "promptSource", "system") +
				c("3", "2", "user", "Task 7 ended", "origin", object{"kind": "task-notification"}) +
				c("4", "3", "user", "<bash-input>ls</bash-input>") +
				c("5", "4", "user", "<bash-stdout>a b</bash-stdout><bash-stderr></bash-stderr>") +
				c("6", "5", "assistant", "ok"),
			"you: go\nclaude: ok\n", 4},
		"typed while the agent worked": {
			c("1", "", "user", "go") + c("2", "1", "assistant", useTool("t1")) +
				line(t, object{"type": "attachment", "uuid": "3", "parentUuid": "2", "attachment": object{
					"type": "queued_command", "prompt": "faster", "commandMode": "prompt"}}) +
				line(t, object{"type": "attachment", "uuid": "4", "parentUuid": "3", "attachment": object{
					"type": "queued_command", "prompt": "Task 7 ended", "origin": object{"kind": "task-notification"}}}) +
				c("5", "4", "user", toolResult("t1", "out")) + c("6", "5", "assistant", "ok"),
			"you: go\nyou: faster\n  Bash {\"a\":\"t1\"} -> \"out\" \"\"\nclaude: ok\n", 1},
		"calls without results and their tokens": {
			c("1", "", "user", "go") + c("2", "1", "assistant", useTool("t1"), "usage", object{"input_tokens": 7,
				"output_tokens": 3}) + c("3", "2", "user", "stop") + c("4", "3", "assistant", useTool("t2")),
			"you: go\nyou: stop\n  Bash {\"a\":\"t1\"} ...\nclaude: (opus, 7, 3) interrupted\n" +
				"  Bash {\"a\":\"t2\"} ...\nclaude: interrupted\n", 0},
		"images": {
			c("1", "", "user", []object{image}) +
				c("2", "1", "assistant", useTool("t1")) +
				c("3", "2", "user", toolResult("t1", []object{{"type": "text", "text": "seen"}, image})) +
				c("4", "3", "assistant", "ok"),
			"you: [image: image/png, 11 bytes]\n  Bash {\"a\":\"t1\"} -> \"seen\\n[image: image/png, 11 bytes]\" \"\"\n" +
				"claude: ok\n", 0},
		"summary of a compaction": {
			c("1", "", "user", "go") + c("2", "1", "assistant", "ok") +
				line(t, object{"type": "system", "subtype": "compact_boundary", "uuid": "3", "logicalParentUuid": "2"}) +
				c("4", "3", "user", "They said ok.", "isCompactSummary", true) + c("5", "4", "user", "more"),
			"you: go\nclaude: ok\nyou: more\n", 2},
		"summary that is the only record": {
			line(t, object{"type": "system", "subtype": "compact_boundary", "uuid": "3", "logicalParentUuid": "2"}) +
				c("4", "3", "user", "They said ok.", "isCompactSummary", true) + c("5", "4", "user", "more"),
			"claude: They said ok.\nyou: more\n", 1},
		"error of the API": {
			c("1", "", "user", "go") +
				c("2", "1", "assistant", "API Error: 529 overloaded", "isApiErrorMessage", true) +
				c("3", "2", "user", "again") + c("4", "3", "assistant", "ok"),
			"you: go\nclaude: errorAPI Error: 529 overloaded\nyou: again\nclaude: ok\n", 0},
		"interrupted by the person": {
			c("1", "", "user", "go") + c("2", "1", "assistant", "I wo", "isAbortedMidStream", true) +
				c("3", "2", "user", text("[Request interrupted by user]")) +
				c("4", "3", "user", "again") + c("5", "4", "user", text("[Request interrupted by user]")),
			"you: go\nclaude: I wo cancelled\nyou: again\nclaude: cancelled\n", 0},
		"tools that ran in parallel": {
			c("1", "", "user", "go") + c("2", "1", "assistant", useTool("t1"), "id", "r") +
				c("3", "2", "assistant", useTool("t2"), "id", "r") + c("4", "3", "user", toolResult("t2", "b")) +
				c("5", "2", "user", toolResult("t1", "a")) + c("6", "5", "assistant", "ok"),
			"you: go\n  Bash {\"a\":\"t2\"} -> \"b\" \"\"\n  Bash {\"a\":\"t1\"} -> \"a\" \"\"\nclaude: ok\n", 0},
		"tools that ran in parallel in the first lines": {
			c("1", "", "assistant", useTool("t1"), "id", "r") + c("2", "1", "assistant", useTool("t2"), "id", "r") +
				c("3", "2", "user", toolResult("t2", "b")) + c("4", "1", "user", toolResult("t1", "a")) +
				c("5", "4", "assistant", "ok"),
			"  Bash {\"a\":\"t2\"} -> \"b\" \"\"\n  Bash {\"a\":\"t1\"} -> \"a\" \"\"\nclaude: ok\n", 0},
		"children before their parents": {
			c("0", "", "user", "first") + c("9", "8", "user", "i") + c("8", "7", "user", "h") + c("7", "6", "user", "g") +
				c("6", "5", "user", "f") + c("5", "4", "user", "e") + c("4", "3", "user", "d") + c("3", "2", "user", "c") +
				c("2", "1", "user", "b") + c("1", "", "user", "a") + c("10", "9", "user", "j"),
			"you: first\nyou: i\nyou: h\nyou: g\nyou: f\nyou: e\nyou: d\nyou: c\nyou: b\nyou: a\nyou: j\n", 0},
		"duplicate tool id": {
			c("1", "", "user", "go") + c("2", "1", "assistant", useTool("t1")) + c("3", "2", "assistant", useTool("t1")) +
				c("4", "3", "user", toolResult("t1", "a")) + c("5", "4", "user", toolResult("t1", "b")) +
				c("6", "5", "user", toolResult("t1", "c")) + c("7", "6", "assistant", "ok"),
			"you: go\n  Bash {\"a\":\"t1\"} -> \"a\" \"\"\n  Bash {\"a\":\"t1\"} -> \"b\" \"\"\nclaude: ok\n", 1},
		"cached tokens": {
			c("1", "", "user", "go") + c("2", "1", "assistant", "ok", "usage", object{"input_tokens": 1,
				"output_tokens": 5, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 300,
				"output_tokens_details": object{"thinking_tokens": 2}}),
			"you: go\nclaude: ok (opus, 1+20r+300w, 3+2t)\n", 0},
		"costs": {
			c("1", "", "user", "go") + c("2", "1", "assistant", "ok") + line(t, object{"type": "cost-state", "totalCostUSD": 0.25}) +
				c("3", "2", "user", "on") + c("4", "3", "assistant", "ok") + line(t, object{"type": "cost-state", "totalCostUSD": 0.75}),
			"you: go\nclaude: ok (opus, 0, 0, 0.25 USD)\nyou: on\nclaude: ok (opus, 0, 0, 0.5 USD)\n", 0},
		"subagent in the same file": {
			c("1", "", "user", "go") + c("2", "1", "assistant", useTool("t1")) +
				c("11", "", "user", "look", "isSidechain", true) +
				c("12", "11", "assistant", useTool("s1"), "isSidechain", true, "usage", object{"input_tokens": 5}) +
				c("13", "12", "user", toolResult("s1", "in"), "isSidechain", true) +
				c("14", "13", "assistant", "It is in.", "isSidechain", true) +
				c("20", "2", "user", toolResult("t1", "It is in.")) + c("21", "20", "assistant", "ok"),
			"you: go\n  Bash {\"a\":\"s1\"} -> \"in\" \"\"\n  Bash {\"a\":\"t1\"} -> \"It is in.\" \"\"\n" +
				"claude: ok (opus, 5, 0)\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustReadTranscript(t, "claude", "/old/s.jsonl", test.text)
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

// An event has no number that is out of the range of a float64.
func TestNumbersOutOfRangeBecomeText(t *testing.T) {
	for input, want := range map[string]string{
		`{"n":1e999}`: `"{\"n\":1e999}"`, `[-1e400]`: `"[-1e400]"`, `{"n":1e308}`: `{"n":1e308}`, `{"n":NaN}`: `{"n":null}`,
		"1" + strings.Repeat("0", 400): `"1` + strings.Repeat("0", 400) + `"`,
	} {
		s := mustReadTranscript(t, "claude", "/old/s.jsonl", claudeLine(t, "1", "", "user", "go")+
			`{"type":"assistant","uuid":"2","parentUuid":"1","message":{"content":[{"type":"tool_use","id":"t","name":"n","input":`+
			input+"}]}}\n")
		for _, p := range payloadsOf(t, s) {
			if tool, ok := p.(projection.ToolStarted); ok && string(tool.Input) != want {
				t.Errorf("%.20s became %.40s, want %.40s", input, tool.Input, want)
			}
		}
		checkRecords(t, s)
	}
}

func TestClaudeTitle(t *testing.T) {
	conversation := claudeLine(t, "1", "", "user", "go")
	custom := line(t, object{"type": "custom-title", "customTitle": "mine"})
	generated := line(t, object{"type": "ai-title", "aiTitle": "generated"})
	summary := line(t, object{"type": "summary", "summary": "summarized", "leafUuid": "1"})
	for want, text := range map[string]string{
		"mine":       custom + conversation + generated + summary,
		"generated":  generated + conversation + summary,
		"summarized": summary + conversation,
		"":           conversation,
	} {
		if s := mustReadTranscript(t, "claude", "/old/s.jsonl", text); s.Title != want {
			t.Errorf("the title is %q, want %q", s.Title, want)
		}
	}
}

func TestTimesOfImportedTurns(t *testing.T) {
	s := mustReadTranscript(t, "claude", "/old/s.jsonl", claudeLine(t, "1", "", "user", "go")+
		claudeLine(t, "3", "1", "assistant", useTool("t1"))+claudeLine(t, "7", "3", "user", toolResult("t1", "out"))+
		claudeLine(t, "9", "7", "assistant", "ok"))
	var got []string
	for _, r := range recordsOf(t, s) {
		got = append(got, r.Type+" "+r.Time.Format("05"))
	}
	want := []string{"session.created 01", "message.appended 01", "turn.started 01", "tool.started 03", "tool.completed 07",
		"message.appended 09", "turn.ended 09", "session.imported 00"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, p := range payloadsOf(t, s) {
		if ended, ok := p.(projection.TurnEnded); ok && ended.DurationMS != 8000 {
			t.Errorf("the turn took %d ms", ended.DurationMS)
		}
	}
}

func TestClaudeBranches(t *testing.T) {
	text := claudeLine(t, "1", "", "user", "go") + claudeLine(t, "2", "1", "assistant", "first") +
		claudeLine(t, "3", "2", "user", "one way") + claudeLine(t, "4", "3", "assistant", "done") +
		claudeLine(t, "5", "2", "user", "another way") + claudeLine(t, "6", "5", "assistant", "done, too")
	s := mustReadTranscript(t, "claude", "/old/s.jsonl", text)
	if got, want := summary(t, s), "you: go\nclaude: first\nyou: another way\nclaude: done, too\n"; got != want {
		t.Errorf("the newest branch is\n%s", got)
	}
	if len(s.Branches) != 1 {
		t.Fatalf("%d other branches", len(s.Branches))
	}
	other, err := s.Branches[0]()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := summary(t, other), "you: go\nclaude: first\nyou: one way\nclaude: done\n"; got != want {
		t.Errorf("the other branch is\n%s", got)
	}
	if other.ID == s.ID || other.TeamID != "claude" || other.Created.SessionID != other.ID {
		t.Errorf("%+v", other)
	}
	lost := claudeLine(t, "11", "10", "user", "lost") + claudeLine(t, "12", "11", "assistant", "its first message is not here")
	if s := mustReadTranscript(t, "claude", "/old/s.jsonl", lost+text); len(s.Branches) != 1 {
		t.Errorf("%d other branches with one whose first message is missing", len(s.Branches))
	}
	for _, parent := range []string{"4", ""} { // also if the context was cleared
		grown := mustReadTranscript(t, "claude", "/old/s.jsonl", text+claudeLine(t, "7", parent, "user", "continue"))
		if len(grown.Branches) != 1 || grown.LeftOut != 2 || grown.ID != s.ID {
			t.Errorf("after a child of %q: %d branches with %d messages, id %s; want 1, 2, %s",
				parent, len(grown.Branches), grown.LeftOut, grown.ID, s.ID)
		}
	}
}

func TestClaudeSubagentsBelongToTheirCall(t *testing.T) {
	async := object{"isAsync": true, "agentId": "a1"}
	text := claudeLine(t, "1", "", "user", "go") + claudeLine(t, "2", "1", "assistant", useTool("t1")) +
		claudeLine(t, "3", "2", "user", toolResult("t1", "launched"), "toolUseResult", async) +
		claudeLine(t, "4", "3", "assistant", "I wait.") + claudeLine(t, "5", "4", "user", "and?") +
		claudeLine(t, "6", "5", "assistant", useTool("t2"))
	agents := map[string]string{
		"t1": claudeLine(t, "11", "", "user", "look", "isSidechain", true) +
			claudeLine(t, "12", "11", "assistant", useTool("n1"), "isSidechain", true) +
			claudeLine(t, "13", "12", "user", toolResult("n1", "nested"), "isSidechain", true) +
			claudeLine(t, "14", "13", "assistant", "Found.", "isSidechain", true, "usage", object{"input_tokens": 5}),
		"n1": claudeLine(t, "21", "", "user", "deeper", "isSidechain", true) +
			claudeLine(t, "22", "21", "assistant", useTool("d1"), "isSidechain", true),
		"t2": claudeLine(t, "31", "", "user", "again", "isSidechain", true) +
			claudeLine(t, "32", "31", "assistant", "Half ", "isSidechain", true),
		"d1": claudeLine(t, "41", "", "user", "a call that starts itself", "isSidechain", true) +
			claudeLine(t, "42", "41", "assistant", useTool("d1"), "isSidechain", true),
	}
	src := sourceOf("/old/s.jsonl", text)
	src.Subagent = func(toolID, agentID string) (interchange.Source, bool) {
		if text, ok := agents[toolID]; ok && (agentID == "" || agentID == "a1") {
			agent := sourceOf("/old/"+toolID+".jsonl", text)
			agent.Subagent = src.Subagent
			return agent, true
		}
		return interchange.Source{}, false
	}
	s, err := interchange.Transcript("claude", src, app)
	if err != nil {
		t.Fatal(err)
	}
	got := summary(t, s)
	for _, want := range []string{
		"  Bash {\"a\":\"t1\"} -> \"Found.\" \"\"\n",
		"claude: I wait. (opus, 5, 0)\nyou: and?\n",
		"  Bash {\"a\":\"n1\"} -> \"nested\" \"\"\n",
		"  Bash {\"a\":\"t2\"} -> \"Half\" \"\"\nclaude: interrupted\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if n := strings.Count(got, "d1"); n != 2 { // one in the subagent that starts itself
		t.Errorf("%d calls of d1", n)
	}
	_, err = interchange.Transcript("claude", sourceOf("/old/agent.jsonl", agents["t2"]), app)
	if !errors.Is(err, interchange.ErrSubagent) {
		t.Errorf("the subagent alone: %v", err)
	}
	if got := importedOf(t, s); got.Taken != 3 {
		t.Errorf("%+v", got)
	}
	checkRecords(t, s)
}

func TestTranscriptThatGrowsWhileItIsRead(t *testing.T) {
	says := func(role, text string) string {
		return codexLine(t, "response_item", object{"type": "message", "role": role,
			"content": []object{{"type": "input_text", "text": text}}})
	}
	const title = `{"type":"summary","summary":"A title"}` + "\n"
	const piFormat = `{"type":"message","id":"%s","parentId":"%s","timestamp":"2026-11-21T12:00:00Z",` +
		`"message":{"role":"%s","content":"%s"}}` + "\n"
	for name, test := range map[string]struct {
		format       string
		complete     int // readings before it grows
		first, later string
	}{
		"Claude Code": {"claude", 1, claudeLine(t, "1", "", "user", "go") + claudeLine(t, "2", "1", "assistant", "first"),
			claudeLine(t, "3", "2", "user", "later")},
		"Claude Code, missing parent": {"claude", 1,
			claudeLine(t, "1", "0", "user", "go") + claudeLine(t, "2", "1", "assistant", "first") + title,
			claudeLine(t, "0", "", "user", "later")},
		"Codex": {"codex", 2, says("user", "go") + says("assistant", "first"), says("user", "later")},
		"Pi": {"pi", 1, fmt.Sprintf(piFormat, "1", "", "user", "go") + fmt.Sprintf(piFormat, "2", "1", "assistant", "first"),
			fmt.Sprintf(piFormat, "3", "2", "user", "later")},
	} {
		t.Run(name, func(t *testing.T) {
			opened := 0
			s, err := interchange.Transcript(test.format, interchange.Source{Path: "/old/s.jsonl", Open: func() (io.ReadCloser, error) {
				if opened++; opened <= test.complete {
					return io.NopCloser(strings.NewReader(test.first)), nil
				}
				return io.NopCloser(strings.NewReader(test.first + test.later)), nil
			}}, app)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := summary(t, s), "you: go\n"+test.format+": first\n"; got != want {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

// Of many calls without a result only the newest 1000 are remembered.
func TestResultsOfManyCalls(t *testing.T) {
	var calls []object
	for n := range 1001 {
		calls = append(calls, useTool(fmt.Sprint("t", n))...)
	}
	result := func(id string) object { return object{"type": "tool_result", "tool_use_id": id, "content": "out"} }
	s := mustReadTranscript(t, "claude", "/old/s.jsonl", claudeLine(t, "1", "", "user", "go")+
		claudeLine(t, "2", "1", "assistant", calls)+
		claudeLine(t, "3", "2", "user", []object{result("t0"), result("t1"), result("t1000")}))
	var started, completed []string
	for _, p := range payloadsOf(t, s) {
		switch p := p.(type) {
		case projection.ToolStarted:
			started = append(started, p.ToolID)
		case projection.ToolCompleted:
			completed = append(completed, p.ToolID)
		}
	}
	if diff := cmp.Diff([]string{"t1", "t1000"}, completed); diff != "" || len(started) != len(calls) {
		t.Errorf("%d calls; completed (-want +got):\n%s", len(started), diff)
	}
}

func TestTextOfSubagentBeyondTheLimitIsCounted(t *testing.T) {
	src := sourceOf("/old/s.jsonl", claudeLine(t, "1", "", "user", "go")+claudeLine(t, "2", "1", "assistant", useTool("t1"))+
		claudeLine(t, "3", "2", "user", toolResult("t1", "launched"))+claudeLine(t, "4", "3", "assistant", "ok"))
	said := strings.Repeat("x", 6<<20)
	src.Subagent = func(string, string) (interchange.Source, bool) {
		text := claudeLine(t, "11", "", "user", "look", "isSidechain", true)
		for _, n := range []string{"12", "13", "14"} {
			text += claudeLine(t, n, "11", "assistant", said, "isSidechain", true)
		}
		return sourceOf("/old/t1.jsonl", text), true
	}
	s, err := interchange.Transcript("claude", src, projection.App{})
	if err != nil {
		t.Fatal(err)
	}
	if skipped := importedOf(t, s).Skipped; skipped != 1 {
		t.Errorf("%d lines were skipped, want 1", skipped)
	}
}
