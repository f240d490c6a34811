package interchange_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// codexLine returns a line of a rollout.
func codexLine(t testing.TB, kind string, payload object) string {
	t.Helper()
	return line(t, object{"timestamp": "2026-11-21T12:00:00Z", "type": kind, "payload": payload})
}

func TestCodexTranscript(t *testing.T) {
	item := func(payload object) string { return codexLine(t, "response_item", payload) }
	event := func(kind string, fields object) string {
		fields["type"] = kind
		return codexLine(t, "event_msg", fields)
	}
	says := func(role, text string) string {
		return item(object{"type": "message", "role": role, "content": []object{{"type": "input_text", "text": text}}})
	}
	call := func(id string) string {
		return item(object{"type": "function_call", "name": "ls", "arguments": `{"a":1}`, "call_id": id})
	}
	result := func(id string, output any) string {
		return item(object{"type": "function_call_output", "call_id": id, "output": output})
	}
	tokens := func(input, cached, output, thought int) string {
		return event("token_count", object{"info": object{"total_token_usage": object{"input_tokens": input,
			"cached_input_tokens": cached, "output_tokens": output, "reasoning_output_tokens": thought}}})
	}
	const image = "data:image/png;base64,aGVsbG8gd29ybGQ="
	from := func(origins ...string) object {
		var all []object
		for _, origin := range origins {
			all = append(all, object{"provenance": object{"type": origin}})
		}
		return object{"content_item_metadata": all}
	}
	start := codexLine(t, "session_meta", object{"id": "s", "cwd": "/work"}) +
		codexLine(t, "turn_context", object{"model": "gpt"})
	for name, test := range map[string]struct {
		text, want string
		skipped    int
	}{
		"tokens": {
			says("user", "go") + call("c") + tokens(100, 60, 10, 4) + result("c", "out") + says("assistant", "ok") +
				tokens(300, 160, 30, 4) + says("user", "on") + says("assistant", "done") + tokens(7, 0, 3, 0),
			"you: go\n  ls {\"a\":1} -> \"out\" \"\"\ncodex: ok (gpt, 140+160r, 26+4t)\nyou: on\ncodex: done (gpt, 7, 3)\n", 0},
		"tokens written to a cache": {
			says("user", "go") + says("assistant", "ok") + event("token_count", object{"info": object{"total_token_usage": object{
				"input_tokens": 100, "cached_input_tokens": 60, "cache_write_input_tokens": 500, "output_tokens": 10}}}) +
				says("user", "on") + says("assistant", "done") + event("token_count", object{"info": object{
				"total_token_usage": object{"input_tokens": 300, "cached_input_tokens": 160, "cache_write_input_tokens": 100,
					"output_tokens": 11, "reasoning_output_tokens": 1}}}),
			"you: go\ncodex: ok (gpt, 0+60r+40w, 10)\nyou: on\ncodex: done (gpt, 40+100r+60w, 0+1t)\n", 0},
		"call without a result": {
			says("user", "go") + call("c") + tokens(10, 0, 5, 0),
			"you: go\n  ls {\"a\":1} ...\ncodex: (gpt, 10, 5) interrupted\n", 0},
		"images": {
			item(object{"type": "message", "role": "user", "content": []object{
				{"type": "input_text", "text": "<image name=[Image #1]>"}, {"type": "input_image", "image_url": image},
				{"type": "input_text", "text": "</image>"}}}) +
				call("c") + result("c", []object{{"type": "input_image", "image_url": image}}) +
				item(object{"type": "image_generation_call", "id": "i", "result": "aGVsbG8="}) + says("assistant", "ok"),
			"you: [image: image/png, 11 bytes]\n  ls {\"a\":1} -> \"[image: image/png, 11 bytes]\" \"\"\n" +
				"  image_generation {} -> \"[image: image/png, 5 bytes]\" \"\"\ncodex: ok\n", 0},
		"machine text": {
			says("user", "<environment_context>x</environment_context>") + says("user", "go") +
				says("user", "<turn_aborted>\nThe user interrupted.\n</turn_aborted>") +
				item(object{"type": "message", "role": "user", "content": []object{
					{"type": "input_text", "text": "never"}, {"type": "input_text", "text": "on"}},
					"internal_chat_message_metadata_passthrough": from("harness", "user")}) +
				item(object{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": "never"}},
					"internal_chat_message_metadata_passthrough": from("tool")}),
			"you: go\nyou: on\n", 3},
		"interruption": {
			says("user", "go") + event("turn_aborted", object{"reason": "interrupted"}) + says("user", "on") + call("c") +
				event("turn_aborted", object{"reason": "interrupted"}),
			"you: go\ncodex: cancelled\nyou: on\n  ls {\"a\":1} ...\ncodex: cancelled\n", 0},
		"errors": {
			says("user", "go") + event("task_complete", object{"error": object{"message": "no quota"}}) + says("user", "on") +
				event("error", object{"message": "no model"}),
			"you: go\ncodex: errorno quota\nyou: on\ncodex: errorno model\n", 0},
		"failed call": {
			says("user", "go") + call("c") + result("c", object{"content": "no", "success": false}) + says("assistant", "ok"),
			"you: go\n  ls {\"a\":1} -> \"\" \"no\"\ncodex: ok\n", 0},
		"other calls": {
			says("user", "go") + item(object{"type": "local_shell_call", "call_id": "c", "action": object{"command": "ls"}}) +
				result("c", "out") + item(object{"type": "web_search_call", "id": "w", "action": object{"query": "q"}}) +
				says("assistant", "ok"),
			"you: go\n  local_shell {\"command\":\"ls\"} -> \"out\" \"\"\n  web_search {\"query\":\"q\"} -> \"\" \"\"\ncodex: ok\n", 0},
		"compaction": {
			says("user", "go") + says("assistant", "ok") + codexLine(t, "compacted", object{"message": "They said ok."}) +
				says("user", "more"),
			"you: go\ncodex: ok\nyou: more\n", 1},
		"compaction that is the only record": {
			codexLine(t, "compacted", object{"message": "They said ok.", "replacement_history": []object{
				{"type": "message", "role": "user", "content": []object{{"type": "input_text", "text": "go"}}},
				{"type": "message", "role": "user", "content": []object{
					{"type": "input_text", "text": "Another model wrote:\nThey said ok."}}}}}) + says("user", "more"),
			"you: go\ncodex: They said ok.\nyou: more\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustReadTranscript(t, "codex", "/old/s.jsonl", start+test.text)
			want := test.want
			if diff := cmp.Diff(want, summary(t, s)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if skipped := importedOf(t, s).Skipped; skipped != test.skipped {
				t.Errorf("%d lines were skipped, want %d", skipped, test.skipped)
			}
			checkRecords(t, s)
		})
	}
}

func TestCodexSubagentsBelongToTheirCall(t *testing.T) {
	says := func(role, text string) string {
		return codexLine(t, "response_item", object{"type": "message", "role": role,
			"content": []object{{"type": "input_text", "text": text}}})
	}
	call := func(name, id string) string {
		return codexLine(t, "response_item", object{"type": "function_call", "name": name, "arguments": "{}", "call_id": id})
	}
	result := func(id, output string) string {
		return codexLine(t, "response_item", object{"type": "function_call_output", "call_id": id, "output": output})
	}
	const usage = `{"timestamp":"2026-11-21T12:00:00Z","type":"event_msg","payload":{"type":"token_count","info":` +
		`{"total_token_usage":{"input_tokens":10,"output_tokens":5}}}}` + "\n"
	meta := codexLine(t, "session_meta", object{"id": "child", "thread_source": "subagent",
		"source": object{"subagent": object{"thread_spawn": object{"parent_thread_id": "s"}}}})
	child := meta + says("user", "look") + call("ls", "n") + result("n", "nested") + says("assistant", "Found.") + usage
	src := sourceOf("/old/s.jsonl", codexLine(t, "session_meta", object{"id": "s", "source": "cli"})+says("user", "go")+
		call("spawn_agent", "c1")+codexLine(t, "event_msg", object{"type": "item_completed", "item": object{
		"type": "SubAgentActivity", "kind": "started", "id": "c1", "agent_thread_id": "new"}})+
		result("c1", `{"task_name":"look"}`)+
		call("spawn_agent", "c2")+result("c2", `{"agent_id":"old"}`)+
		call("spawn_agent", "c4")+codexLine(t, "event_msg", object{"type": "collab_agent_spawn_end", "call_id": "c4",
		"event_id": "c3", "new_thread_id": "third"})+result("c4", "{}")+
		call("spawn_agent", "c5")+codexLine(t, "event_msg", object{"type": "sub_agent_activity", "event_id": "c5",
		"agent_thread_id": "fourth"})+codexLine(t, "event_msg", object{"type": "sub_agent_activity", "event_id": "c5"})+
		result("c5", "{}")+
		call("wait_agent", "c3")+result("c3", `{"agent_id":"new"}`)+says("assistant", "ok")+usage)
	src.Subagent = func(_, agentID string) (interchange.Source, bool) {
		return sourceOf("/old/"+agentID+".jsonl", child), slices.Contains([]string{"new", "old", "third", "fourth"}, agentID)
	}
	s, err := interchange.Transcript("codex", src, app)
	if err != nil {
		t.Fatal(err)
	}
	const tool = "  ls {} -> \"nested\" \"\"\n  spawn_agent {} -> \"Found.\" \"\"\n"
	const wait = "  wait_agent {} -> \"{\\\"agent_id\\\":\\\"new\\\"}\" \"\"\n" // what it did is of the call before
	if diff := cmp.Diff("you: go\n"+strings.Repeat(tool, 4)+wait+"codex: ok (, 50, 25)\n", summary(t, s)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := interchange.Transcript("codex", sourceOf("/old/child.jsonl", child), app); !errors.Is(err,
		interchange.ErrSubagent) {
		t.Errorf("the subagent alone: %v", err)
	}
}

func TestTimesOutOfOrder(t *testing.T) {
	const format = `{"timestamp":"2026-11-21T12:00:%sZ","type":"response_item","payload":{"type":"message","role":%q,` +
		`"content":[{"type":"input_text","text":"hi"}]}}` + "\n"
	s := mustReadTranscript(t, "codex", "/old/s.jsonl", fmt.Sprintf(format, "20", "user")+
		fmt.Sprintf(format, "10", "user")+fmt.Sprintf(format, "30", "assistant")+fmt.Sprintf(format, "15", "assistant")+
		strings.Replace(fmt.Sprintf(format, "", "assistant"), `"2026-11-21T12:00:Z"`, "0", 1))
	if got := s.CreatedAt.Format("05"); got != "10" {
		t.Errorf("created at second %s", got)
	}
	var got []string
	for _, p := range payloadsOf(t, s) {
		switch p := p.(type) {
		case projection.MessageAppended:
			got = append(got, p.Message.Timestamp[17:19])
		case projection.TurnEnded:
			got = append(got, fmt.Sprint(p.DurationMS))
		}
	}
	// The last one has an invalid time: it gets that of the latest item.
	if diff := cmp.Diff([]string{"20", "10", "30", "10000", "15", "0", "30", "0"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	checkRecords(t, s)
}
