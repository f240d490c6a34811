package jsonlines_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
)

func TestSplitterJoinsPiecesToLines(t *testing.T) {
	const text = "{}\n\n{\"a\":1}\r\nrest"
	for size := 1; size <= len(text); size++ {
		var s jsonlines.Splitter
		var got []string
		for piece := range slices.Chunk([]byte(text), size) {
			s.Take(string(piece), func(line []byte) bool { got = append(got, string(line)); return true })
		}
		want := []string{"{}", "", "{\"a\":1}\r"}
		if !slices.Equal(got, want) || string(s.Rest()) != "rest" || s.TooLong() {
			t.Errorf("pieces of %d: got %q, rest %q", size, got, s.Rest())
		}
	}
}

func TestSplitterStopsWhenAsked(t *testing.T) {
	var s jsonlines.Splitter
	lines := 0
	if s.Take("1\n2\n3\n", func([]byte) bool { lines++; return lines < 2 }) || lines != 2 {
		t.Errorf("it passed %d lines on", lines)
	}
}

func TestSplitterPassesLongestLine(t *testing.T) {
	piece := strings.Repeat("x", 1<<20)
	for end, tooLong := range map[string]bool{"\n": false, "y\n": true} {
		var s jsonlines.Splitter
		passed := 0
		count := func(line []byte) bool { passed = len(line); return true }
		for range jsonlines.Limit / len(piece) {
			s.Take(piece, count)
		}
		s.Take(end, count)
		if s.TooLong() != tooLong || (passed == jsonlines.Limit) == tooLong {
			t.Errorf("with the end %q %d bytes were passed on; too long: %t", end, passed, s.TooLong())
		}
	}
	if rest := new(jsonlines.Splitter).Rest(); rest != nil {
		t.Errorf("the rest of nothing is %q", rest)
	}
}

func TestSplitterLimitsLines(t *testing.T) {
	var s jsonlines.Splitter
	piece := strings.Repeat("x", 1<<20)
	for range jsonlines.Limit/len(piece) + 1 {
		s.Take(piece, func([]byte) bool { t.Error("a line was passed on"); return true })
	}
	if !s.TooLong() {
		t.Error("the line is not too long")
	}
}

func TestDecodeLeavesOutFieldsThatDoNotFit(t *testing.T) {
	for _, test := range []struct {
		line string
		ok   bool
		a, b string
	}{
		{`{"a":"x","b":"y"}`, true, "x", "y"},
		{`{"a":1,"b":"y"}`, true, "", "y"},
		{`{"a":{"c":2},"b":"y"}`, true, "", "y"},
		{`{}`, true, "", ""},
		{`["a"]`, false, "", ""},
		{`{"a":"x"`, false, "", ""},
		{``, false, "", ""},
		{` {"a":"x"}`, true, "x", ""},
		{"\uFEFF{\"a\":\"x\"}", false, "", ""},
		{`[{"a":"x"}]`, false, "", ""},
		{`"{\"a\":\"x\"}"`, false, "", ""},
		{`{"a":"x"} and`, false, "", ""},
	} {
		var got struct{ A, B string }
		ok := jsonlines.Decode([]byte(test.line), &got)
		if ok != test.ok || ok && (got.A != test.a || got.B != test.b) {
			t.Errorf("Decode(%s) = %v, %+v", test.line, ok, got)
		}
	}
}

func TestObjectsAreFoundAmongOtherText(t *testing.T) {
	const a, b, nested = `{"a":1}`, `{"b":[{"c":"}{"}]}`, `{"type":"message","content":[{"type":"result"}`
	for line, want := range map[string][]string{
		a:                                 {a},
		" " + a + "\r":                    {a},
		a + b:                             {a, b},
		a + " " + b:                       {a, b},
		"\x1b]0;title {x}\a\x1b[?25h" + a: {a},
		"\uFEFF" + a:                      {a},
		a + " and":                        {a},
		`{"a":"unfin` + b:                 {b},
		nested:                            {nested},
		"note: " + a:                      {a},
		nested + `],"cost":NaN}`:          {nested + `],"cost":NaN}`},
		strings.Repeat("{", 20) + a:       {strings.Repeat("{", 20) + a},
		"npm warn":                        {"npm warn"},
		`["a"]`:                           {`["a"]`},
	} {
		var got []string
		for object := range jsonlines.Objects([]byte(line)) {
			got = append(got, string(object))
		}
		if !slices.Equal(got, want) {
			t.Errorf("Objects(%q) = %q, want %q", line, got, want)
		}
	}
}
