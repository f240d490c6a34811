package marker_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// message returns the message with the content whose NEXT markers name the members, with the default intent.
func message(content string, names ...string) marker.Message {
	m := marker.Message{Content: content, RawNext: names}
	for _, name := range names {
		m.Next = append(m.Next, marker.Target{Identifier: name, Intent: marker.Reply})
	}
	return m
}

func TestParseFindsNames(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       marker.Message
	}{
		{"plain text", "hello", message("hello")},
		{"nothing", "", message("")},
		{"one name", "hello ada [NEXT: ada]", message("hello ada", "ada")},
		{"any case, no blank", "[nExT:ada]", message("", "ada")},
		{"repetition", "[NEXT: a] x [NEXT: b]", message("x", "a", "b")},
		{"commas of other scripts", "[NEXT: a，b、c]", message("", "a", "b", "c")},
		{"names with spaces", "[NEXT: Code Reviewer , b]", message("", "Code Reviewer", "b")},
		{"empty names", "x [NEXT: , a,, !P1 ,]", message("x", "a")},
		{"no name at all", "x [NEXT:] y", message("x y")},
		{"no such intent", "[NEXT: a!P4, b!]", message("", "a!P4", "b!")},
		{"full-width brackets", "［NEXT: a］【NEXT: b】", message("［NEXT: a］【NEXT: b】")},
		{"other brackets", "[NEXT a] [NEXTS: a] [ NEXT: a] (NEXT: a)",
			message("[NEXT a] [NEXTS: a] [ NEXT: a] (NEXT: a)")},
		{"never closed", "[NEXT: a", message("[NEXT: a")},
		{"over two lines", "[NEXT: a,\nb]", message("[NEXT: a,\nb]")},
		{"a bracket in it", "[NEXT: a [b] c", message("c", "a [b")},
		{
			"panels", "go [NEXT: a | b!P1, c, |d|, e|f | g]",
			marker.Message{
				Content: "go",
				Next: []marker.Target{
					{Identifier: "a", Intent: marker.Reply, Panel: 1},
					{Identifier: "b", Intent: marker.Interrupt, Panel: 1},
					{Identifier: "c", Intent: marker.Reply},
					{Identifier: "d", Intent: marker.Reply},
					{Identifier: "e", Intent: marker.Reply, Panel: 2},
					{Identifier: "f", Intent: marker.Reply, Panel: 2},
					{Identifier: "g", Intent: marker.Reply, Panel: 2},
				},
				RawNext: []string{"a", "b!P1", "c", "d", "e", "f", "g"},
			},
		},
		{
			"judges", "go [NEXT: a | b, Code Reviewer!P3 Judges a | b || c, d judges e, judges a | b, judges f | g]",
			marker.Message{
				Content: "go",
				Next: []marker.Target{
					{Identifier: "a", Intent: marker.Reply, Panel: 1},
					{Identifier: "b", Intent: marker.Reply, Panel: 1},
					{Identifier: "Code Reviewer", Intent: marker.Extend, Judged: []string{"a", "b", "c"}},
					{Identifier: "d judges e", Intent: marker.Reply},
					{Identifier: "judges a", Intent: marker.Reply, Panel: 2},
					{Identifier: "b", Intent: marker.Reply, Panel: 2},
					{Identifier: "judges f", Intent: marker.Reply, Panel: 3},
					{Identifier: "g", Intent: marker.Reply, Panel: 3},
				},
				RawNext: []string{
					"a", "b", "Code Reviewer!P3 Judges a | b || c", "d judges e", "judges a", "b", "judges f", "g",
				},
			},
		},
		{
			"list with intents", "go [NEXT: a, b!P1, c !p3, d!p2]",
			marker.Message{
				Content: "go",
				Next: []marker.Target{
					{Identifier: "a", Intent: marker.Reply},
					{Identifier: "b", Intent: marker.Interrupt},
					{Identifier: "c", Intent: marker.Extend},
					{Identifier: "d", Intent: marker.Reply},
				},
				RawNext: []string{"a", "b!P1", "c !p3", "d!p2"},
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := marker.Parse(test.text); !reflect.DeepEqual(got, test.want) {
				t.Errorf("%q\n got %+v\nwant %+v", test.text, got, test.want)
			}
		})
	}
}

func TestParseFindsOtherMarkers(t *testing.T) {
	type message = marker.Message
	next := []marker.Target{{Identifier: "x", Intent: marker.Reply}}
	raw := []string{"x"}
	for _, test := range []struct {
		name, text, content string
		want                message // without Content
	}{
		{"drop all", "[drop: all] x", "x", message{DropAll: true}},
		{"drop some", "[DROP: a, b] x [DROP: c]", "x", message{Drop: []string{"a", "b", "c"}}},
		{"drop and next", "[DROP: ALL][NEXT: x]", "", message{DropAll: true, Next: next, RawNext: raw}},
		{
			"the first sender", "[FROM: ] [from: hugo] x [FROM: eve]", "[FROM: ] [from: hugo] x [FROM: eve]",
			message{From: "hugo"},
		},
		{
			"the last task", "[TEAM_TASK: a] [team_task: b]", "[TEAM_TASK: a] [team_task: b]",
			message{Task: "b", HasTask: true},
		},
		{"an empty task", "[TEAM_TASK: ]", "[TEAM_TASK: ]", message{HasTask: true}},
		{
			"a task over several lines", "[TEAM_TASK: a\n\n- b ]", "[TEAM_TASK: a\n\n- b ]",
			message{Task: "a\n\n- b", HasTask: true},
		},
		{
			"a secret in a task", "[TEAM_TASK: a [REDACTED:x-1_y] b] c", "[TEAM_TASK: a [REDACTED:x-1_y] b] c",
			message{Task: "a [REDACTED:x-1_y] b", HasTask: true},
		},
		{
			"no mark of a secret in a task", "[TEAM_TASK: a [REDACTED:x y] b] c", "[TEAM_TASK: a [REDACTED:x y] b] c",
			message{Task: "a [REDACTED:x y", HasTask: true},
		},
		{
			"the letters and digits of a mark of a secret", "[TEAM_TASK: a [REDACTED:azAZ09] b] c",
			"[TEAM_TASK: a [REDACTED:azAZ09] b] c", message{Task: "a [REDACTED:azAZ09] b", HasTask: true},
		},
		{
			"a mark of a secret that the text does not close", "[TEAM_TASK: a] [REDACTED:x",
			"[TEAM_TASK: a] [REDACTED:x", message{Task: "a", HasTask: true},
		},
		{
			"a sender that the line does not close", "[FROM: a\n] [FROM: hugo] b[0]\n", "[FROM: a\n] [FROM: hugo] b[0]\n",
			message{From: "hugo"},
		},
		{
			"a task that is never closed", "[TEAM_TASK: a\n[FROM: hugo] b[0]", "[TEAM_TASK: a\n[FROM: hugo] b[0]",
			message{From: "hugo"},
		},
		{
			"next within a task", "[TEAM_TASK: a [NEXT: x] b]", "[TEAM_TASK: a b]",
			message{Task: "a b", HasTask: true, Next: next, RawNext: raw},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.want.Content = test.content
			if got := marker.Parse(test.text); !reflect.DeepEqual(got, test.want) {
				t.Errorf("%q\n got %+v\nwant %+v", test.text, got, test.want)
			}
		})
	}
}

func TestMarkOfSecretHasNoOtherCharacters(t *testing.T) {
	for _, c := range "/:@[`{\n" { // those next to the digits and letters, and a line break
		text := "[TEAM_TASK: a [REDACTED:x" + string(c) + "y] b] c"
		if got, want := marker.Parse(text).Task, "a [REDACTED:x"+string(c)+"y"; got != want {
			t.Errorf("%q: task %q, want %q", text, got, want)
		}
	}
}

func TestTargetIsTrimmedAndHasAnIntent(t *testing.T) {
	for typed, want := range map[string]marker.Target{
		"!P1":   {Intent: marker.Interrupt},
		"P1":    {Identifier: "P1", Intent: marker.Reply},
		"a!P0":  {Identifier: "a!P0", Intent: marker.Reply},
		"a !P3": {Identifier: "a", Intent: marker.Extend},
		"a?P1":  {Identifier: "a?P1", Intent: marker.Reply},
	} {
		if got := marker.ParseTarget(typed); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, want %+v", typed, got, want)
		}
	}
	for intent, want := range map[marker.Intent]string{0: "", 1: "P1", 3: "P3", 4: ""} {
		if got := intent.String(); got != want {
			t.Errorf("intent %d is typed %q, want %q", int(intent), got, want)
		}
	}
}

func TestParseKeepsOtherText(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"between words", "one [NEXT: a] two", "one two"},
		{"glued to words", "one[NEXT: a]two", "onetwo"},
		{"glued on the left", "one[NEXT: a] two", "one two"},
		{"before a comma", "one [NEXT: a], two", "one , two"},
		{"at the end of a line", "one [NEXT: a]\ntwo", "one\ntwo"},
		{"at the start of a line", "one\n[NEXT: a] two", "one\ntwo"},
		{"several in a row", "one [NEXT: a] [NEXT: b] two [NEXT: c] [DROP: d]", "one two"},
		{"more than one space", "one  [NEXT: a]  two", "one   two"},
		{"after an indentation", "if x:\n    [NEXT: a] y()\n", "if x:\n    y()\n"},
		{"before an indentation", "if x: [NEXT: a]\n    y()", "if x:\n    y()"},
		{"alone on a line", "one\n  [NEXT: a]  \ntwo", "one\ntwo"},
		{"two alone on a line", "one\n[NEXT: a] [DROP: b]\n\ttwo", "one\n\ttwo"},
		{"alone between blank lines", "one\n\n[NEXT: a]\n\ntwo", "one\n\n\ntwo"},
		{"with carriage returns", "one\r\n[NEXT: a]\r\ntwo [NEXT: b]\r\n\r\nthree", "one\r\ntwo\r\n\r\nthree"},
		{"alone at the end", "one\n\n  two\n\n[NEXT: a]\n", "one\n\n  two"},
		{"alone at the start", "[NEXT: a]\n\n    one\n\n\ntwo\n", "    one\n\n\ntwo\n"},
		{"alone at the start, blank lines before", "\n \n[NEXT: a]\n  one", "  one"},
		{"nothing else", " \n [NEXT: a]\n\n[DROP: b] \n", ""},
		{"other blank lines", "\n\n  one [NEXT: a] two \n\n", "\n\n  one two \n\n"},
		{"no marker, no change", "\n\n  one  \n\n", "\n\n  one  \n\n"},
		{"bytes that are not UTF-8", "\xff [NEXT: a] \xfe", "\xff \xfe"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := marker.Parse(test.text).Content; got != test.want {
				t.Errorf("%q\n got %q\nwant %q", test.text, got, test.want)
			}
		})
	}
}

func TestMarkersInCodeAreText(t *testing.T) {
	for name, text := range map[string]string{
		"a code span":                  "write `[NEXT: a]` to hand over",
		"a span of two":                "write `` ` [NEXT: a] ` `` to hand over",
		"a span over two lines":        "write `x\n[NEXT: a]` to hand over",
		"a drop":                       "`[DROP: ALL]`",
		"a from":                       "`[FROM: hugo]`",
		"a task":                       "`[TEAM_TASK: x]`",
		"a fence":                      "see\n```\n[NEXT: a]\n```\n",
		"a fence with a language":      "```text\n[NEXT: a]\n\n[DROP: b]\n```",
		"a fence of tildes":            "~~~ `x`\n[NEXT: a]\n~~~",
		"an indented fence":            "   ```\n[NEXT: a]\n  ```",
		"a longer fence":               "````\n```\n[NEXT: a]\n````",
		"a fence of the other kind":    "```\n~~~\n[NEXT: a]\n```",
		"a fence that is never closed": "```\n[NEXT: a]\n\n[FROM: hugo]\n",
		"a fence closed by too little": "```\n[NEXT: a]\n``\n[NEXT: b]",
		"a fence closed with a word":   "```\n``` x\n[NEXT: b]",
		"a fence with line breaks":     "```\r\n[NEXT: a]\r\n```\r\n",
		"the line of a fence":          "~~~ [NEXT: a]\n~~~",
		"a fence in a list":            "1. Write this:\n\n    ```sh\n    first\n\n    echo \"[NEXT: a]\"\n    ```\n",
		"a fence in a list in a list":  "- x\n  - y:\n\n      ~~~\n      [NEXT: a]\n\n      [DROP: b]\n      ~~~\n",
		"a fence after a tab":          "1.\tx\n\n\t```\n\t[NEXT: a]\n\n\t[NEXT: b]\n\t```",
		"a fence closed further left":  "  1. x\n\n      ```\n      [NEXT: a]\n\n      [NEXT: b]\n     ```",
		"the first line of an item":    "- ```sh\n  [NEXT: a]\n\n  [NEXT: b]\n  ```\n",
		"the first of a numbered item": "10) ~~~\n    [NEXT: a]\n\n    [NEXT: b]\n    ~~~\n",
		"the first of an item's item":  "- 1. ```\n     [NEXT: a]\n\n     [NEXT: b]\n     ```\n",
		"the closing bracket":          "[NEXT: a`]`",
		"a fence in a quote":           "> ```\n> [NEXT: a]\n> ```",
		"indented code":                "see\n\n    [NEXT: a]\n",
	} {
		t.Run(name, func(t *testing.T) {
			want := marker.Message{Content: text}
			if got := marker.Parse(text); !reflect.DeepEqual(got, want) {
				t.Errorf("%q is %+v, want only text", text, got)
			}
		})
	}
}

func TestMarkersOutsideCodeCount(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"after a span", "`x` [NEXT: a]", "`x`"},
		{"a run that is not closed", "`` x ` [NEXT: a]", "`` x `"},
		{"a backtick in another paragraph", "don` t\n\n[NEXT: a]\n\nwon` t", "don` t\n\n\nwon` t"},
		{"a backtick before a fence", "x `\n[NEXT: a]\n```\n`\n```", "x `\n```\n`\n```"},
		{"a backtick that is escaped", "\\` [NEXT: a] `", "\\` `"},
		{"after a fence", "```\nx\n```\n[NEXT: a]", "```\nx\n```"},
		{"after a longer closing fence", "```\nx\n`````  \n[NEXT: a]", "```\nx\n`````"},
		{"a fence indented by four", "    ~~~\n[NEXT: a]\ny", "    ~~~\ny"},
		{"after a fence in a list", "1. x\n\n    ```\n    y\n    ```\n\n2. [NEXT: a]",
			"1. x\n\n    ```\n    y\n    ```\n\n2."},
		{"after a fence in an item's first line", "- ```\n  y\n  ```\n[NEXT: a]", "- ```\n  y\n  ```"},
		{"after the item that a fence ends with", "- ```\n  y\n\n[NEXT: a]", "- ```\n  y"},
		{"a dash without a blank", "-```\n[NEXT: a]\ny", "-```\ny"},
		{"a number that is too long", "1234567890. ```\n[NEXT: a]\ny", "1234567890. ```\ny"},
		{"a span in an item", "- ```x``` [NEXT: a]", "- ```x```"},
		{"a run of backticks within a line", "```x``` [NEXT: a]", "```x```"},
		{"two tildes", "~~\n[NEXT: a]\ny", "~~\ny"},
		{"a backtick in another item", "- a `b\n- c` [NEXT: a]", "- a `b\n- c`"},
		{"a backtick in a heading", "# a `b\nc` [NEXT: a]", "# a `b\nc`"},
		{"an indented line of a paragraph", "see\n    this [NEXT: a]", "see\n    this"},
		{"a span within the marker", "[NEXT: `a`] x", "x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := marker.Parse(test.text)
			if len(got.Next) != 1 || got.Content != test.want {
				t.Errorf("%q\n got %q, next %v\nwant %q, one next", test.text, got.Content, got.Next, test.want)
			}
		})
	}
}

func TestRemovalCreatesNoMarker(t *testing.T) {
	for text, want := range map[string]string{
		"[NE[NEXT: a]XT: b]":                   "[ NEXT: b]",
		"[NE[NEXT: a]XT: [NEXT: b]":            "[NEXT:",
		"``[NEXT: a]`[NEXT: b]`":               "```[ NEXT: b]`",
		"[NEXT: a]```\n```\n[NEXT: b]":         "```\n```\n[ NEXT: b]",
		"[DR[NEXT: a]OP: [DR[NEXT: b]OP: c] x": "[ DROP: [ DROP: c] x",
	} {
		got := marker.Parse(text)
		if got.Content != want {
			t.Errorf("%q became %q, want %q", text, got.Content, want)
		}
		checkStable(t, text)
	}
}

// checkStable checks that parsing the content again finds the same sender and task, and no other marker.
func checkStable(t *testing.T, text string) {
	t.Helper()
	first := marker.Parse(text)
	want := marker.Message{Content: first.Content, From: first.From, Task: first.Task, HasTask: first.HasTask}
	if second := marker.Parse(first.Content); !reflect.DeepEqual(second, want) {
		t.Errorf("%q\nparsed once:  %+v\nparsed twice: %+v", text, first, second)
	}
	if utf8.ValidString(text) && !utf8.ValidString(fmt.Sprint(first)) {
		t.Errorf("%q is UTF-8, and %+v is not", text, first)
	}
	if len(first.Next) != len(first.RawNext) {
		t.Errorf("%q: %d targets, but %d as typed", text, len(first.Next), len(first.RawNext))
	}
}

func TestStripRemovesMarkersOfEveryKind(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain",
		"[NEXT: a][drop: ALL] x [From:b]y[TEAM_TASK: c\nd]": "x y",
		"`[FROM: a]` [FROM: b]":                             "`[FROM: a]` ",
	} {
		if got := marker.Strip(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestBeginFindsTheFirstMarker(t *testing.T) {
	for _, test := range []struct {
		text  string
		at    int
		begun bool
	}{
		{"plain", 5, false},
		{"a [NEXT: b] [DROP: c]", 2, true},
		{"a [drop:", 2, true},
		{"a [b] [ne", 6, false},
		{"a [", 2, false},
		{"a [FROM: b]", 11, false},
	} {
		if at, begun := marker.Begin(test.text); at != test.at || begun != test.begun {
			t.Errorf("%q: %d, %t, want %d, %t", test.text, at, begun, test.at, test.begun)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Fuzz(checkStable)
}

func BenchmarkParse(b *testing.B) {
	const unit = "Some text with `code` in it, and a list:\n\n- one\n- two\n\n```\n[NEXT: a]\n```\n\n"
	text := strings.Repeat(unit, 1000) + "[NEXT: bea]"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		marker.Parse(text)
	}
}

func ExampleParse() {
	m := marker.Parse("Looks good to me.\n\n[NEXT: bea, hugo!P1]")
	fmt.Printf("%q\n", m.Content)
	for _, target := range m.Next {
		fmt.Println(target.Identifier, target.Intent)
	}
	// Output:
	// "Looks good to me."
	// bea P2
	// hugo P1
}
