package interchange_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/projection"
)

// A session can be continued after its last message, unless the program's turn with that has no end.
func TestOrigins(t *testing.T) {
	codex := func(kind string, payload object) string { return codexLine(t, kind, payload) }
	begin := func(turn string) string {
		return codex("event_msg", object{"type": "task_started", "turn_id": turn}) + codex("turn_context", object{"turn_id": turn})
	}
	says := func(role, text string) string {
		return codex("response_item", object{"type": "message", "role": role, "content": []object{{"type": "input_text", "text": text}}})
	}
	end := func(turn string) string {
		return codex("event_msg", object{"type": "task_complete", "turn_id": turn})
	}
	meta := codex("session_meta", object{"id": "thread"})
	first := meta + begin("1") + says("user", "go") + says("assistant", "ok") + end("1")
	claude := func(kind, id, parent string, more object) string {
		all := object{"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "session", "timestamp": "2026-11-21T12:00:00Z"}
		for name, v := range more {
			all[name] = v
		}
		return line(t, all)
	}
	said := func(kind, id, parent, text string) string {
		return claude(kind, id, parent, object{"message": object{"id": id, "role": kind,
			"content": []object{{"type": "text", "text": text}}}})
	}
	talk := said("user", "a", "", "go") + said("assistant", "b", "a", "ok")
	for name, test := range map[string]struct{ format, text, want string }{
		"Codex":            {"codex", first, "1"},
		"a turn is open":   {"codex", first + begin("2") + says("user", "more"), ""},
		"a turn began":     {"codex", first + begin("2"), "1"},
		"a turn was ended": {"codex", first + begin("2") + says("user", "more") + codex("event_msg", object{"type": "turn_aborted", "turn_id": "2"}), "2"},
		"a turn was removed": {"codex", first + begin("2") + says("user", "more") + says("assistant", "no") + end("2") +
			codex("event_msg", object{"type": "thread_rolled_back", "num_turns": 1}), "1"},
		"older Codex":        {"codex", meta + says("user", "go") + says("assistant", "ok"), ""},
		"Claude Code":        {"claude", talk, "b"},
		"without an answer":  {"claude", talk + said("user", "c", "b", "more"), "c"},
		"another branch":     {"claude", talk + said("user", "c", "b", "no") + said("user", "d", "b", "more"), "d"},
		"lines of other use": {"claude", talk + claude("attachment", "c", "b", object{"attachment": object{"type": "date"}}), "b"},
		"a queued message": {"claude", talk + claude("attachment", "c", "b", object{
			"attachment": object{"type": "queued_command", "prompt": "more"}}), ""},
		"a subagent": {"claude", talk + claude("assistant", "c", "b", object{"isSidechain": true,
			"message": object{"id": "c", "content": []object{{"type": "text", "text": "look"}}}}), "b"},
	} {
		t.Run(name, func(t *testing.T) {
			var want *projection.ImportOrigin
			if test.want != "" {
				id := map[string]string{"codex": "thread", "claude": "session"}[test.format]
				want = &projection.ImportOrigin{AgentSession: id, Point: test.want}
			}
			got := importedOf(t, mustReadTranscript(t, test.format, "/old/s.jsonl", test.text)).Origin
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
