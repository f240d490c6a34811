package interchange_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// repeated is a file with a beginning, and then the same text again and again.
type repeated struct {
	start, text string
	n           int // bytes to read after start; -1: without end
	rest        string
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.start != "" {
		n := copy(p, r.start)
		r.start = r.start[n:]
		return n, nil
	}
	if r.n == 0 {
		return 0, io.EOF
	}
	if r.rest == "" {
		r.rest = r.text
	}
	if n := len(p); r.n > 0 && n > r.n {
		p = p[:r.n]
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	if r.n > 0 {
		r.n -= n
	}
	return n, nil
}

func TestSourcesWithoutEndReachLimit(t *testing.T) {
	racetest.SkipSequential(t)
	block := strings.Repeat("x", 1<<20)
	message := func(format string) string {
		return strings.Repeat(format, 1000)
	}
	for name, test := range map[string]struct{ format, start, text string }{
		"value of OpenCode":      {"opencode", `{"info":{"id":"s"},"messages":[{"info":{"id":"`, block},
		"spaces of OpenCode":     {"opencode", `{"info":{"id":"s"},"messages":[`, strings.Repeat(" ", 1<<20)},
		"other field":            {"opencode", `{"other":"`, block},
		"messages of Gemini CLI": {"gemini", "{}\n{\n\"messages\":[{}", message(`,{"id":"1","content":"x"}`)},
		"value of Gemini CLI":    {"gemini", "{\n\"sessionId\":\"s\",\"messages\":[\"", block},
		"object of Codex":        {"codex", "{\n" + `"session":{},"items":[0`, message(`,[]`)},
		"object":                 {"claude-master", "{\n\"instructor\":{}", message(` `)},
	} {
		t.Run(name, func(t *testing.T) {
			if !sizetest.Full() && name != "value of OpenCode" && name != "messages of Gemini CLI" {
				t.Skip("reads hundreds of megabytes")
			}
			if name == "messages of Gemini CLI" { // all with different ids
				n := 0
				test.start = ""
				_, err := interchange.Transcript(test.format, interchange.Source{Open: func() (io.ReadCloser, error) {
					return io.NopCloser(&generated{lines: 1 << 30, line: func(w io.Writer, _ int) {
						n++
						fmt.Fprintf(w, `{"id":"%d","type":"user","content":"x"}`+"\n", n)
					}}), nil
				}}, app)
				checkLimit(t, err)
				return
			}
			_, err := interchange.Transcript(test.format, interchange.Source{Path: "/old/s", Open: func() (io.ReadCloser, error) {
				return io.NopCloser(&repeated{start: test.start, text: test.text, n: -1}), nil
			}}, app)
			checkLimit(t, err)
		})
	}
}

func checkLimit(t *testing.T, err error) {
	t.Helper()
	var limit *interchange.LimitError
	if !errors.As(err, &limit) || limit.Limit == 0 || limit.Part == "" || limit.Unit == "" {
		t.Errorf("got %v, want a *LimitError", err)
	}
}

func TestTooManyLinesReachLimit(t *testing.T) {
	sizetest.SkipUnlessFull(t, "generates millions of lines")
	for format, line := range map[string]string{
		"claude": `{"uuid":"%d"}` + "\n", "pi": `{"id":"%d"}` + "\n",
	} {
		_, err := interchange.Transcript(format, sourceOfLines(5_000_000, nil, func(w io.Writer, n int) {
			fmt.Fprintf(w, line, n)
		}), app)
		checkLimit(t, err)
	}
}

// hostileText has control sequences, markup, invalid UTF-8, and a character that reverses text.
const hostileText = "\x1b]0;owned\a\x1b[2J<script>alert(1)</script>\x00\u202e\xff../../etc/passwd"

// conversation returns a transcript with a prompt and a reply, both with this text and
// id, and a reply at a time with this number of tokens and cost.
func conversation(t *testing.T, format, id, text, at, number string) string {
	t.Helper()
	quote := func(s string) string { return strings.TrimSuffix(line(t, s), "\n") }
	name, id, text := quote(text), quote(id), quote(text)
	switch format {
	case "claude":
		both := `{"type":%q,"uuid":` + id + `,"parentUuid":` + id + `,"sessionId":` + id + `,"cwd":` + name + `,"timestamp":"` + at +
			`","totalCostUSD":` + number + `,"message":{"id":` + id + `,"model":` + name + `,"usage":{"input_tokens":` + number +
			`,"output_tokens":` + number + `},"content":[{"type":"text","text":` + text + `},{"type":%q,"id":` + id +
			`,"name":` + name + `,"input":` + text + `,"tool_use_id":` + id + `,"content":` + text + `}]}}` + "\n"
		return `{"type":"custom-title","customTitle":` + name + "}\n" + fmt.Sprintf(both, "user", "x") +
			fmt.Sprintf(both, "assistant", "tool_use") + fmt.Sprintf(both, "user", "tool_result") +
			strings.Repeat(`{"type":"cost-state","totalCostUSD":`+number+"}\n"+`{"type":"cost-state","totalCostUSD":0}`+"\n", 3)
	case "codex":
		item := func(payload string) string {
			return `{"timestamp":"` + at + `","type":"response_item","payload":{` + payload + "}}\n"
		}
		return `{"timestamp":"` + at + `","type":"session_meta","payload":{"id":` + id + `,"cwd":` + name + "}}\n" +
			`{"timestamp":"` + at + `","type":"turn_context","payload":{"model":` + name + "}}\n" +
			item(`"type":"message","role":"user","id":`+id+`,"content":[{"type":"input_text","text":`+text+`}]`) +
			item(`"type":"function_call","call_id":`+id+`,"name":`+name+`,"arguments":`+text) +
			item(`"type":"function_call_output","call_id":`+id+`,"output":`+text) +
			item(`"type":"message","role":"assistant","id":`+id+`,"content":[{"type":"output_text","text":`+text+`}]`) +
			strings.Repeat(`{"timestamp":"`+at+`","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":`+
				`{"input_tokens":`+number+`,"output_tokens":`+number+`}}}}`+"\n"+`{"timestamp":"`+at+`","type":"event_msg","payload":`+
				`{"type":"token_count","info":{"total_token_usage":{}}}}`+"\n", 3) +
			`{"timestamp":"` + at + `","type":"event_msg","payload":{"type":"thread_name_updated","thread_name":` + name + "}}\n"
	case "gemini":
		return `{"sessionId":` + id + `,"projectHash":"h","startTime":"` + at + `","summary":` + name + `,"directories":[` + name + "]}\n" +
			`{"id":` + id + `,"timestamp":"` + at + `","type":"user","content":` + text + "}\n" +
			`{"id":"2","timestamp":"` + at + `","type":"gemini","model":` + name + `,"content":` + text + `,"tokens":{"input":` + number +
			`,"cached":` + number + `,"tool":` + number + `,"output":` + number + `},"toolCalls":[{"id":` + id + `,"name":` + name +
			`,"args":` + text + `,"status":` + text + `,"result":[{"text":` + text + `}]}]}` + "\n" +
			`{"id":"3","timestamp":"` + at + `","type":"error","content":` + text + "}\n"
	case "opencode":
		const info = `"time":{"created":%[1]s,"updated":%[1]s,"completed":%[1]s,"start":%[1]s,"end":%[1]s}`
		times := fmt.Sprintf(info, number)
		return `{"info":{"id":` + id + `,"title":` + name + `,"directory":` + name + `,` + times + `},"messages":[` +
			`{"info":{"id":` + id + `,"role":"user",` + times + `},"parts":[{"type":"text","text":` + text + `}]},` +
			`{"info":{"id":` + id + `,"role":"assistant","modelID":` + name + `,` + times + `,"cost":` + number +
			`},"parts":[{"type":"text","text":` + text + `},{"type":"tool","callID":` + id + `,"tool":` + name +
			`,"state":{"status":"completed","input":` + text + `,"output":` + text + `,` + times + `}}]}]}`
	case "pi":
		message := func(role, more string) string {
			return `{"type":"message","id":` + id + `,"parentId":` + id + `,"timestamp":"` + at + `","message":{"role":"` + role + `",` + more + "}}\n"
		}
		return `{"type":"session","id":` + id + `,"timestamp":"` + at + `","cwd":` + name + "}\n" +
			message("user", `"content":`+text) +
			message("assistant", `"model":`+name+`,"content":[{"type":"text","text":`+text+`},{"type":"toolCall","id":`+id+
				`,"name":`+name+`,"arguments":`+text+`}],"usage":{"cost":{"total":`+number+`}}`) +
			message("toolResult", `"toolCallId":`+id+`,"content":`+text) +
			`{"type":"session_info","parentId":` + id + `,"name":` + name + "}\n"
	case "claude-master":
		return `{"type":"session-metadata","sessionId":` + id + `,"workDir":` + name + `,"createdAt":"` + at + "\"}\n" +
			`{"type":"instructor-message","timestamp":"` + at + `","message":{"role":"user","content":` + text + "}}\n" +
			`{"type":"instructor-message","timestamp":"` + at + `","message":{"role":"assistant","content":` + text + "}}\n"
	}
	return `{"role":"user","content":[{"type":"text","text":` + text + `}]}` + "\n" +
		`{"role":"assistant","content":[{"type":"text","text":` + text + `}],"toolCalls":[{"id":` + id + `,"name":` + name +
		`,"arguments":` + text + `}]}` + "\n"
}

var formats = []string{"claude", "codex", "gemini", "opencode", "pi", "claude-master", "synapse"}

// readAny reads a transcript in any format.
func readAny(t *testing.T, format, text string) *interchange.Session {
	t.Helper()
	if format == "synapse" {
		return synapse(t, text, "")
	}
	return mustReadTranscript(t, format, "/old/s.jsonl", text)
}

func TestHostileValuesBecomeValidEvents(t *testing.T) {
	racetest.SkipSequential(t)
	long := strings.Repeat("long ", 10_000)
	const at = "2026-11-21T12:00:00Z"
	for name, test := range map[string]struct{ id, text, at, number string }{
		"control sequences":      {hostileText, hostileText, at, "1"},
		"long names":             {long, long, at, "1"},
		"first year":             {"1", "x", "0000-01-01T00:00:00Z", "1"},
		"last year":              {"1", "x", "9999-12-31T23:59:59.999999999Z", "253402300799999"},
		"year with five digits":  {"1", "x", "10000-01-01T00:00:00Z", "253402300800000"},
		"year zero in UTC":       {"1", "x", "0000-01-01T00:00:00+14:00", "-62167219200001"},
		"no time":                {"1", "x", "soon", "null"},
		"large numbers":          {"1", "x", at, "9223372036854775807"},
		"numbers out of range":   {"1", "x", at, "1e308"},
		"negative numbers":       {"1", "x", at, "-9223372036854775808"},
		"ids that are no values": {"", "x", at, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, format := range formats {
				s := readAny(t, format, conversation(t, format, test.id, test.text, test.at, test.number))
				checkRecords(t, s)
				for _, p := range payloadsOf(t, s) {
					if tool, ok := p.(projection.ToolStarted); ok && len(tool.ToolID)+len(tool.Name) > 4<<10 {
						t.Errorf("%s: the call has an id and a name of %d bytes", format, len(tool.ToolID)+len(tool.Name))
					}
				}
				if len(s.Title)+len(s.Created.CWD) > 8<<10 {
					t.Errorf("%s: title and directory have %d bytes", format, len(s.Title)+len(s.Created.CWD))
				}
			}
		})
	}
}

func TestDeeplyNestedValues(t *testing.T) {
	racetest.SkipSequential(t)
	const depth = 50_000
	arrays := strings.Repeat("[", depth) + strings.Repeat("]", depth)
	objects := strings.Repeat(`{"content":`, depth) + `"x"` + strings.Repeat("}", depth)
	for _, format := range formats {
		valid := conversation(t, format, "1", "go", "2026-11-21T12:00:00Z", "1")
		for _, nested := range []string{arrays, objects, strings.Repeat("[", depth), strings.Repeat(`{"a":`, depth)} {
			text := strings.ReplaceAll(valid, `"go"`, nested)
			_ = detect(t, []byte(`{"x":`+nested+"\n"+text))
			src := sourceOf("/old/s.jsonl", text+valid)
			s, err := interchange.Transcript(format, src, app)
			if format == "synapse" {
				s, err = synapse(t, text+valid, ""), nil
			}
			if err == nil {
				for _, err = range s.Records() {
				}
			}
			if err != nil && !errors.Is(err, interchange.ErrNoMessages) {
				t.Errorf("%s: %v", format, err)
			}
		}
	}
}

func TestFirstBranchesCanBeImported(t *testing.T) {
	const branches = 5_000
	for format, line := range map[string]func(w io.Writer, n int){
		"claude": func(w io.Writer, n int) { writeClaudeLine(w, 2*n, min(n-1, 0)) },
		"pi": func(w io.Writer, n int) {
			parent := ""
			if n > 0 {
				parent = "0"
			}
			fmt.Fprintf(w, `{"type":"message","id":"%d","parentId":%q,"timestamp":"2026-11-21T12:00:00Z",`+
				`"message":{"role":"user","content":"%d"}}`+"\n", n, parent, n)
		},
	} {
		s, err := interchange.Transcript(format, sourceOfLines(branches+1, nil, line), app)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Branches) != 1000 || len(s.Branches)+s.MoreBranches != branches-1 {
			t.Errorf("%s: %d branches and %d more", format, len(s.Branches), s.MoreBranches)
		}
		other, err := s.Branches[999]()
		if err != nil {
			t.Fatal(err)
		}
		if messages := messagesOf(t, other); len(messages) != 2 || messages[1].Content != map[string]string{"claude": "2000", "pi": "1000"}[format] {
			t.Errorf("%s: the last branch has %+v", format, messages)
		}
	}
}

func TestManyCallsWithoutResult(t *testing.T) {
	racetest.SkipSequential(t)
	const calls = 5_000
	text := &strings.Builder{}
	lines := 0
	add := func(role string, content any) {
		lines++
		text.WriteString(claudeLine(t, fmt.Sprint(lines), fmt.Sprint(lines-1), role, content))
	}
	add("user", "go")
	for n := range calls {
		add("assistant", useTool(fmt.Sprint("t", n)))
	}
	for n := range calls {
		add("user", toolResult(fmt.Sprint("t", n), "out"))
	}
	started, completed := 0, 0
	for _, p := range payloadsOf(t, mustReadTranscript(t, "claude", "/old/s.jsonl", text.String())) {
		switch p.(type) {
		case projection.ToolStarted:
			started++
		case projection.ToolCompleted:
			completed++
		}
	}
	if started != calls || completed != 1000 { // those of the newest calls
		t.Errorf("%d calls, %d results", started, completed)
	}
}

func TestLongMessageIsCut(t *testing.T) {
	racetest.SkipSequential(t)
	const limit = 8 << 20
	char := "\x01" // six bytes in JSON
	if !sizetest.Full() {
		char = "x"
	}
	s := mustReadTranscript(t, "claude", "/old/s.jsonl", claudeLine(t, "1", "", "user", strings.Repeat(char, limit+5))+
		claudeLine(t, "2", "1", "assistant", []object{{"type": "tool_use", "id": "t", "name": "Write",
			"input": strings.Repeat("x", limit)}}))
	if got, want := messagesOf(t, s)[0].Content, char+"\n\n[5 more bytes were not imported]"; !strings.HasSuffix(got, want) {
		t.Errorf("the message ends with %q", got[len(got)-len(want):])
	}
	for _, p := range payloadsOf(t, s) {
		if tool, ok := p.(projection.ToolStarted); ok && tool.Input != nil {
			t.Errorf("the input of the tool has %d bytes", len(tool.Input))
		}
	}
}

func TestResponseInManyLinesIsDivided(t *testing.T) {
	racetest.SkipSequential(t)
	const lines = 20
	part := strings.Repeat("x", 1<<20)
	text := claudeLine(t, "0", "", "user", "go")
	for n := range lines {
		text += claudeLine(t, fmt.Sprint(n+1), fmt.Sprint(n), "assistant", part, "id", "r", "usage", object{"output_tokens": 7})
	}
	s := mustReadTranscript(t, "claude", "/old/s.jsonl", text)
	messages, size := messagesOf(t, s)[1:], 0
	for _, m := range messages {
		size += strings.Count(m.Content, "x")
	}
	if len(messages) < 2 || size != lines<<20 {
		t.Errorf("%d messages with %d bytes", len(messages), size)
	}
	var used projection.Usage
	for _, p := range payloadsOf(t, s) {
		if ended, ok := p.(projection.TurnEnded); ok && ended.Usage != nil {
			used.Add(*ended.Usage)
		}
	}
	if used.Output != 7 {
		t.Errorf("the tokens of the response are counted as %d", used.Output)
	}
}

func TestSessionIsNoSubagentOfItself(t *testing.T) {
	src := sourceOf("/old/agent-a1.jsonl", claudeLine(t, "1", "", "user", "go")+
		claudeLine(t, "2", "1", "assistant", useTool("t1"))+claudeLine(t, "3", "2", "user", toolResult("t1", "done")))
	src.Subagent = func(string, string) (interchange.Source, bool) { return src, true }
	s, err := interchange.Transcript("claude", src, app)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := summary(t, s), "you: go\n  Bash {\"a\":\"t1\"} -> \"done\" \"\"\nclaude: interrupted\n"; got != want {
		t.Errorf("got\n%s", got)
	}
}
