package interchange_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

func TestGeminiTranscript(t *testing.T) {
	const header = `{"sessionId":"s","projectHash":"h","startTime":"2026-11-21T12:00:00Z","summary":"A title"}` + "\n"
	message := func(id, kind string, content any, more ...any) string {
		m := object{"id": id, "timestamp": "2026-11-21T12:00:01Z", "type": kind, "content": content}
		for i := 0; i < len(more); i += 2 {
			m[more[i].(string)] = more[i+1]
		}
		return line(t, m)
	}
	image := object{"inlineData": object{"mimeType": "image/png", "data": "aGVsbG8gd29ybGQ="}}
	response := func(part object) []object {
		return []object{{"functionResponse": object{"response": part}}}
	}
	for name, test := range map[string]struct {
		text, want string
		skipped    int
	}{
		"tokens": {
			message("1", "user", "go") + message("2", "gemini", "ok", "model", "flash", "tokens", object{"input": 100,
				"cached": 60, "output": 5, "thoughts": 3, "tool": 2}),
			"you: go\ngemini: ok (flash, 42+60r, 5+3t)\n", 0},
		"image": {
			message("1", "user", []object{image}) + message("2", "gemini", "ok"),
			"you: [image: image/png, 11 bytes]\ngemini: ok\n", 0},
		"what was shown of an included file": {
			message("1", "user", []object{{"text": "read @a"}, {"text": "content of a"}, image}, "displayContent",
				[]object{{"text": "read @a"}}),
			"you: read @a\n\n[image: image/png, 11 bytes]\n", 0},
		"running call": {
			message("1", "user", "go") + message("2", "gemini", "", "tokens", object{"input": 7}, "toolCalls", []object{
				{"id": "c", "name": "ls", "args": object{}, "status": "executing"}}),
			"you: go\n  ls {} ...\ngemini: (, 7, 0) interrupted\n", 0},
		"calls": {
			message("1", "user", "go") + message("2", "gemini", "", "toolCalls", []object{
				{"id": "c", "name": "ls", "args": object{}, "status": "success", "result": response(object{"output": "out"})},
				{"id": "d", "name": "cat", "args": object{}, "status": "error", "result": response(object{"error": "no"})},
				{"id": "e", "name": "rm", "args": object{}, "status": "cancelled"}}) + message("3", "gemini", "ok"),
			"you: go\n  ls {} -> \"out\" \"\"\n  cat {} -> \"\" \"error: no\"\n  rm {} -> \"\" \"cancelled:\"\ngemini: ok\n", 0},
		"error and cancellation": {
			message("1", "user", "go") + message("2", "error", "[API Error: no quota]") + message("3", "user", "on") +
				message("4", "info", "Request cancelled.") + message("5", "info", "Update available"),
			"you: go\ngemini: error[API Error: no quota]\nyou: on\ngemini: cancelled\n", 1},
		"rewound and replaced": {
			message("1", "user", "one") + message("2", "gemini", "1") + message("3", "user", "two") +
				line(t, object{"$rewindTo": "3"}) + message("3", "user", "three") + message("2", "gemini", "first"),
			"you: one\ngemini: first\nyou: three\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustReadTranscript(t, "gemini", "/old/s.jsonl", header+test.text)
			if diff := cmp.Diff(test.want, summary(t, s)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if skipped := importedOf(t, s).Skipped; skipped != test.skipped || s.Title != "A title" {
				t.Errorf("%d lines were skipped, want %d; the title is %q", skipped, test.skipped, s.Title)
			}
			checkRecords(t, s)
		})
	}
}

func TestGeminiDamagedFirstLineIsSkipped(t *testing.T) {
	s := mustReadTranscript(t, "gemini", "/old/s.jsonl", `{"sessionId":"s","projectH
{"id":"1","timestamp":"2026-11-21T12:00:01Z","type":"user","content":"go"}
{"id":"2","timestamp":"2026-11-21T12:00:02Z","type":"gemini","content":"ok"}
`)
	if diff := cmp.Diff("you: go\ngemini: ok\n", summary(t, s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if skipped := importedOf(t, s).Skipped; skipped != 1 {
		t.Errorf("%d lines were skipped", skipped)
	}
}

func TestGeminiSubagentsBelongToTheirCall(t *testing.T) {
	child := `{"sessionId":"a","projectHash":"h","kind":"subagent"}
{"id":"1","type":"user","content":"look"}
{"id":"2","type":"gemini","content":"","toolCalls":[{"id":"n","name":"ls","args":{},"status":"success","result":[{"functionResponse":{"response":{"output":"nested"}}}]}]}
{"id":"3","type":"gemini","content":"Found.","tokens":{"input":10,"output":5}}
`
	src := sourceOf("/old/s.jsonl", `{"sessionId":"s","projectHash":"h","kind":"main"}
{"id":"1","timestamp":"2026-11-21T12:00:00Z","type":"user","content":"go"}
{"id":"2","timestamp":"2026-11-21T12:00:01Z","type":"gemini","content":"","toolCalls":[{"id":"c","agentId":"a","name":"invoke_agent","args":{},"status":"success"}]}
{"id":"3","timestamp":"2026-11-21T12:00:02Z","type":"gemini","content":"ok","tokens":{"input":1,"output":1}}
`)
	src.Subagent = func(_, agentID string) (interchange.Source, bool) {
		return sourceOf("/old/a.jsonl", child), agentID == "a"
	}
	s, err := interchange.Transcript("gemini", src, app)
	if err != nil {
		t.Fatal(err)
	}
	const want = "you: go\n  ls {} -> \"nested\" \"\"\n  invoke_agent {} -> \"Found.\" \"\"\ngemini: ok (, 11, 6)\n"
	if diff := cmp.Diff(want, summary(t, s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	_, err = interchange.Transcript("gemini", sourceOf("/old/a.jsonl", child), app)
	if !errors.Is(err, interchange.ErrSubagent) {
		t.Errorf("the subagent alone: %v", err)
	}
}
