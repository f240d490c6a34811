package layout

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzCursorAsPackageJSON holds what a Cursor reads to what package json says
// of the same text.
func FuzzCursorAsPackageJSON(f *testing.F) {
	for _, text := range []string{
		`""`, `"a"`, `"\"\\\/\b\f\n\r\t\u00e9\uFFFD\u0000"`, `"\ud83d\ude00"`, `"\uD83D"`, `"\x"`, `"\u12"`, `"\u12g4"`, `"\`, `"`, `"\u`, `"a" `,
		"\"\x1f\"", "\"1234567\n\"", "\"\xff\"", "\"12345678\xff\"", "\"größer — 👍 水壶 and more\\n水\"", "\"\xed\xa0\x80\"", "\"\\n12345678\xc3\"",
		`"` + strings.Repeat(`\n`, 40_000) + `"`, `"` + strings.Repeat("plain ", 20_000) + `\n"`, `"\n` + strings.Repeat("x", 70_000) + `"`,
		`0`, `7`, `-1`, `01`, `1.0`, `1e3`, `999999999999999`, `1000000000000000`, `1e999`, `1e-99`, `-0.5E+7`, `1.`, `.5`, `-`, `1e`,
		`{}`, `[]`, `{"a":[1,{"b":null}],"a":true}`, `[1,]`, `[,1]`, `{"a"}`, `{1:2}`, `{"a":1,}`, `[1 2]`, `nul`, `true`, `false`, ``,
		strings.Repeat("[", 99) + strings.Repeat("]", 99), strings.Repeat("[", 101) + strings.Repeat("]", 101),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := At(text)
		if got := c.String(); c.End() {
			var want string
			if err := json.Unmarshal(text, &want); err != nil || got != want {
				t.Errorf("%.200q is read as %.200q; package json: %.200q, %v", text, got, want, err)
			}
		}
		c = Glance(text)
		if got := c.Text(); c.End() {
			var s string
			if err := json.Unmarshal(text, &s); err != nil || got != "" {
				t.Errorf("%.200q is passed over; package json: %v", text, err)
			}
		}
		c = At(text)
		if got := c.Int(); c.End() {
			var want int64
			if err := json.Unmarshal(text, &want); err != nil || got != want {
				t.Errorf("%.200q is read as %d; package json: %d, %v", text, got, want, err)
			}
		}
		c = At(text)
		if got := c.Raw(); c.End() {
			var value any
			var compact bytes.Buffer
			if err := json.Unmarshal(text, &value); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%.200q is read as %.200q; package json: %v", text, got, err)
			}
			if json.Compact(&compact, text); !bytes.Equal(compact.Bytes(), text) {
				t.Errorf("%.200q has white space", text)
			}
		}
	})
}

// Otherwise the long way would be taken, and no other test would tell.
func TestPlainTextsAreRead(t *testing.T) {
	for _, text := range []string{
		`"12345678 \"quotes\", \\, <&> \u001b\n and plain text behind"`, `"größer — 👍 水壶 \u2028"`, `""`,
		`"` + strings.Repeat(`a\n`, 40_000) + `"`,
	} {
		var want string
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		c := At([]byte(text))
		if got := c.String(); !c.End() || got != want {
			t.Errorf("%.80q is read as %.80q", text, got)
		}
	}
}

func TestACursorThatHasGivenUpReadsNothing(t *testing.T) {
	c := At([]byte(`"a"1`))
	c.Literal("b")
	if c.OK() || c.End() || c.String() != "" || c.Int() != 0 || c.Raw() != nil || c.Text() != "" || c.End() {
		t.Error("it goes on")
	}
}
