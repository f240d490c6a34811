package agent

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonrpc"
)

// The ids in the recordings.
const (
	recordedThread = "00000000-0000-4000-8000-000000000002"
	recordedTurn   = "00000000-0000-4000-8000-000000000003"
)

// FuzzCodex checks that no message makes a turn panic, or yield empty or invalid text.
func FuzzCodex(f *testing.F) {
	addRecordings(f, "codex")
	for _, line := range []string{
		`{"id":0,"method":"item/fileChange/requestApproval","params":{"itemId":"1"}}`,
		`{"id":0,"method":"mcpServer/elicitation/request","params":{"_meta":{"codex_approval_kind":"mcp_tool_call"}}}`,
		`{"method":"item/completed","params":{"threadId":"` + recordedThread + `","item":{"type":"fileChange","changes":[{"diff":"@@\n\n+a"}]}}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		s := &codexSession{Conn: jsonrpc.New(""), profile: codexProfile, policy: codexPolicies[Ask]}
		s.thread.Thread.ID = recordedThread
		turn := &codexTurn{
			codexSession: s, streamed: map[string]bool{}, tools: map[string]*codexTool{},
			yield: func(e Event, _ error) bool {
				if text, ok := e.(Text); ok && (text.Text == "" || !utf8.ValidString(text.Text)) {
					t.Errorf("empty or invalid text %q", text)
				}
				return true
			},
			id: recordedTurn, request: "3",
		}
		turn.requests.begin(t.Context())
		for line := range bytes.Lines(content) {
			s.Take(line)
		}
		for _, m := range s.Inbox {
			_ = turn.take(m)
		}
		turn.requests.end()
	})
}
