package transfer

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation/conversationtest"
)

// exported writes a session to a home and returns its export.
func exported(t *testing.T, format string, payloads []projection.Payload) string {
	t.Helper()
	home := t.TempDir()
	dir := journal.NewDir(filepath.Join(home, "sessions", "kitchen"), journal.Options{})
	if err := conversationtest.Write(dir, apptest.AliceID, payloads...); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := runCommand(t, home, &Export{ID: []string{apptest.AliceID}, Format: format})
	if code != 0 || stderr != "" {
		t.Fatalf("%s: exit code %d, %s", format, code, stderr)
	}
	return stdout
}

// Turns that were open at the same time follow each other in an export, each with its speaker, text and calls.
func TestExportsOfTurnsAtOnce(t *testing.T) {
	for _, test := range []struct {
		format  string
		message string // pattern of a message: its speaker, and the text before and after the call
		times   int    // that it is written
		call    string // pattern of a call; "": the format has none
		output  string // pattern of what it returned
	}{
		{"md", "## %s\n\n_[^\n]*_\n\n%s %s\n", 1, "", ""},
		{"html", `<h3[^>]*>%s</h3>[^\x00]*%s[^\x00]*%s`, 1, `<[^>]*>%s</`, `\n%s</pre>`},
		{"json", `"displayName":"%s","type":"ai"\},"content":"%s %s","steps":\[\{[^]]*"ended":true\}\]`, 1, "", ""},
		{"snapshot", `"displayName": "%s",\s*"type": "ai"\s*\},\s*"content": "%s %s"`, 1, "", ""},
		{"claude", `"text":"%s: %s %s"`, 1, `"input":\{"command":"%s"\}`, `"content":"%s"`},
		{"codex", `"(?:text|message)":"%s: %s %s"`, 2, `"arguments":"\{\\"command\\":\\"%s\\"\}"`, `"output":"%s"`},
		{"gemini", `"content":"%s: %s %s"`, 1, `"args":\{"command":"%s"\}`, `"output":"%s"`},
	} {
		for _, n := range []int{2, 4} {
			payloads, turns := conversationtest.AtOnce(n)
			got := strings.ReplaceAll(exported(t, test.format, payloads), "</article>", "\x00")
			occurs := func(times int, pattern string, texts ...any) {
				t.Helper()
				pattern = fmt.Sprintf(pattern, texts...)
				if found := len(regexp.MustCompile(pattern).FindAllString(got, -1)); found != times {
					t.Errorf("%s of %d turns: %q occurs %d times, want %d, in\n%s", test.format, n, pattern, found, times, got)
				}
			}
			for _, turn := range turns {
				occurs(test.times, test.message, turn.DisplayName, turn.Before, turn.After)
				occurs(test.times, "%s", turn.After)
				if test.call != "" {
					occurs(1, test.call, turn.Command)
					occurs(1, test.output, turn.Output)
				}
			}
			seen := map[string]bool{}
			for _, id := range idsOf.FindAllString(got, -1) {
				if seen[id] {
					t.Errorf("%s of %d turns: %s occurs twice", test.format, n, id)
				}
				seen[id] = true
			}
		}
	}
}

// idsOf matches the ids of the lines and calls of transcripts, which are unique.
var idsOf = regexp.MustCompile(`"uuid":"[^"]*"|"id":"[^"]*","input"|\}","call_id":"[^"]*"|\},"id":"[^"]*","name"|"id":"[^"]*","model"`)

// An agent may call tools after its message.
func TestExportsHaveToolsAfterTheMessage(t *testing.T) {
	payloads, turns := conversationtest.AtOnce(1)
	turn := turns[0]
	payloads = append(payloads[:2:2], projection.TurnStarted{TurnID: turn.ID, MemberID: turn.Speaker.ID},
		projection.NewMessage("m", time.Time{}, turn.Speaker, "I write it.", nil),
		projection.ToolStarted{TurnID: turn.ID, ToolID: "1", Name: "Bash", Input: []byte(`{"command":"cat plug.txt"}`)},
		projection.ToolCompleted{TurnID: turn.ID, ToolID: "1", Name: "Bash", Output: "written"},
		projection.TurnEnded{TurnID: turn.ID, MemberID: turn.Speaker.ID, FinishReason: projection.Done})
	for format, want := range map[string]string{
		"html":   `(?s)I write it\..*<[^>]*>cat plug\.txt</.*\nwritten</pre>.*</article>`,
		"json":   `"content":"I write it.","steps":\[\{"seq":5,"at":11,"toolId":"1","name":"Bash","ended":true\}\]`,
		"claude": `"text":"I write it\."(?:.*\n){1,2}.*"input":\{"command":"cat plug\.txt"\}.*\n.*"content":"written"`,
		"codex":  `"text":"I write it\."(?:.*\n){1,2}.*\{\\"command\\":\\"cat plug\.txt\\"\}.*\n.*"output":"written"`,
		"gemini": `"content":"I write it\."(?:.*\n){1,2}.*"args":\{"command":"cat plug\.txt"\}.*"output":"written"`,
	} {
		if got := exported(t, format, payloads); len(regexp.MustCompile(want).FindAllString(got, -1)) != 1 {
			t.Errorf("%s does not match %s:\n%s", format, want, got)
		}
	}
}
