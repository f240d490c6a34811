package journal

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// FuzzCompactJSON checks that compactJSON agrees with json.Compact, which changes nothing
// that layout.Compact accepts.
func FuzzCompactJSON(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, `{"a":1}`, `{"a":[1,-0,0.5,1e9,2E-7,1e+1],"b":{"c":null},"d":[true,false]}`,
		`{"a": 1}`, "{\"a\":1}\n", `{"a":1,}`, `{"a"}`, `{a:1}`, `{"a":1}{}`,
		`[1 2]`, `[1,]`, `[,1]`, `[`, `{`, `}`, ``,
		`{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":.5}`,
		`{"a":1e}`, `{"a":+1}`, `{"a":1e+}`, `{"a":nul}`, `{"a":truefalse}`,
		`{"a":"\"\\\/\b\f\n\r\t\u00e9\uD83d"}`, `{"a":"\x"}`, `{"a":"\u12"}`,
		`{"a":"\u12g4"}`, `{"a":"\`, `{"a":"`, `{"a":"\u`,
		"{\"a\":\"\x1f\"}", "{\"a\":\"1234567\n\"}",
		"{\"a\":\"12345678\x00\"}", "{\"a\":\"\x7f\x80\xff\xc3\xa0 größer\"}",
		"{\"\n\":1}", strings.Repeat("[", 200) + strings.Repeat("]", 200), `"a":1`, `1`, `"a"`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want bytes.Buffer
		wantErr := json.Compact(&want, data)
		if layout.Compact(data) && (wantErr != nil || !bytes.Equal(want.Bytes(), data)) {
			t.Fatalf("%q is called compact; json.Compact: %q, %v", data, want.Bytes(), wantErr)
		}
		got, err := compactJSON(data)
		if (err == nil) != (wantErr == nil) || err == nil && !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%q becomes %q, %v; json.Compact: %q, %v", data, got, err, want.Bytes(), wantErr)
		}
	})
}
