package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonrpc"
)

// receivedAll returns a client of session s that has received the lines and has sent no request yet.
func receivedAll(lines ...string) *Client {
	c := received(nil)
	for _, line := range lines {
		c.conn.Take([]byte(line))
	}
	return c
}

// sent returns the method and the params of each message that the client has sent, or its id and what it responds.
func sent(c *Client) (all []string) {
	var queued bytes.Buffer
	c.conn.Outbox.Close()
	c.conn.Outbox.Deliver(&queued)
	for line := range bytes.Lines(queued.Bytes()) {
		var m jsonrpc.Message
		if err := json.Unmarshal(line, &m); err != nil || m.JSONRPC != "2.0" {
			panic(string(line))
		}
		if m.Method == "" {
			all = append(all, string(m.ID)+" "+string(m.Result)+string(m.Error))
			continue
		}
		all = append(all, m.Method+" "+string(m.Params))
	}
	return all
}

func TestInitialize(t *testing.T) {
	for _, test := range []struct {
		line string
		can  bool
		err  string
	}{
		{`{"id":1,"result":{"protocolVersion":1}}`, false, ""},
		{`{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"close":{}}}}}`, true, ""},
		{`{"id":1,"result":{"protocolVersion":2}}`, false, "it speaks version 2 of the Agent Client Protocol, not 1"},
		{`{"id":1,"error":{"message":"no"}}`, false, "no"},
	} {
		c := receivedAll(test.line)
		err := c.Initialize(t.Context(), Services{})
		if err == nil {
			err = errors.New("")
		}
		if err.Error() != test.err || c.canCloseSessions != test.can {
			t.Errorf("%s: got %v, can close sessions: %t", test.line, err, c.canCloseSessions)
		}
	}
}

func TestNewSessionSetsModelAndThinking(t *testing.T) {
	const ok = `{"id":2,"result":{}}`
	on, off := true, false
	choices := func(current, values string) string {
		return `{"id":"e","category":"thought_level","currentValue":"` + current + `","options":[{"value":"` +
			strings.ReplaceAll(values, " ", `"},{"value":"`) + `"}]}`
	}
	set := func(id, value string) string {
		return `session/set_config_option {"configId":"` + id + `","sessionId":"s1","value":"` + value + `"}`
	}
	failed := &RequestError{Message: "no"}
	for name, test := range map[string]struct {
		created  string // fields of the new session
		model    string
		thinking *bool
		response string // to the second request
		sent     string // that request
		err      error
	}{
		"nothing asked for":       {created: `,"models":{},"configOptions":[{"id":"model"},` + choices("none", "low") + `]`},
		"option model":            {`,"configOptions":[{"id":"mode"},{"id":"model"}]`, "m", nil, ok, set("model", "m"), nil},
		"option of models":        {`,"configOptions":[{"id":"llm","category":"model"}]`, "m", nil, ok, set("llm", "m"), nil},
		"models":                  {`,"models":{}`, "m", nil, ok, `session/set_model {"modelId":"m","sessionId":"s1"}`, nil},
		"no models":               {`,"configOptions":[{"id":"mode"}]`, "m", nil, ok, "", ErrNoModels},
		"model is refused":        {`,"models":{}`, "m", nil, `{"id":2,"error":{"message":"no"}}`, `session/set_model {"modelId":"m","sessionId":"s1"}`, failed},
		"no choice":               {``, "", &on, ok, "", ErrNoThinking},
		"other category":          {`,"configOptions":[{"id":"e","category":"mode","options":[{"value":"medium"}]}]`, "", &on, ok, "", ErrNoThinking},
		"on, already":             {`,"configOptions":[` + choices("high", "none medium high") + `]`, "", &on, ok, "", nil},
		"on, from none":           {`,"configOptions":[` + choices("none", "none low medium high") + `]`, "", &on, ok, set("e", "medium"), nil},
		"on, from minimal":        {`,"configOptions":[` + choices("minimal", "minimal low") + `]`, "", &on, ok, set("e", "low"), nil},
		"on, without a value":     {`,"configOptions":[` + choices("none", "none high") + `]`, "", &on, ok, "", ErrNoThinking},
		"off":                     {`,"configOptions":[` + choices("high", "none high") + `]`, "", &off, ok, set("e", "none"), nil},
		"off, by another value":   {`,"configOptions":[` + choices("high", "minimal high off") + `]`, "", &off, ok, set("e", "off"), nil},
		"off, by a second option": {`,"configOptions":[` + choices("high", "high") + `,` + choices("high", "none") + `]`, "", &off, ok, set("e", "none"), nil},
		"off, without a value":    {`,"configOptions":[` + choices("high", "low high") + `]`, "", &off, ok, "", ErrNoThinking},
		"thinking is refused": {
			`,"configOptions":[` + choices("high", "none") + `]`, "", &off, `{"id":2,"error":{"message":"no"}}`, set("e", "none"), failed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := receivedAll(`{"id":1,"result":{"sessionId":"s1"`+test.created+`}}`, test.response)
			dir := t.TempDir()
			err := c.NewSession(t.Context(), Session{Dir: dir, Model: test.model, Thinking: test.thinking})
			want := []string{`session/new {"cwd":` + string(jsonrpc.Encode(dir)) + `,"mcpServers":[]}`}
			if test.sent != "" {
				want = append(want, test.sent)
			}
			if got := sent(c); !cmp.Equal(got, want) || c.SessionID() != "s1" {
				t.Errorf("of session %q it sent %q, want %q", c.SessionID(), got, want)
			}
			if refused, ok := test.err.(*RequestError); ok && cmp.Equal(err, error(refused)) {
				return
			}
			if err != test.err {
				t.Errorf("got %v, want %v", err, test.err)
			}
		})
	}
	c := receivedAll(`{"id":1,"error":{"message":"no"}}`)
	if err := c.NewSession(t.Context(), Session{Dir: "/", Model: "m", Thinking: &on}); err == nil || len(sent(c)) != 1 {
		t.Errorf("without a session: got %v, sent %q", err, sent(c))
	}
}

func TestClientRefusesUnsupportedRequests(t *testing.T) {
	id := strings.Repeat("1", 1<<10)
	c := receivedAll(`{"id":8,"method":"fs/read_text_file"}`, `{"method":"news"}`, `{"id":`+id+`1,"method":"long"}`,
		`{"id":`+id+`,"method":"`+strings.Repeat("m", 2000)+`"}`, `{"id":1,"result":{"protocolVersion":1}}`)
	if err := c.Initialize(t.Context(), Services{}); err != nil {
		t.Fatal(err)
	}
	got := sent(c)
	if len(got) != 3 || !strings.HasPrefix(got[1], `8 {"code":-32601,`) || !strings.HasPrefix(got[2], id+` {"code":-32601,`) ||
		strings.Count(got[2], "m") > 1100 {
		t.Errorf("it sent %.200q", got)
	}
}

func TestNextReturnsMessagesOfTheTurn(t *testing.T) {
	const params = `"params":{"sessionId":"s","toolCall":{"toolCallId":"1"},"options":[{"optionId":"a","kind":"allow_once"}]}`
	c := receivedAll(
		`{"method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"plan"}}}`,
		`{"id":1,"method":"terminal/create"}`, `{"method":"terminal/news"}`, `{"id":99,"result":{}}`,
		`{"method":"session/request_permission",`+params+`}`,
		`{"id":2,"method":"session/request_permission","params":{"sessionId":"other"}}`,
		`{"id":3,"method":"session/request_permission",`+params+`}`,
		`{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"text":"hi"}}}}`,
		`{"id":1,"result":{"stopReason":"end_turn"}}`,
	)
	c.Prompt("a\xff\xffb")
	var got []Message
	for len(got) == 0 || !cmp.Equal(got[len(got)-1], Message(Result{StopReason: "end_turn"})) {
		m, err := c.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := m.(PermissionRequest); ok {
			c.Answer(r, true, false)
			continue
		}
		got = append(got, m)
	}
	if len(got) != 2 || !cmp.Equal(got[0], Message(Chunk{Text: "hi"})) {
		t.Errorf("got %+v", got)
	}
	answers := sent(c)
	if len(answers) != 4 || !strings.Contains(answers[0], `"text":"a�b"`) || !strings.HasPrefix(answers[1], `1 {"code":-32601`) ||
		answers[2] != `2 {"outcome":{"outcome":"cancelled"}}` || !strings.HasPrefix(answers[3], `3 {"outcome":{"optionId":"a"`) {
		t.Errorf("it sent %q", answers)
	}
}

func TestPermissionRequest(t *testing.T) {
	for name, test := range map[string]struct {
		tool, options string
		want          ToolUpdate
		edits         []Edit
		always        bool
	}{
		"started tool": {
			`{"toolCallId":"1","status":"completed","title":"ls","content":[{"content":{"text":"x"}}]}`, `[]`,
			ToolUpdate{ID: "1", Title: "ls"}, nil, false,
		},
		"edits": {
			`{"toolCallId":"1","content":[{"type":"diff","path":"a","oldText":"o","newText":"n"},{"type":"diff","path":"b","newText":""},
				{"type":"diff","path":"c"},{"type":"text","newText":"n"}]}`, `[]`,
			ToolUpdate{ID: "1", Acts: true}, []Edit{{"a", "o", "n"}, {"b", "", ""}}, false,
		},
		"content of another type": {`{"toolCallId":"1","content":"x"}`, `[]`, ToolUpdate{ID: "1"}, nil, false},
		"always":                  {`{}`, `[{"kind":"reject_once","optionId":"r"},{"kind":"allow_always","optionId":"a"}]`, ToolUpdate{}, nil, true},
		"always, without an id":   {`{}`, `[{"kind":"allow_always"},{"kind":"allow_once","optionId":"a"}]`, ToolUpdate{}, nil, false},
	} {
		m := jsonrpc.Message{ID: json.RawMessage("7"), Params: json.RawMessage(`{"sessionId":"s","toolCall":` + test.tool +
			`,"options":` + test.options + `}`)}
		r, ok := received(nil).permissionRequestOf(m)
		if !ok || !cmp.Equal(r.Tool, test.want) || !cmp.Equal(r.Edits, test.edits) || r.OffersAlways() != test.always {
			t.Errorf("%s: got %+v, %t", name, r, ok)
		}
	}
}
