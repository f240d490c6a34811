package jsonrpc

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestCall(t *testing.T) {
	for _, version := range []string{"", "2.0"} {
		c := New(version)
		for _, line := range []string{
			`{"method":"note","params":{}}`, `{"id":0,"method":"ask","params":{}}`, "npm warn", `{"id":1,"result":{"a":7}}`,
		} {
			c.Take([]byte(line))
		}
		var result struct{ A int }
		var others []string
		err := c.Call(t.Context(), "do", map[string]any{"b": 1}, &result, func(m Message) { others = append(others, m.Method) })
		if err != nil || result.A != 7 || strings.Join(others, " ") != "note" || c.Unparsed() != "npm warn" {
			t.Errorf("%q: %v, %+v, %q, %q", version, err, result, others, c.Unparsed())
		}
		var sent bytes.Buffer
		c.Close()
		c.Outbox.Deliver(&sent)
		want := `{"id":1,"method":"do","params":{"b":1}}
{"id":0,"error":{"code":-32601,"data":{"method":"ask"},"message":"Method not found"}}
`
		if version != "" {
			want = strings.ReplaceAll(want, `{"id"`, `{"jsonrpc":"2.0","id"`)
		}
		if sent.String() != want {
			t.Errorf("%q: sent %s", version, sent.String())
		}
	}
}

func TestCallReturnsRefusal(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":1,"error":{"code":-32600,"message":"no rollout"}}`:               "no rollout",
		`{"id":1,"error":{"code":1,"message":"no","data":{"details":"money"}}}`: "no: money",
		`{"id":null,"error":{"message":"what?"}}`:                               "what?",
	} {
		c := New("")
		c.Take([]byte(line))
		err := c.Call(t.Context(), "do", nil, &struct{}{}, nil)
		if refused, ok := errors.AsType[*Error](err); !ok || refused.Error() != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}
