package agent

import (
	"net"
	"net/url"
	"testing"
)

func newOpenAIParser() parser { return &openaiParser{} }

func TestOpenAIParser(t *testing.T) {
	checkStreams(t, newOpenAIParser, []streamTest{
		{
			name: "completion without streaming", lines: completeReply,
			want: []string{`text "Hello."`, "done", "used 10+0+0 5+0 unknown"},
		},
		{name: "usage in separate chunk", lines: `
: a comment
event: message
data:{"choices":[{"delta":{"role":"assistant","content":null},"finish_reason":null}],"usage":null}
data: {"choices":[{"delta":{"content":"hi"}}]}

data: {"choices":[{"delta":{},"finish_reason":"stop"}]}
data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}
data: [DONE]`, want: []string{`text "hi"`, "done", "used 3+0+0 4+0 unknown"}},
		{
			name: "only the first choice counts",
			lines: `data: {"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"b"},` +
				`"finish_reason":"stop"}]}`,
			want: []string{`text "a"`},
		},
		{
			name: "parts", lines: `data: {"choices":[{"delta":{"content":[{"type":"text","text":"h"},7,` +
				`{"type":"thinking","thinking":[],"text":"no"},{"text":"i"},{"type":"image_url"}]}}]}`,
			want: []string{`text "hi"`},
		},
		{
			name:  "content of another form",
			lines: `data: {"choices":[{"delta":{"content":7}},{"delta":{"content":{"text":"x"}}},{"delta":{"content":"a"}}]}`,
			want:  []string{`text "a"`},
		},
		{
			name: "usage of a model that thinks",
			lines: `data: {"usage":{"prompt_tokens":10,"completion_tokens":7,"total_tokens":17,` +
				`"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":5}}}`,
			want: []string{"used 6+4+0 2+5 unknown"},
		},
		{
			name: "usage with thoughts beside the output",
			lines: `data: {"usage":{"prompt_tokens":10,"completion_tokens":7,"total_tokens":22,` +
				`"completion_tokens_details":{"reasoning_tokens":5}}}`,
			want: []string{"used 10+0+0 7+5 unknown"},
		},
		{
			name: "cut off", lines: `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"length"}]}`,
			want: []string{`text "a"`, "failed: the reply was cut off: it reached the model's limit"},
		},
		{
			name: "withheld", lines: `data: {"choices":[{"finish_reason":"content_filter"}]}`,
			want: []string{"failed: the reply was withheld by a filter"},
		},
		{
			name: "tool call", lines: `data: {"choices":[{"finish_reason":"tool_calls"}]}`,
			want: []string{"failed: it wants to use a tool, and has none"},
		},
		{
			name: "error after start", lines: `data: {"error":{"message":"out of memory"}}`,
			want: []string{"failed: out of memory"},
		},
		{name: "error is a string", lines: `data: {"error":"out of memory"}`, want: []string{"failed: out of memory"}},
		{
			name: "errors without a message", lines: "data: {\"error\":{\"code\":5}}\ndata: {\"error\":null}\ndata: {\"error\":\"\"}",
			want: []string{`failed: {"code":5}`, `failed: ""`},
		},
		{
			name:  "more cached than used",
			lines: `data: {"usage":{"prompt_tokens":1,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":4}}}`,
			want:  []string{"used 0+4+0 1+0 unknown"},
		},
		{name: "other fields and parts", lines: `
id: 7
retry: 9
data: {"choices":[{"delta":{"content":[{"type":"output_text","text":"h"}]}}]}
data: {"choices":[{"delta":{},"finish_reason":"function_call"}]}`, want: []string{
			`text "h"`, "failed: it wants to use a tool, and has none",
		}},
		{name: "HTML page", lines: "<html>", want: []string{"unparsed: <html>"}},
	})
}

const completeReply = `{"object":"chat.completion","choices":[{"index":0,"finish_reason":"stop",` +
	`"message":{"role":"assistant","content":"Hello."}}],"usage":{"prompt_tokens":10,"completion_tokens":5}}`

func FuzzOpenAI(f *testing.F) {
	f.Add([]byte(completeReply))
	f.Add([]byte("data: " + completeReply + "\ndata: [DONE]\n"))
	fuzzParser(f, newOpenAIParser)
}

func TestUnknownHostIsNotTemporary(t *testing.T) {
	for _, unknown := range []bool{true, false} {
		err := &url.Error{Err: &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: unknown}}}
		if isTemporary(err) == unknown {
			t.Errorf("unknown host: %v", unknown)
		}
	}
}
