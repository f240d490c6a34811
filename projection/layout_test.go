package projection_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// oddPayloads are payloads that package layout must reject or decode as encoding/json
// does.
var oddPayloads = []struct{ name, eventType, data string }{
	{"a field twice", "turn.text", `{"turnId":"t1","text":"a","text":"b"}`},
	{"a field in capitals", "turn.text", `{"turnId":"t1","TEXT":"a"}`},
	{"a field in capitals after the same field", "turn.text", `{"turnId":"t1","text":"a","Text":"b"}`},
	{"a field whose name matches by Unicode case folding", "message.appended", `{"me\u017fsage":{"id":"a"}}`},
	{"fields in another order", "turn.text", `{"text":"a","turnId":"t1"}`},
	{"an additional field", "turn.text", `{"turnId":"t1","text":"a","more":{"text":"b"}}`},
	{"a missing field", "turn.text", `{"turnId":"t1"}`},
	{"a newer version at the end", "turn.text", `{"turnId":"t1","text":"a","v":2}`},
	{"white space", "turn.text", `{"turnId": "t1","text":"a"}`},
	{"trailing white space", "turn.text", "{\"turnId\":\"t1\",\"text\":\"a\"}\n"},
	{"trailing data", "turn.text", `{"turnId":"t1","text":"a"}{}`},
	{"an empty payload", "turn.text", ``},
	{"cut off", "turn.text", `{"turnId":"t1","text":"a`},
	{"cut off in an escape", "turn.text", `{"turnId":"t1","text":"a\`},
	{"cut off in a character", "turn.text", `{"turnId":"t1","text":"a\u00`},
	{"null for a string", "turn.text", `{"turnId":"t1","text":null}`},
	{"a number for a string", "turn.text", `{"turnId":"t1","text":5}`},
	{"every escape", "turn.text", `{"turnId":"t1","text":"\"\\\/\b\f\n\r\t\u0000\u001b\u00e9\u20AC\ufffd"}`},
	{"an unknown escape", "turn.text", `{"turnId":"t1","text":"\x41"}`},
	{"an escape with invalid digits", "turn.text", `{"turnId":"t1","text":"\u00g0"}`},
	{"a surrogate pair", "turn.text", `{"turnId":"t1","text":"\ud83d\ude00"}`},
	{"a high surrogate", "turn.text", `{"turnId":"t1","text":"\ud83d"}`},
	{"a low surrogate", "turn.text", `{"turnId":"t1","text":"a\udc00\u0041"}`},
	{"bytes that are not UTF-8", "turn.text", "{\"turnId\":\"t1\",\"text\":\"a\xff\xc3\"}"},
	{"bytes of a surrogate", "turn.text", "{\"turnId\":\"t1\",\"text\":\"\xed\xa0\x80\"}"},
	{"bytes that are not UTF-8 after an escape", "turn.text", "{\"turnId\":\"t1\",\"text\":\"\\n\xff\"}"},
	{"a control character", "turn.text", "{\"turnId\":\"t1\",\"text\":\"12345678\x1f\"}"},
	{"NUL bytes", "turn.text", "{\"turnId\":\"t1\",\"text\":\"\x00\x00\x00\x00\x00\x00\x00\x00\"}"},
	{"a line separator without an escape", "turn.text", "{\"turnId\":\"t1\",\"text\":\"\u2028\"}"},

	{
		"a legacy speaker",
		"message.appended",
		`{"message":{"id":"m","timestamp":"t","speaker":{"roleId":"r","roleName":"R"},"content":"c"}}`,
	},
	{
		"a speaker with current and legacy fields",
		"message.appended",
		`{"message":{"id":"m","timestamp":"t",` +
			`"speaker":{"id":"","name":"","displayName":"","type":"","roleId":"r"},"content":"c"}}`,
	},
	{
		"a speaker that is null",
		"message.appended",
		`{"message":{"id":"m","timestamp":"t","speaker":null,"content":"c"}}`,
	},
	{"a message that is null", "message.appended", `{"message":null}`},
	{"routing that is null", "message.appended", routed(`null`)},
	{"routing that is empty", "message.appended", routed(`{}`)},
	{"lists that are null", "message.appended", routed(`{"rawNextMarkers":null,"resolvedAddressees":null}`)},
	{"lists that are empty", "message.appended", routed(`{"rawNextMarkers":[],"resolvedAddressees":[]}`)},
	{"lists that end in a comma", "message.appended", routed(`{"rawNextMarkers":["a",],"resolvedAddressees":[]}`)},
	{"lists that begin with a comma", "message.appended", routed(`{"rawNextMarkers":[,"a"],"resolvedAddressees":[]}`)},
	{"a marker that is null", "message.appended", routed(`{"rawNextMarkers":[null],"resolvedAddressees":[]}`)},
	{
		"addressees",
		"message.appended",
		routed(
			`{"rawNextMarkers":["a","b"],"resolvedAddressees":[` +
				`{"identifier":"a","memberId":null,"memberName":null},` +
				`{"identifier":"b","memberId":"b","memberName":""}]}`,
		),
	},
	{
		"a legacy addressee",
		"message.appended",
		routed(`{"rawNextMarkers":[],"resolvedAddressees":[{"identifier":"a","roleId":"r"}]}`),
	},
	{
		"an addressee with current and legacy fields",
		"message.appended",
		routed(
			`{"rawNextMarkers":[],"resolvedAddressees":[` +
				`{"identifier":"a","memberId":null,"memberName":null,"roleId":"r"}]}`,
		),
	},
	{"an addressee that is null", "message.appended", routed(`{"rawNextMarkers":[],"resolvedAddressees":[null]}`)},
	{
		"raw bytes",
		"message.appended",
		`{"message":{"id":"m","timestamp":"t",` +
			`"speaker":{"id":"a","name":"a","displayName":"A","type":"ai"},"content":"c"},"raw":"/w=="}`,
	},

	{"input that is null", "tool.started", toolStarted(`null`)},
	{"input of every kind", "tool.started", toolStarted(`{"a":[1,-2.5,0,1e9,true,false,null,"\u00e9"],"b":{},"c":[]}`)},
	{"input with white space", "tool.started", toolStarted(`{"a": 1}`)},
	{"input that is not UTF-8", "tool.started", toolStarted("\"\xff\"")},
	{"input with a leading zero", "tool.started", toolStarted(`01`)},
	{"input with a number out of range", "tool.started", toolStarted(`1e999`)},
	{"input with a number of many digits", "tool.started", toolStarted(strings.Repeat("9", 400))},
	{"input with half a number", "tool.started", toolStarted(`1.`)},
	{"input with a number without digits", "tool.started", toolStarted(`-`)},
	{"input with half an object", "tool.started", toolStarted(`{"a"`)},
	{"input with a key that is a number", "tool.started", toolStarted(`{1:2}`)},
	{"input that is nested", "tool.started", toolStarted(strings.Repeat("[", 99) + strings.Repeat("]", 99))},
	{
		"input that is nested deeply",
		"tool.started",
		toolStarted(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)),
	},
	{"no input", "tool.started", `{"turnId":"t1","toolId":"u","name":"n","input":}`},

	{"a duration of zero", "turn.ended", turnEnded(`0`)},
	{"a negative duration", "turn.ended", turnEnded(`-1`)},
	{"a duration with a fraction", "turn.ended", turnEnded(`1.0`)},
	{"a duration with an exponent", "turn.ended", turnEnded(`1e3`)},
	{"a duration with a leading zero", "turn.ended", turnEnded(`01`)},
	{"the longest duration", "turn.ended", turnEnded(`9223372036854775807`)},
	{"a duration out of range", "turn.ended", turnEnded(`9223372036854775808`)},
	{"a duration as text", "turn.ended", turnEnded(`"1"`)},
	{"no duration", "turn.ended", turnEnded(``)},
	{"usage that is null", "turn.ended", turnEnded(`1,"usage":null`)},
	{
		"usage with an additional field",
		"turn.ended",
		turnEnded(`1,"usage":{"inputTokens":1,"outputTokens":2,"cached":3}`),
	},
	{"usage with a missing field", "turn.ended", turnEnded(`1,"usage":{"inputTokens":1}`)},
	{"usage of version 1", "turn.ended", turnEnded(`1,"usage":{"inputTokens":1,"outputTokens":2},"error":"e"`)},
	{"usage of version 1 with a version", "turn.ended", turnEnded(`1,"usage":{"inputTokens":1,"outputTokens":2},"v":1`)},
	{"usage of version 1 in version 2", "turn.ended", turnEnded2(`1,"usage":{"inputTokens":1,"outputTokens":2}`)},
	{"usage of version 2 in version 1", "turn.ended", turnEnded(`1,"usage":{"input":1,"output":2}`)},
	{"usage of version 2", "turn.ended", turnEnded2(`1,"usage":{"input":1,"output":2}`)},
	{"usage of version 2 without anything", "turn.ended", turnEnded2(`1,"usage":{}`)},
	{"usage of version 2 in another order", "turn.ended", turnEnded2(`1,"usage":{"output":2,"input":1}`)},
	{"negative tokens", "turn.ended", turnEnded2(`1,"usage":{"input":-1}`)},
	{"a cost", "turn.ended", turnEnded2(`1,"usage":{"cost":{"amount":0.25,"currency":"USD"}}`)},
	{"a cost of nothing", "turn.ended", turnEnded2(`1,"usage":{"cost":{"amount":-0,"currency":"USD"}}`)},
	{"a cost with an exponent", "turn.ended", turnEnded2(`1,"usage":{"cost":{"amount":1E+2,"currency":"USD"}}`)},
	{"a negative cost", "turn.ended", turnEnded2(`1,"usage":{"cost":{"amount":-1,"currency":"USD"}}`)},
	{"a cost that is infinite", "turn.ended", turnEnded2(`1,"usage":{"cost":{"amount":1e999,"currency":"USD"}}`)},
	{"a cost that is text", "turn.ended", turnEnded2(`1,"usage":{"cost":{"amount":"1","currency":"USD"}}`)},
	{"a cost that is null", "turn.ended", turnEnded2(`1,"usage":{"cost":{"amount":null,"currency":"USD"}}`)},
	{"a cost in hexadecimal", "turn.ended", turnEnded2(`1,"usage":{"cost":{"amount":0x1p4,"currency":"USD"}}`)},
	{"an unknown currency", "turn.ended", turnEnded2(`1,"usage":{"cost":{"amount":1,"currency":"usd"}}`)},
	{"a prompt's hash", "turn.ended", turnEnded2(`1,"promptSha256":"` + strings.Repeat("0f", 32) + `"`)},
	{"a prompt's hash in capitals", "turn.ended", turnEnded2(`1,"promptSha256":"` + strings.Repeat("0F", 32) + `"`)},
	{"a version twice", "turn.ended", turnEnded2(`1,"v":1`)},
	{"version 3", "turn.ended", `{"v":3,` + turnEnded(`1`)[1:]},
	{"an unknown reason", "turn.ended", `{"turnId":"t1","memberId":"ada","finishReason":"bored","durationMs":1}`},
}

func answered(answers string) string {
	return `{"turnId":"t","toolId":"c","name":"n","allowed":true,"by":"person","questions":[{"text":"a"},{"text":"b"}],` +
		`"answers":[` + answers + `]}`
}

func routed(routing string) string {
	return `{"message":{"id":"m","timestamp":"t","speaker":{"id":"a","name":"a","displayName":"A","type":"ai"},` +
		`"content":"c","routing":` + routing + `}}`
}

func toolStarted(input string) string {
	return `{"turnId":"t1","toolId":"u","name":"n","input":` + input + `}`
}

const sessionCreated = `{"format":1,"sessionId":"s","team":{"id":"t","name":"","members":[{"id":"a","name":"a",` +
	`"displayName":"A","type":"ai"}],"source":{"path":"/t","sha256":"` +
	`0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"}},"cwd":"","app":{"name":"","version":""}}`

func messageAt(timestamp string) string {
	return `{"message":{"id":"m","timestamp":"` + timestamp +
		`","speaker":{"id":"a","name":"a","displayName":"A","type":"ai"},"content":""}}`
}

func turnEnded(duration string) string {
	return `{"turnId":"t1","memberId":"ada","finishReason":"done","durationMs":` + duration + `}`
}

func turnEnded2(duration string) string { return `{"v":2,` + turnEnded(duration)[1:] }

func TestDecodeEqualsPackageJSON(t *testing.T) {
	for _, test := range oddPayloads {
		t.Run(test.name, func(t *testing.T) {
			e := journal.Event{Seq: 3, Type: test.eventType, Data: json.RawMessage(test.data)}
			sameAsPackageJSON(t, e)
			foldsAsPackageJSON(t, e)
			fitsAsTheSchemaSays(t, e)
		})
	}
}

// Otherwise most sessions would be checked against the schema whenever they are folded.
func TestEveryWrittenPayloadFits(t *testing.T) {
	for _, p := range everyPayload() {
		r := record(p)
		e := journal.Event{Seq: 2, Type: r.Type, Data: r.Data}
		if bytes.Contains(r.Data, []byte(`"raw":`)) {
			continue // of a text that is not valid UTF-8
		}
		if schemas.Check(schemas.JournalEvent, e.Line()) == nil && !projection.Fits(e) {
			t.Errorf("left to the schema: %s %s", e.Type, e.Data)
		}
	}
}

func TestDecodeEqualsPackageJSONForAnyChangedByte(t *testing.T) {
	racetest.SkipSequential(t)
	for _, p := range everyPayload() {
		r := record(p)
		for i := range r.Data {
			if e := (journal.Event{Seq: 2, Type: r.Type, Data: r.Data[:i]}); i%7 == 0 {
				sameAsPackageJSON(t, e)
			}
			for _, wrong := range []byte("\x1f \"\\,}]0eA\xff") {
				data := append([]byte(nil), r.Data...)
				data[i] = wrong
				e := journal.Event{Seq: 2, Type: r.Type, Data: data}
				sameAsPackageJSON(t, e)
				if wrong == '0' {
					fitsAsTheSchemaSays(t, e)
				}
			}
		}
	}
}

func sameAsPackageJSON(t *testing.T, e journal.Event) {
	t.Helper()
	got, gotErr := projection.Decode(e)
	want, wantErr := projection.DecodeByPackageJSON(e)
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Fatalf("%.200q: %v, by package json: %v", e.Data, gotErr, wantErr)
	}
	if !reflect.DeepEqual(want, got) {
		diff := cmp.Diff(want, got)
		t.Fatalf("%.200q (-package json +Decode):\n%s", e.Data, diff)
	}
	decoded := projection.DecodeEvent(e)
	if fmt.Sprint(decoded.Err) != fmt.Sprint(gotErr) || !reflect.DeepEqual(decoded.Payload, got) {
		t.Fatalf("%.200q: DecodeEvent has %v, %v", e.Data, decoded.Payload, decoded.Err)
	}
}

// fitsAsTheSchemaSays fails if Fits accepts what the schema rejects.
func fitsAsTheSchemaSays(t *testing.T, e journal.Event) {
	t.Helper()
	if projection.Fits(e) {
		if err := schemas.Check(schemas.JournalEvent, e.Line()); err != nil {
			t.Fatalf("Fits accepts %.200q: %v", e.Data, err)
		}
	}
}

// foldsAsPackageJSON compares Apply and ApplyEvent with Apply by encoding/json alone.
func foldsAsPackageJSON(t *testing.T, e journal.Event) {
	t.Helper()
	opened := record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"})
	short, long := fold(session(t, opened)...), fold(session(t, opened)...)
	short.Apply(e)
	long.ApplyByPackageJSON(e)
	same(t, short, long)
	decoded := fold(session(t, opened)...)
	decoded.ApplyEvent(projection.DecodeEvent(e))
	same(t, decoded, long)
	of, ofDecoded := timelineOf(session(t, opened)...), timelineOf(session(t, opened)...)
	of.Apply(e)
	ofDecoded.ApplyEvent(projection.DecodeEvent(e))
	if diff := cmp.Diff(of, ofDecoded); diff != "" {
		t.Errorf("%.200q (-Apply +ApplyEvent):\n%s", e.Data, diff)
	}
}

// Otherwise encoding/json would decode everything, and no other test would fail.
func TestRecordWritesTheLayoutOfThePayload(t *testing.T) {
	text := "\"quotes\", \\, <tags> & control \x00\x1b\n\t characters, größer — 👍 \u2028"
	for _, p := range []projection.Payload{
		projection.NewMessage("m1", created, ada, text, to("mia", "carol")),
		projection.NewMessage("m1", created, mia, "", nil),
		projection.NewMessage("m1", created, mia, text, &projection.Routing{}),
		projection.TurnStarted{
			TurnID: "t1", MemberID: "ada", AgentType: "claude", Model: "opus", TriggerMessageID: "m1",
		},
		projection.TurnStarted{TurnID: "t1"},
		projection.TurnText{TurnID: "t1", Text: text},
		projection.ToolStarted{
			TurnID: "t1", ToolID: "u1", Name: "Bash",
			Input: json.RawMessage(`{"command":"ls \"a\"","n":[1,2.5e3,null]}`),
		},
		projection.ToolStarted{TurnID: "t1"},
		projection.ToolCompleted{
			TurnID: "t1", ToolID: "u1", Name: "Bash", Output: text, OutputBytes: 70_000, Error: "exit status 1",
		},
		projection.ToolCompleted{TurnID: "t1", ToolID: "u1"},
		projection.TurnEnded{
			TurnID: "t1", MemberID: "ada", FinishReason: projection.TimedOut, DurationMS: 12, Error: "slow",
			Partial: text, PartialBytes: 70_000, AgentSession: "x",
		},
		projection.TurnEnded{TurnID: "t1", Usage: &projection.Usage{Input: 5, Output: 6}},
		projection.TurnEnded{TurnID: "t1", Usage: &projection.Usage{}},
		projection.TurnEnded{TurnID: "t1", PromptSHA256: "00", Instructions: "01", Usage: &projection.Usage{
			Input: 1, CachedRead: 2, CachedWrite: 3, Output: 4, Thought: 5,
			Cost: &projection.Cost{Amount: 1.5e-7, Currency: "USD"},
		}},
		projection.PlanUpdated{TurnID: "t1", Entries: []projection.PlanEntry{{Content: text, Status: "pending"}}},
		projection.PermissionBypassed{TurnID: "t1", ToolID: text, Name: text, Title: text},
		projection.AgentAttached{TurnID: "t1", MemberID: text, Way: "new", AgentSession: text, Seen: 1},
		projection.SummaryWritten{MemberID: text, From: 1, To: 2, Seen: 3, Text: text},
		projection.AgentCompacted{TurnID: "t1", MemberID: text, Before: 2},
		projection.InputReceived{MessageID: "m1", Device: text, InputID: text},
		projection.TurnSteered{TurnID: "t1", MessageID: text},
		projection.PermissionAnswered{TurnID: "t1", Title: text, By: projection.ByPerson, WaitedMS: 85_012},
		projection.PermissionAnswered{
			TurnID: "t1", Allowed: true, By: projection.ByPerson, Answers: [][]string{{text, "b"}, {}},
			Questions: []projection.Question{{
				Header: text, Text: text, Options: []projection.QuestionOption{{Label: text, Description: text}}, Several: true,
				Free: true,
			}, {Text: text, Secret: true}},
		},
	} {
		r := record(p)
		decoded := reflect.New(reflect.TypeOf(p))
		ok := layout.Decode(r.Data, decoded.Interface())
		got := decoded.Elem().Interface()
		if _, versioned := p.(projection.TurnEnded); versioned {
			got, ok = projection.TurnEndedOf(journal.Event{Data: r.Data})
		}
		if !ok {
			t.Errorf("package layout rejects %s", r.Data)
		} else if diff := cmp.Diff(p, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", r.Data, diff)
		}
	}
}

func TestFitsAgreesWithTheSchema(t *testing.T) {
	message := func(id, at, kind string) string {
		return fmt.Sprintf(
			`{"message":{"id":%q,"timestamp":%q,`+
				`"speaker":{"id":"","name":"","displayName":"","type":%q},"content":""}}`,
			id,
			at,
			kind,
		)
	}
	for _, test := range []struct {
		name, eventType, data string
		want                  bool
	}{
		{"a message", "message.appended", message("m", "2026-11-30T02:30:03.000Z", "system"), true},
		{
			"a message of an unknown type of speaker", "message.appended",
			message("m", "2026-11-30T02:30:03.000Z", "robot"), false,
		},
		{"a message at noon", "message.appended", message("m", "noon", "ai"), false},
		{"a message on an impossible day", "message.appended", message("m", "2026-11-31T02:30:03.000Z", "ai"), false},
		{
			"a message with an hour of one digit", "message.appended", message("m", "2026-11-30T2:30:03.0000Z", "ai"),
			false,
		},
		{"a message with a comma", "message.appended", message("m", "2026-11-30T02:30:03,000Z", "ai"), false},
		{"a message of the year zero", "message.appended", message("m", "0000-01-01T00:00:00.000Z", "ai"), true},
		{"text of a turn", "turn.text", `{"turnId":"t","text":""}`, true},
		{"text without a turn", "turn.text", `{"turnId":"","text":""}`, false},
		{
			"a turn without a member", "turn.started",
			`{"turnId":"t","memberId":"","agentType":"","triggerMessageId":""}`, false,
		},
		{
			"a turn without an id", "turn.started", `{"turnId":"","memberId":"a","agentType":"","triggerMessageId":""}`,
			false,
		},
		{"an end", "turn.ended", turnEnded(`0`), true},
		{"an end of version 2", "turn.ended", turnEnded2(`0`), true},
		{
			"an end with usage", "turn.ended",
			turnEnded2(`0,"usage":{"input":1,"cost":{"amount":0.5,"currency":"USD"}},"promptSha256":"` +
				strings.Repeat("0f", 32) + `"`), true,
		},
		{"an end with a negative cost", "turn.ended", turnEnded2(
			`0,"usage":{"cost":{"amount":-0.5,"currency":"USD"}}`), false},
		{"an end with a long currency", "turn.ended", turnEnded2(
			`0,"usage":{"cost":{"amount":0.5,"currency":"EURO"}}`), false},
		{"an end with a currency in digits", "turn.ended", turnEnded2(
			`0,"usage":{"cost":{"amount":0.5,"currency":"12€"}}`), false},
		{"an end with a short hash", "turn.ended", turnEnded2(`0,"promptSha256":"0f"`), false},
		{"an end with a short hash of instructions", "turn.ended", turnEnded2(`0,"instructionsSha256":"0f"`), false},
		{
			"an end with a hash in capitals", "turn.ended",
			turnEnded2(`0,"promptSha256":"` + strings.Repeat("0F", 32) + `"`), false,
		},
		{
			"an end without a member", "turn.ended",
			`{"turnId":"t","memberId":"","finishReason":"done","durationMs":0}`, false,
		},
		{
			"an end without a turn", "turn.ended", `{"turnId":"","memberId":"a","finishReason":"done","durationMs":0}`,
			false,
		},
		{
			"an end with an unknown reason", "turn.ended",
			`{"turnId":"t","memberId":"a","finishReason":"bored","durationMs":0}`, false,
		},
		{"answers", "permission.answered", answered(`["b"],[]`), true},
		{"more answers than questions", "permission.answered", answered(`["b"],[],[]`), false},
		{"an answer that is null", "permission.answered", answered(`["b"],null`), false},
		{"a tool", "tool.started", toolStarted(`{"a":1}`), true},
		{"a tool without a turn", "tool.started", `{"turnId":"","toolId":"","name":""}`, false},
		{"a tool with a number out of range", "tool.started", toolStarted(`{"a":1e999}`), false},
		{"a result", "tool.completed", `{"turnId":"t","toolId":""}`, true},
		{"a result without a turn", "tool.completed", `{"turnId":"","toolId":""}`, false},
		{"a title", "session.renamed", `{"title":"a"}`, true},
		{"another layout", "session.renamed", `{ "title": "a"}`, false},
		{"a field that the struct lacks", "session.renamed", `{"title":"a","by":"b"}`, false},
		{"a type that is not known", "tea.made", `{}`, false},
		{"a member of another type", "session.created", strings.Replace(sessionCreated, `"ai"`, `"cat"`, 1), false},
		{"a team without a hash", "session.created", strings.Replace(sessionCreated, `"sha256":"`, `"sha256":"","x":"`, 1), false},
		{"a newer format", "session.created", strings.Replace(sessionCreated, `"format":1`, `"format":2`, 1), false},
		{"a session", "session.created", sessionCreated, true},
		{"changes without a number of more", "queue.changed", `{"changes":[],"more":0,"waiting":[]}`, false},
		{"changes", "queue.changed", `{"changes":[],"waiting":[]}`, true},
		{
			"a change without a priority", "queue.changed",
			`{"changes":[{"action":"preferred","memberId":"ada","reason":"x"}],"waiting":[]}`, true,
		},
		{"a message on the 31st of February", "message.appended", messageAt("2026-02-31T12:00:00.000Z"), false},
		{"a message on the 31st of March", "message.appended", messageAt("2026-03-31T12:00:00.000Z"), true},
		{"a message at 24:00", "message.appended", messageAt("2026-03-01T24:00:00.000Z"), false},
		{"a message at noon", "message.appended", messageAt("2026-03-01T12:00:00.000Z"), true},
		{"a message at a letter", "message.appended", messageAt("2026-03-0xT12:00:00.000Z"), false},
		{"a message in month 0", "message.appended", messageAt("2026-00-01T12:00:00.000Z"), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := journal.Event{Seq: 3, Time: created, Type: test.eventType, Data: json.RawMessage(test.data)}
			if got := projection.Fits(e); got != test.want {
				t.Errorf("Fits: %v", got)
			}
			fitsAsTheSchemaSays(t, e)
			if e.Seq = 0; projection.Fits(e) {
				t.Error("an event without a number fits")
			}
		})
	}
}

// The buffer that a payload is decoded from is reused.
func TestPayloadsShareNoMemoryWithEvents(t *testing.T) {
	for _, p := range everyPayload() {
		e := numbered(t, record(p))[0]
		got, err := projection.Decode(e)
		for i := range e.Data {
			e.Data[i] = 'x'
		}
		if diff := cmp.Diff(p, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", e.Type, err, diff)
		}
	}
}
