package interchange_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A branch begins only where two lines have the same known parent and a person continued from each.
func TestClaudeLinesAreOnOneBranch(t *testing.T) {
	c := func(n, parent, role string, content any, more ...any) string {
		return claudeLine(t, n, parent, role, content, more...)
	}
	boundary := func(uuid string, more object) string {
		l := object{"type": "system", "subtype": "compact_boundary", "uuid": uuid, "parentUuid": nil}
		for name, value := range more {
			l[name] = value
		}
		return line(t, l)
	}
	before := c("1", "", "user", "plan") + c("2", "1", "assistant", "planned")
	compacted := c("4", "3", "user", "They planned.", "isCompactSummary", true) + c("5", "4", "user", "go on") +
		c("6", "5", "assistant", "done")
	const all = "you: plan\nclaude: planned\nyou: go on\nclaude: done\n"
	for name, test := range map[string]struct {
		text, want        string
		branches, leftOut int
	}{
		"compaction whose parent is missing": {
			before + boundary("3", object{"logicalParentUuid": "never"}) + compacted, all, 0, 0},
		"compaction without a parent": {before + boundary("3", nil) + compacted, all, 0, 0},
		"compaction of an earlier line": {
			before + c("9", "2", "user", "more") + boundary("3", object{"logicalParentUuid": "2"}) + compacted,
			"you: plan\nclaude: planned\nyou: more\nyou: go on\nclaude: done\n", 0, 0},
		"missing parent before a compaction": {
			before + c("11", "10", "user", "middle") + c("12", "11", "assistant", "of it") +
				boundary("3", object{"logicalParentUuid": "never"}) + compacted,
			"you: plan\nclaude: planned\nyou: middle\nclaude: of it\nyou: go on\nclaude: done\n", 0, 0},
		"context that was cleared": {
			before + line(t, object{"type": "progress", "uuid": "p", "parentUuid": nil}) + c("5", "p", "user", "go on") +
				c("6", "5", "assistant", "done"), all, 0, 0},
		"no parents": {c("1", "", "user", "plan") + c("2", "", "assistant", "planned") + c("5", "", "user", "go on") +
			c("6", "", "assistant", "done") + c("7", "", "assistant", []object{{"type": "thinking", "thinking": "hm"}}), all, 0, 0},
		"repeated lines": {before + before + c("2", "1", "assistant", "planned", "usage", object{"output_tokens": 7}) + c("5", "2", "user", "go on") + c("6", "5", "assistant", "done") +
			c("5", "2", "user", "go on"), all, 0, 0},
		"calls of a response that follow each other's results": {
			c("1", "", "user", "go") + c("2", "1", "assistant", useTool("a"), "id", "r") +
				c("3", "2", "assistant", useTool("b"), "id", "r") + c("4", "2", "user", toolResult("a", "A")) +
				c("5", "4", "assistant", useTool("c"), "id", "r") + c("6", "3", "user", toolResult("b", "B")) +
				c("7", "5", "user", toolResult("c", "C")) + c("8", "6", "assistant", "ok"),
			"you: go\n  Bash {\"a\":\"a\"} -> \"A\" \"\"\n  Bash {\"a\":\"b\"} -> \"B\" \"\"\n" +
				"  Bash {\"a\":\"c\"} -> \"C\" \"\"\nclaude: ok\n", 0, 0},
		"text beside a result": {
			c("1", "", "user", "go") + c("2", "1", "assistant", useTool("a"), "id", "r") +
				c("3", "2", "assistant", useTool("b"), "id", "r") +
				c("4", "2", "user", append(toolResult("a", "A"), text("and look")...)) + c("5", "4", "user", "now") +
				c("6", "3", "user", toolResult("b", "B")) + c("7", "6", "assistant", "ok") + c("8", "7", "user", "thanks"),
			"you: go\n  Bash {\"a\":\"a\"} -> \"A\" \"\"\nyou: and look\n  Bash {\"a\":\"b\"} -> \"B\" \"\"\nclaude: ok\nyou: thanks\n", 1, 1},
		"conversation that was rewound": {
			before + c("3", "2", "user", "one way") + c("4", "3", "assistant", "fails") + c("7", "2", "user", "go on") +
				c("8", "7", "assistant", "done"), all, 1, 2},
		"two that were rewound, and parents that form a cycle": {
			before + c("3", "2", "user", "one way") + c("4", "2", "user", "another") + c("21", "22", "user", "a") +
				c("22", "21", "assistant", "b") + c("5", "2", "user", "go on") + c("6", "5", "assistant", "done"), all, 2, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustReadTranscript(t, "claude", "/old/s.jsonl", test.text)
			if diff := cmp.Diff(test.want, summary(t, s)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if len(s.Branches) != test.branches || s.LeftOut != test.leftOut {
				t.Errorf("%d branches with %d messages, want %d with %d", len(s.Branches), s.LeftOut, test.branches, test.leftOut)
			}
			checkRecords(t, s)
		})
	}
}

// What a person wrote about a wrapper is not one.
func TestWrappersAreToldFromWords(t *testing.T) {
	command := func(parts ...string) string {
		text := ""
		for i := 0; i < len(parts); i += 2 {
			text += "<command-" + parts[i] + ">" + parts[i+1] + "</command-" + parts[i] + ">\n"
		}
		return text
	}
	for name, test := range map[string]struct {
		parts []string
		want  string // "": no message
	}{
		"words":               {[]string{"why does <system-reminder> show up?\nAnd <skill>name</skill>?"}, "why does <system-reminder> show up?\nAnd <skill>name</skill>?"},
		"a wrapper":           {[]string{"<system-reminder>never\nthis</system-reminder>"}, ""},
		"a wrapper in a part": {[]string{"<system-reminder>never</system-reminder>", "go"}, "go"},
		"a block":             {[]string{"go\n  <system-reminder>\nnever\n</system-reminder>\n\nthen"}, "go\n\n\nthen"},
		"blocks on one line":  {[]string{"<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>"}, ""},
		"a block without end": {[]string{"<system-reminder>\nis what I see\n<system-reminder>"},
			"<system-reminder>\nis what I see\n<system-reminder>"},
		"end of another element": {[]string{"<skill>a</system-reminder>"}, "<skill>a</system-reminder>"},
		"instructions":           {[]string{"# AGENTS.md is too long"}, "# AGENTS.md is too long"},
		"an interruption":        {[]string{"[Request interrupted by user for tool use]"}, ""},
		"words about one":        {[]string{"[Request interrupted by user] is what I see"}, "[Request interrupted by user] is what I see"},
		"words beside one":       {[]string{"[Request interrupted by user]", "stop that"}, "stop that"},
		"a command":              {[]string{command("message", "review-pr", "name", "/review-pr", "args", "450 and check")}, "/review-pr 450 and check"},
		"a command only":         {[]string{command("message", "review", "name", "/review")}, "/review"},
		"the program's command":  {[]string{command("name", "/exit", "message", "exit", "args", "")}, ""},
		"the program's command with words": {
			[]string{command("name", "/compact", "message", "compact", "args", "keep the plan")}, "/compact keep the plan"},
		"indentation": {[]string{"\n\n  - a: 1\n    b: 2\n \n"}, "  - a: 1\n    b: 2"},
	} {
		t.Run(name, func(t *testing.T) {
			var content []object
			for _, part := range test.parts {
				content = append(content, text(part)...)
			}
			s := mustReadTranscript(t, "claude", "/old/s.jsonl", claudeLine(t, "1", "", "user", content)+
				claudeLine(t, "2", "1", "assistant", "    indented"))
			messages := messagesOf(t, s)
			got := ""
			if len(messages) == 2 {
				got = messages[0].Content
			}
			if got != test.want || messages[len(messages)-1].Content != "    indented" {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
