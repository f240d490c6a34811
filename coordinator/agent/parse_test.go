package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// A parser parses the lines of one turn. Its events depend on the lines alone.
type parser interface {
	// parse returns the events of the next line: those for the consumer, and verdict and unparsedLine for the engine.
	parse(line []byte) []Event
}

// parsed returns the events of a stream, formatted, with adjacent texts joined.
func parsed(p parser, stream []byte) []string {
	var lines []string
	var reply strings.Builder
	flush := func() {
		if reply.Len() > 0 {
			lines = append(lines, fmt.Sprintf("text %q", reply.String()))
			reply.Reset()
		}
	}
	for line := range bytes.Lines(stream) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		for object := range jsonlines.Objects(line) {
			for _, e := range p.parse(object) {
				if text, ok := e.(Text); ok {
					reply.WriteString(text.Text)
					continue
				}
				flush()
				lines = append(lines, describe(e))
			}
		}
	}
	flush()
	return lines
}

func describe(e Event) string {
	switch e := e.(type) {
	case SessionStarted:
		return "session " + e.ID
	case Usage:
		context, cost := "", e.Cost
		if cost == nil {
			cost = e.Total
		}
		if e.Window > 0 {
			context = fmt.Sprintf(", context %d of %d", e.Context, e.Window)
		}
		return fmt.Sprintf("used %d+%d+%d %d+%d %v%s",
			e.Input, e.CachedRead, e.CachedWrite, e.Output, e.Thought, cost, context)
	case Plan:
		var entries []string
		for _, entry := range e.Entries {
			entries = append(entries, fmt.Sprintf(" %s %q", entry.Status, entry.Content))
		}
		return "plan" + strings.Join(entries, ",")
	case Retry:
		return fmt.Sprintf("retry %d/%d in %v: %s", e.Try, e.Max, e.Wait, e.Reason)
	case ToolStarted:
		return fmt.Sprintf("started %s %s %s", e.ID, e.Name, e.Input)
	case ToolCompleted:
		return fmt.Sprintf("completed %s %s %q %q", e.ID, e.Name, e.Output, e.Error)
	case verdict:
		if e.failed {
			return "failed: " + apiMessage(e.message)
		}
		return "done"
	case unparsedLine:
		return "unparsed: " + string(e)
	}
	return fmt.Sprintf("%#v", e)
}

// A streamTest is output of an agent and the events parsed from it. TestRecordedAgents parses the
// output of real agents.
type streamTest struct {
	name, lines string
	want        []string
}

func checkStreams(t *testing.T, newParser func() parser, tests []streamTest) {
	for _, s := range tests {
		t.Run(strings.ReplaceAll(s.name, " ", "-"), func(t *testing.T) {
			// A line that starts with a tab continues the previous one.
			lines := strings.ReplaceAll(s.lines, "\n\t", "")
			if diff := cmp.Diff(s.want, parsed(newParser(), []byte(lines))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// addRecordings adds the recorded output of an agent to the seed corpus.
func addRecordings(f *testing.F, agent string) {
	files, err := filepath.Glob(filepath.Join("testdata", "streams", agent+"-*.rec"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no recordings of %s: %v", agent, err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var output []byte
		for line := range bytes.Lines(content) {
			if line, ok := bytes.CutPrefix(line, []byte("< ")); ok {
				output = append(output, line...)
			}
		}
		f.Add(output)
	}
}

// fuzzParser checks that a parser does not panic, yields no empty or invalid text, and yields the same events of whole
// lines if other text, or a missing line break, joins them.
func fuzzParser(f *testing.F, newParser func() parser) {
	f.Fuzz(func(t *testing.T, content []byte) {
		p := newParser()
		for line := range bytes.Lines(content) {
			for _, e := range p.parse(bytes.TrimSpace(line)) {
				if text, ok := e.(Text); ok && (text.Text == "" || !utf8.ValidString(text.Text)) {
					t.Errorf("line %q: empty or invalid text %q", line, text.Text)
				}
			}
		}
		want := parsed(newParser(), content)
		var glued, titled []byte
		for line := range bytes.Lines(content) {
			line = bytes.TrimSpace(line)
			if !json.Valid(line) || line[0] != '{' {
				return
			}
			glued, titled = append(glued, line...), append(append(titled, "\x1b]0;title\a\uFEFF"...), line...)
			titled = append(titled, '\n')
		}
		for _, stream := range [][]byte{glued, titled} {
			if diff := cmp.Diff(want, parsed(newParser(), stream)); diff != "" {
				t.Errorf("%q:\n%s", stream, diff)
			}
		}
	})
}

func TestAPIMessage(t *testing.T) {
	for reason, want := range map[string]string{
		`API Error: 400 no credit`:                                  `API Error: 400 no credit`,
		`{"error":{"type":"x","code":null,"message":"no credit"}}`:  `no credit`,
		`[API Error: {"error":{"code":400,"message":"no credit"}}]`: `API Error: no credit`,
		`{"error":"no credit"}`:                                     `{"error":"no credit"}`,
		` {"error":{}}`:                                             `{"error":{}}`,
		`429 {`:                                                     `429 {`,
		`} 429`:                                                     `} 429`,
		` } { `:                                                     `} {`,
		``:                                                          ``,
	} {
		if got := apiMessage(reason); got != want {
			t.Errorf("apiMessage(%s) = %q, want %q", reason, got, want)
		}
	}
}

func TestAbbreviateCutsNoWord(t *testing.T) {
	x := strings.Repeat
	for _, tt := range []struct {
		text  string
		limit int
		want  string
	}{
		{"one two", 7, "one two"},
		{"one two!", 7, "one…"},
		{"one\ttwo three", 11, "one\ttwo…"},
		{"onetwothree", 10, "onetwot…"},
		{" onetwothree", 10, " onetwo…"},
		{"onetwo語", 8, "onetw…"},
		{"ab語語", 7, "ab…"},
		{"a " + x("x", 600), 517, "a…"},                     // a word of 512 bytes was cut
		{"a " + x("x", 600), 518, "a " + x("x", 513) + "…"}, // of 513
		{"ab " + x("x", 600), 518, "ab…"},
	} {
		if got := abbreviate(tt.text, tt.limit); got != tt.want || len(got) > tt.limit {
			t.Errorf("%d bytes of %q are %q, want %q", tt.limit, tt.text, got, tt.want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	x := strings.Repeat
	for text, want := range map[string]string{
		"1 2 3 4 5 6 7 8":                   "1 2 3 4 5 6 7 8",
		"1 2 3 4 5 6 7 8 9":                 "1 2 3 4 5 6 7 8 …",
		"1 2 3 4 5 6 7 8\n":                 "1 2 3 4 5 6 7 8",
		x("x", 295):                         x("x", 295),
		x("x", 296):                         x("x", 295) + " …",
		x("x", 294) + " y":                  x("x", 294) + " y",
		x("x", 295) + " y":                  x("x", 295) + " …",
		x("語", 98):                          x("語", 98),
		x("語", 99):                          x("語", 98) + " …",
		"  a\t\n b.,;: ":                    "a b",
		"[a] “b”\x1b\u202e":                 "(a) ‘b’",
		"1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11": "1, 2, 3, 4, 5, 6, 7, 8 …",
	} {
		if got := excerpt(text); got != want {
			t.Errorf("the excerpt of %q is %q, want %q", text, got, want)
		}
	}
}

func TestUnfinishedTurnReason(t *testing.T) {
	killed := &process.ExitError{Code: 3}
	for _, tt := range []struct {
		exit                      *process.ExitError
		stderr, warning, unparsed string
		want                      string
	}{
		{nil, "", "", "", "it exited with code 0 before its turn was finished"},
		{nil, "oops", "", "", "it exited with code 0 before its turn was finished: oops"},
		{nil, "oops", "429", "hi", "it exited with code 0 before its turn was finished: 429"},
		{nil, "oops", "", "hi", "it exited with code 0 before its turn was finished, and printed “hi”, which is not the expected format"},
		{killed, "oops", "", "hi", "it exited with code 3 before its turn was finished: oops"},
		{killed, "", "", "hi", "it exited with code 3 before its turn was finished, and printed “hi”, which is not the expected format"},
		{killed, "", "", "", "it exited with code 3 before its turn was finished"},
	} {
		err := profile{name: "It"}.unfinished(tt.exit, tt.stderr, tt.warning, tt.unparsed)
		if got, _, _ := strings.Cut(err.Error(), "; "); got != "It failed: "+tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
