package layout_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/layout"
)

type person struct {
	Name string `json:"name"`
	Age  int    `json:"age,omitempty"`
}

// document has a field of every supported kind.
type document struct {
	Title string `json:"title"`
	person
	Done     bool            `json:"done"`
	At       time.Time       `json:"at"`
	Size     int64           `json:"size"`
	Inode    uint64          `json:"inode"`
	Owner    *person         `json:"owner"`
	Editor   *person         `json:"editor,omitempty"`
	Readers  []person        `json:"readers"`
	Counts   map[string]int  `json:"counts,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
	Raw      []byte          `json:"raw,omitempty"`
	Ratio    float64         `json:"ratio,omitempty"`
	Small    int8            `json:"small,omitempty"`
	Untagged string
	Skipped  string `json:"-"`
}

var complete = document{
	Title: "a \"title\", \\ <&> \x00\x1b\n\t größer — 👍 \u2028", person: person{"Mia", 33}, Done: true,
	At: time.Date(2026, 11, 21, 2, 30, 0, 123456789, time.UTC), Size: 1<<63 - 1, Inode: 1<<64 - 1,
	Owner: &person{Name: "Ada"}, Editor: &person{Name: "Bo", Age: 1},
	Readers: []person{{Name: "a"}, {Name: "b", Age: 2}, {Name: "c"}}, Counts: map[string]int{"x": 1, "": 2},
	Input: json.RawMessage(`{"a":[1,-2.5,0,1e9,true,false,null,"\u00e9"],"b":{},"c":[]}`), Untagged: "u", Ratio: 1.25e-7,
}

func ExampleDecode() {
	type turn struct {
		ID   string `json:"id"`
		Text string `json:"text,omitempty"`
	}
	for _, text := range []string{
		`{"id":"t1","text":"hello"}`, `{"id":"t1"}`, `{"text":"hello","id":"t1"}`, `{"id": "t1"}`,
	} {
		var t turn
		fmt.Println(layout.Decode([]byte(text), &t), text)
	}
	// Output:
	// true {"id":"t1","text":"hello"}
	// true {"id":"t1"}
	// false {"text":"hello","id":"t1"}
	// false {"id": "t1"}
}

func TestDecodeReadsWhatMarshalWrites(t *testing.T) {
	nothing := document{Readers: []person{}}
	for name, want := range map[string]document{"every field": complete, "only required fields": nothing} {
		text := marshal(t, want)
		var got document
		if !layout.Decode(text, &got) {
			t.Errorf("%s: rejected %s", name, text)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: decoded\n%+v, want\n%+v", name, got, want)
		}
	}
}

func TestDecodeRejectsUnsupportedFields(t *testing.T) {
	for name, v := range map[string]any{
		"an optional field": &document{Readers: []person{}, Small: 5},
		"optional bytes":    &document{Readers: []person{}, Raw: []byte("x")},
		"a required int8":   &struct{ F int8 }{},
		"a map of ints":     &struct{ M map[int]string }{M: map[int]string{}},
		"a slice of int8s":  &struct{ S []int8 }{S: []int8{}},
		"a pointer":         &struct{ P *int8 }{},
		"an embedded one":   &struct{ Embedded }{},
		"an option": &struct {
			N int `json:",string"`
		}{},
	} {
		text := marshal(t, v)
		if layout.Decode(text, reflect.New(reflect.TypeOf(v).Elem()).Interface()) {
			t.Errorf("%s: accepted %s", name, text)
		}
	}
}

// Embedded has a field of an unsupported type.
type Embedded struct{ F int8 }

func TestEmptyMapIsDecoded(t *testing.T) {
	var got struct {
		Counts map[string]int `json:"counts"`
	}
	if !layout.Decode([]byte(`{"counts":{}}`), &got) || got.Counts == nil || len(got.Counts) > 0 {
		t.Errorf("decoded %+v", got)
	}
}

func TestStringsWithoutEndAreRejected(t *testing.T) {
	for _, text := range []string{``, `"`, `"a`, `"\`, `"\n`, `"a\n`, `"\u00e`, `"\u00e9`} {
		c := layout.At([]byte(text))
		if got := c.String(); got != "" || c.OK() {
			t.Errorf("String: %s is decoded as %q", text, got)
		}
		c = layout.At([]byte(text))
		if got := c.Plain(); got != nil || c.OK() {
			t.Errorf("Plain: %s is decoded as %q", text, got)
		}
	}
}

func TestNumbersOverTheLimitAreRejected(t *testing.T) {
	for text, ok := range map[string]bool{"18446744073709551615": true, "18446744073709551616": false} {
		c := layout.At([]byte(text))
		if n := c.Uint(); c.OK() != ok || (n == 0) == ok {
			t.Errorf("Uint: %s is decoded as %d, %v", text, n, c.OK())
		}
	}
}

func TestIgnoredStringsAreChecked(t *testing.T) {
	for text, want := range map[string]bool{
		`{"id":"a","text":"b\n\u00e9\"","size":7}`: true,
		`{"id":"a"}`:                       true,
		`{"id":"a","text":5}`:              false,
		`{"id":"a","text":null}`:           false,
		`{"id":"a","text":"\x"}`:           false,
		`{"id":"a","text":"\u12"}`:         false,
		"{\"id\":\"a\",\"text\":\"\x1f\"}": false,
	} {
		var got struct {
			ID   string         `json:"id"`
			Text layout.Ignored `json:"text,omitempty"`
			Size int            `json:"size,omitempty"`
		}
		if ok := layout.Decode([]byte(text), &got); ok != want || ok && got.ID != "a" {
			t.Errorf("%s: %v, %+v", text, ok, got)
		}
	}
}

func TestDecodedValuesShareNoMemoryWithText(t *testing.T) {
	text := marshal(t, complete)
	var got document
	if !layout.Decode(text, &got) {
		t.Fatal("rejected")
	}
	for i := range text {
		text[i] = 'x'
	}
	if !reflect.DeepEqual(got, complete) {
		t.Errorf("changed with the text: %+v", got)
	}
}

func TestLongStringsAreDecoded(t *testing.T) {
	for _, want := range []string{
		strings.Repeat("a\n", 40_000), strings.Repeat("plain ", 20_000) + "\n", "\n" + strings.Repeat("x", 2<<20),
		strings.Repeat("壶\t", 1<<20),
	} {
		text := marshal(t, want)
		c := layout.At(text)
		if got := c.String(); !atEnd(c) || got != want {
			t.Errorf("%.80q is decoded as %.80q", text, got)
		}
	}
}

func TestCompactAcceptsWhatMarshalWrites(t *testing.T) {
	text := marshal(t, []any{complete, 0, -1, 12.5, 1e99, -3e-9, true, false, nil, []any{}, map[string]any{}})
	if !layout.Compact(text) {
		t.Errorf("%s is not called compact", text)
	}
}

func TestFailedCursorConsumesNothing(t *testing.T) {
	c := layout.At([]byte(`"a"1`))
	c.Expect("b")
	if c.OK() || atEnd(c) || c.String() != "" || c.Uint() != 0 || c.Raw() != nil || c.Plain() != nil ||
		c.Take(1) != nil ||
		c.Accept(`"`) ||
		atEnd(c) {
		t.Error("a method succeeded after a failure")
	}
}

// FuzzDecode compares Decode with encoding/json, also for texts that differ in
// one byte from those that Marshal writes.
func FuzzDecode(f *testing.F) {
	for _, v := range []document{complete, {}, {Readers: []person{}}} {
		text := marshal(f, v)
		for i := range text {
			for _, b := range []byte("\x1f \"\\,}]0eAn\xff") {
				changed := bytes.Clone(text)
				changed[i] = b
				if i%5 == 0 || b == ' ' {
					f.Add(changed)
				}
			}
		}
		f.Add(text)
	}
	for _, seed := range []string{
		`{"title":"a","title":"b"}`, `{"Title":"a"}`, `{"title":null}`,
		`{"title":"a","name":"b","done":true,"extra":1}`,
		`{"title":"\ud83d\ude00"}`, `{"title":"\ud83d"}`, "{\"title\":\"\xed\xa0\x80\"}", "{\"title\":\"\\n\xff\"}", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want document
		if !layout.Decode(text, &got) {
			return
		}
		if err := json.Unmarshal(text, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%.500q is decoded as %+v; encoding/json: %+v, %v", text, got, want, err)
		}
	})
}

// FuzzCursor compares the methods of a Cursor with encoding/json.
func FuzzCursor(f *testing.F) {
	for _, text := range []string{
		`""`, `"a"`, `"\"\\\/\b\f\n\r\t\u00e9\uFFFD\u0000"`, `"\ud83d\ude00"`, `"\uD83D"`, `"\x"`, `"\u12"`, `"\u12g4"`,
		`"\u+123"`, `"\u1_23"`, `"\`, `"`, `"\u`, `"a" `,
		"\"\x1f\"", "\"1234567\n\"", "\"\xff\"", "\"12345678\xff\"", "\"größer — 👍 水壶 and more\\n水\"",
		"\"\xed\xa0\x80\"", "\"\\n12345678\xc3\"",
		`"` + strings.Repeat(`\n`, 400) + `"`, `"` + strings.Repeat("plain ", 200) + `\n"`,
		`0`, `7`, `-1`, `01`, `1.0`, `1e3`, `9999999999999999999`, `10000000000000000000`, `18446744073709551616`,
		`1e999`, `1e-99`, `-0.5E+7`, `1.`, `.5`, `-`, `1e`,
		`{}`, `[]`, `{"a":[1,{"b":null}],"a":true}`, `[1,]`, `[,1]`, `{"a"}`, `{1:2}`, `{"a":1,}`, `[1 2]`, `nul`,
		`true`, `false`, ``, ` 1`, "1\n", `[ 1]`,
		strings.Repeat("[", 99) + strings.Repeat("]", 99), strings.Repeat("[", 1001) + strings.Repeat("]", 1001),
		strings.Repeat("[", 20_000),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := layout.At(text)
		if got := c.String(); atEnd(c) {
			compare(t, text, got)
		}
		c = layout.At(text)
		if got := c.Uint(); atEnd(c) {
			compare(t, text, got)
		}
		c = layout.At(text)
		got := c.Raw()
		if atEnd(c) != layout.Compact(text) {
			t.Errorf("%.200q: Compact is not the same as Raw", text)
		}
		if atEnd(c) {
			compare(t, text, got)
			var compact bytes.Buffer
			if json.Compact(&compact, text); !bytes.Equal(compact.Bytes(), text) {
				t.Errorf("%.200q has white space", text)
			}
		}
	})
}

func compare[T any](t *testing.T, text []byte, got T) {
	t.Helper()
	var want T
	if err := json.Unmarshal(text, &want); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%.200q is read as %.200v; encoding/json: %.200v, %v", text, got, want, err)
	}
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

func BenchmarkDecode(b *testing.B) {
	for _, text := range []struct{ name, of string }{
		{"plain", "the kettle does not boil because nothing was changed in coordinator, and the test fails. "},
		{"escaped", "the kettle does not\nboil, \"größer\" than it is — at all:\n\tx := f(y)\n\n"},
	} {
		type message struct{ ID, Text string }
		data := marshal(b, message{"m", strings.Repeat(text.of, 4000/len(text.of))})
		for name, decode := range map[string]func() bool{
			"layout":        func() bool { return layout.Decode(data, new(message)) },
			"encoding/json": func() bool { return json.Unmarshal(data, new(message)) == nil },
		} {
			b.Run(text.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if !decode() {
						b.Fatal("rejected")
					}
				}
			})
		}
	}
}

func atEnd(c layout.Cursor) bool { return c.OK() && len(c.Rest()) == 0 }
