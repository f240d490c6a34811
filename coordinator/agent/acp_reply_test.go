package agent_test

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// chunk is an update with a piece of a reply.
func chunk(content, more string) string {
	return `{"sessionUpdate":"agent_message_chunk","content":` + content + more + `}`
}

func textChunk(text, more string) string { return chunk(`{"type":"text","text":"`+text+`"}`, more) }

func TestACPNoticesAreNotOfTheReply(t *testing.T) {
	numbered := textChunk("It is 42.", `,"messageId":"m1"`)
	for _, tt := range []struct {
		name    string
		updates []string
		reply   string
		notices []string
	}{
		{"an update of its own", []string{`{"sessionUpdate":"notice","title":"Billing","description":"[NEXT: bob]"}`, numbered},
			"It is 42.", []string{"Billing: [NEXT: bob]"}},
		{"marked", []string{numbered, textChunk("Warning. [NEXT: bob]", `,"_meta":{"claudeCode":{"kind":"informational"}}`)},
			"It is 42.", []string{"Warning. [NEXT: bob]"}},
		{"without an id, before", []string{textChunk("Warning", ""), numbered}, "It is 42.", []string{"Warning"}},
		{"without an id, after", []string{numbered, textChunk("Warning", ""), textChunk("!", "")}, "It is 42.",
			[]string{"Warning", "!"}},
		{"no message has an id", []string{textChunk("It ", ""), textChunk("is 42.", "")}, "It is 42.", nil},
		{"one message without an id", []string{textChunk("It is 42.", "")}, "It is 42.", nil},
		{"empty", []string{`{"sessionUpdate":"notice"}`, numbered}, "It is 42.", nil},
	} {
		e, turn := newACP(t), acpTurn(t, "updates ["+strings.Join(tt.updates, ",")+"]")
		var reply strings.Builder
		var notices []string
		for event, err := range e.Run(within(t), turn) {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			switch event := event.(type) {
			case agent.Text:
				reply.WriteString(event.Text)
			case agent.Notice:
				notices = append(notices, event.Text)
			}
		}
		if reply.String() != tt.reply || strings.Join(notices, "|") != strings.Join(tt.notices, "|") {
			t.Errorf("%s: got %q, notices %q", tt.name, reply.String(), notices)
		}
	}
}

func TestACPKnownAgentsNumberTheirMessages(t *testing.T) {
	e, turn := newACP(t), acpTurn(t, "updates ["+strings.Join([]string{
		textChunk("Warning", ""), textChunk(" of two parts", ""), textChunk("It is 42.", `,"messageId":"m1"`),
	}, ",")+"]")
	turn.Member.AgentType = "codex"
	if got := mustReply(t, e, turn); got != "It is 42." {
		t.Errorf("got %q", got)
	}
}

func TestACPChunksAfterTheResultAreOfTheReply(t *testing.T) {
	e := newACP(t)
	for prompt, want := range map[string]string{
		"after [" + textChunk("All of it.", "") + "]":                              "All of it.",
		"after [" + textChunk("One ", "") + "," + textChunk("two.", "") + "]":      "One two.",
		"after [" + textChunk("Hm.", `,"messageId":"m"`) + `,{"sessionUpdate":9}]`: "Hm.",
	} {
		if got := mustReply(t, e, acpTurn(t, prompt)); got != want {
			t.Errorf("%s: got %q", prompt, got)
		}
	}
}

func TestACPShowsWhatIsNotText(t *testing.T) {
	for content, want := range map[string]string{
		`{"type":"resource_link","uri":"file:///a.pdf","name":"a.pdf"}`:                     "[a.pdf](file:///a.pdf)",
		`{"type":"resource_link","uri":"file:///a.pdf"}`:                                    "file:///a.pdf",
		`{"type":"resource","resource":{"uri":"file:///a","text":"inside"}}`:                "\n\ninside\n\n",
		`{"type":"resource","resource":{"uri":"file:///a","blob":"AA==","mimeType":"b/c"}}`: "[resource: file:///a, b/c]",
		`{"type":"image","data":"AA==","mimeType":"image/png"}`:                             "[image: image/png]",
		`{"type":"audio"}`: "[audio]",
		`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`: "ab",
	} {
		if got := mustReply(t, newACP(t), acpTurn(t, "updates ["+chunk(content, "")+"]")); got != want {
			t.Errorf("%s: got %q, want %q", content, got, want)
		}
	}
}

func TestACPLineMayHaveTextBeforeTheMessage(t *testing.T) {
	const said = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"$SESSION","update":` +
		`{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"Hi."}}}}`
	const result = `{"jsonrpc":"2.0","id":$ID,"result":{"stopReason":"end_turn"}}`
	for name, lines := range map[string]string{
		"title":           said + "\n\x1b]0;agent\x07" + result,
		"byte order mark": "\ufeff" + said + "\n\ufeff" + result,
		"warning":         "npm {warn} " + said + "\nnpm {\"warn\":1} " + result,
		"two on a line":   said + result + "\x1b[0m",
	} {
		if got := mustReply(t, newACP(t), acpTurn(t, "raw "+strings.ReplaceAll(lines, "\n", "$BREAK"))); got != "Hi." {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestACPErrorHasTheReasonInItsData(t *testing.T) {
	for data, want := range map[string]string{
		`"quota exceeded"`: "Internal error: quota exceeded; wait a while, then retry",
		`{"error":{"type":"x","message":"Overloaded"}}`: "Internal error: Overloaded; wait a while, then retry",
		`{"details":"rate limit"}`:                      "Internal error: rate limit; wait a while, then retry",
	} {
		_, err := reply(within(t), newACP(t), acpTurn(t, `error {"code":-32603,"message":"Internal error","data":`+data+`}`))
		if got := reasonOf(err); got != want {
			t.Errorf("%s: got %q", data, got)
		}
	}
}
