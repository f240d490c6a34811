package interchange

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// piecesOf returns the objects in a text, and the pieces that are none in brackets.
func piecesOf(t testing.TB, text string) []string {
	t.Helper()
	all := []string{}
	err := eachPiece(utf8Text(strings.NewReader(text)), 1<<20, func(piece []byte) bool {
		if isWhole(piece) {
			all = append(all, string(piece))
		} else {
			all = append(all, "["+string(piece)+"]")
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPieces(t *testing.T) {
	const a, b, c = `{"id":"a","v":{"x":[1,{"y":2}]}}`, `{"id":"b"}`, `{"id":"c","s":"}{"}`
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"lines":                     {a + "\n" + b + "\r\n\n" + c, []string{a, b, c}},
		"byte order mark":           {"\uFEFF" + a + "\n\uFEFF" + b, []string{a, b}},
		"NUL bytes":                 {"\x00\x00" + a + "\x00\n\x00" + b + "\n\x00\x00\n\x00", []string{a, b}},
		"several on a line":         {a + b + " " + c + "," + a + ",\n" + b, []string{a, b, c, a, b}},
		"torn in a string":          {c[:17] + b + "\n" + a, []string{"[" + c[:17] + "]", b, a}},
		"torn before a value":       {`{"id":` + b + "\n" + a, []string{`[{"id":]`, b, a}},
		"torn before a name":        {`{"id":1,` + b, []string{`[{"id":1,]`, b}},
		"torn line before a line":   {a[:20] + "\n" + b, []string{"[" + a[:20] + "]", b}},
		"torn in a value":           {`{"id":"a","v":{"x":1}`, []string{`[{"id":"a","v":{"x":1}]`}},
		"torn after a list's value": {`{"id":"a","v":[{"x":1}`, []string{`[{"id":"a","v":[{"x":1}]`}},
		"foreign text":              {"nonsense\n" + a + "\n[INFO] {x} " + b, []string{"[nonsense]", a, "[[INFO] {x} ]", b}},
		"list":                      {"[" + a + "," + b + "]", []string{"[[" + a + "," + b + "]]"}},
		"list on lines":             {"[\n" + a + ",\n" + b + "\n]", []string{"[[]", a, b, "[]]"}},
		"list beside its mark":      {"[" + a + ",\n" + b + "]", []string{a, b, "[]]"}},
		"pretty-printed":            {"{\n  \"id\": {\n    \"x\": 1\n  }\n}\n" + b, []string{"{\n  \"id\": {\n    \"x\": 1\n  }\n}", b}},
		"line break in a string":    {"{\"id\":\"a\nb\n\"}\n" + b, []string{`{"id":"a\u000ab\u000a"}`, b}},
		"tab in a string":           {"{\"id\":\"a\tb\"}", []string{`{"id":"a\u0009b"}`}},
		"no JSON":                   {`{"id":NaN,"x":[-Infinity,1e5,True]}`, []string{`{"id":null,"x":[null,1e5,null]}`}},
		"damaged structure":         {`{"id" "a"}` + "\n" + `{"id":]` + "\n" + b, []string{`[{"id" "a"}]`, `[{"id":]]`, b}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, piecesOf(t, test.text)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestUTF16IsDecoded(t *testing.T) {
	const text = "{\"id\":\"\u00e9\U0001F600\"}\r\n{\"id\":\"b\"}"
	for name, mark := range map[string]string{"with a mark": "\uFEFF", "without": ""} {
		var little, big []byte
		for _, unit := range utf16.Encode([]rune(mark + text)) {
			little = append(little, byte(unit), byte(unit>>8))
			big = append(big, byte(unit>>8), byte(unit))
		}
		for _, encoded := range [][]byte{little, big} {
			want := []string{"{\"id\":\"\u00e9\U0001F600\"}", `{"id":"b"}`}
			if diff := cmp.Diff(want, piecesOf(t, string(encoded))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

// Each whole object that is written comes in, whatever is torn, glued or foreign around it, and no other.
func FuzzPieces(f *testing.F) {
	f.Add("text \"}{\"", uint16(7), uint8(0))
	f.Add("a\\", uint16(30), uint8(1))
	f.Add("\x00{\"id\":1}", uint16(12), uint8(2))
	f.Add("", uint16(1), uint8(3))
	f.Fuzz(func(t *testing.T, text string, cut uint16, kind uint8) {
		object := func(id int) string {
			line, err := json.Marshal(map[string]any{"id": id, "message": map[string]any{"content": []any{
				map[string]any{"type": "text", "text": text}}}})
			if err != nil {
				t.Fatal(err)
			}
			return string(line)
		}
		first, torn, last := object(1), object(2), object(3)
		torn = torn[:1+int(cut)%(len(torn)-1)]
		if len(torn) < len(`{"id"`) { // no name yet that tells a value from an object
			return
		}
		between := []string{"\n", "", "\x00", "\r\n"}[kind%4]
		var got []string
		for _, piece := range piecesOf(t, first+between+torn+between+last+between+first) {
			if strings.HasPrefix(piece, "{") {
				got = append(got, piece)
			}
		}
		if diff := cmp.Diff([]string{first, last, first}, got); diff != "" {
			t.Errorf("torn %q, between %q (-want +got):\n%s", torn, between, diff)
		}
	})
}

// A line of many beginnings is read in one pass for each of a few candidates.
func TestManyBeginningsOfObjects(t *testing.T) {
	for _, text := range []string{strings.Repeat(`{"a":`, 1<<17), strings.Repeat(`{"`, 1<<18), strings.Repeat("{\"a\n", 1<<18)} {
		n := 0
		if err := eachPiece(bytes.NewReader([]byte(text)), 1<<20, func([]byte) bool { n++; return true }); err != nil || n == 0 {
			t.Errorf("%.10s: %d pieces, %v", text, n, err)
		}
	}
}
