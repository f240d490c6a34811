package interchange_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// Each text is cut after its limit, in bytes.
func TestTextsAreCutAtTheirLimit(t *testing.T) {
	const labels, paths, outputs = 1 << 10, 4 << 10, 64 << 10
	at := func(n int) string { return strings.Repeat("x", n) }
	for _, more := range []int{-1, 0, 1} {
		id, cwd, output := at(labels+more), at(paths+more), at(outputs+more)
		tool := func(n string) object { return object{"type": "tool_use", "id": n, "name": id, "input": object{}} }
		text := claudeLine(t, "1", "", "user", "go", "cwd", cwd) +
			claudeLine(t, id, "1", "assistant", []object{tool("t1"), tool("t2")}, "cwd", cwd) +
			claudeLine(t, "3", id, "user", []object{{"type": "tool_result", "tool_use_id": "t1", "content": output},
				{"type": "tool_result", "tool_use_id": "t2", "content": output, "is_error": true}}, "cwd", cwd) +
			claudeLine(t, "4", "3", "assistant", "done", "cwd", cwd) +
			line(t, object{"type": "custom-title", "customTitle": id})
		s := mustReadTranscript(t, "claude", "/old/s.jsonl", text)
		check := func(what string, got, limit int) {
			t.Helper()
			if want := min(limit+more, limit); got != want {
				t.Errorf("%s of %d bytes has %d, want %d", what, limit+more, got, want)
			}
		}
		check("directory", len(s.Created.CWD), paths)
		check("title", len(s.Title), labels)
		results := 0
		for _, p := range payloadsOf(t, s) {
			switch p := p.(type) {
			case projection.TurnStarted:
				check("id", len(p.TurnID), labels)
			case projection.ToolStarted:
				check("name of a tool", len(p.Name), labels)
			case projection.ToolCompleted:
				if results++; p.ToolID == "t2" {
					check("failure", len(p.Error), outputs)
					continue
				}
				check("output", len(p.Output), outputs)
				if want := int64(max(0, more)) * (outputs + 1); p.OutputBytes != want {
					t.Errorf("an output of %d bytes has a full length of %d, want %d", outputs+more, p.OutputBytes, want)
				}
			}
		}
		if results != 2 {
			t.Errorf("%d results", results)
		}
	}
}

// The subagent's transcript cannot be read: the rest of it is skipped, the session is imported.
func TestUnreadableSubagentIsSkipped(t *testing.T) {
	src := sourceOf("/old/s.jsonl", claudeLine(t, "1", "", "user", "go")+
		claudeLine(t, "2", "1", "assistant", useTool("t1"))+claudeLine(t, "3", "2", "user", toolResult("t1", "done"))+
		claudeLine(t, "4", "3", "assistant", "ready"))
	src.Subagent = func(string, string) (interchange.Source, bool) {
		return interchange.Source{Path: "/old/agent-a1.jsonl", Open: func() (io.ReadCloser, error) { return nil, errBroken }}, true
	}
	s, err := interchange.Transcript("claude", src, app)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := summary(t, s), "you: go\n  Bash {\"a\":\"t1\"} -> \"done\" \"\"\nclaude: ready\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s", got)
	}
	if skipped := importedOf(t, s).Skipped; skipped != 1 {
		t.Errorf("skipped %d lines", skipped)
	}
}

// A line that is too long is skipped, the next one is read.
func TestTooLongLineIsSkipped(t *testing.T) {
	racetest.SkipSequential(t)
	const limit = 64 << 20
	src := interchange.Source{Path: "/old/s.jsonl", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(strings.NewReader(claudeLine(t, "1", "", "user", "go")),
			&repeated{text: strings.Repeat("x", 1<<20), n: limit + 1},
			strings.NewReader("\n"+claudeLine(t, "2", "1", "assistant", "done")))), nil
	}}
	s, err := interchange.Transcript("claude", src, app)
	if err != nil {
		t.Fatal(err)
	}
	if got := summary(t, s); !strings.HasPrefix(got, "you: go\nclaude: done\n") {
		t.Errorf("got\n%s", got)
	}
	if skipped := importedOf(t, s).Skipped; skipped != 1 {
		t.Errorf("skipped %d lines", skipped)
	}
	src = interchange.Source{Path: "/old/s.jsonl", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.MultiReader(&repeated{text: strings.Repeat("x", 1<<20), n: limit + 1}, brokenReader{})), nil
	}}
	if _, err := interchange.Transcript("claude", src, app); !errors.Is(err, errBroken) {
		t.Errorf("an error in a line that is too long: %v", err)
	}
}

func TestErrorsOfBundlesNameTheirPlace(t *testing.T) {
	text := bundle(t, "legacy")
	last := strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n") + 1
	end := strings.Count(text, "\n")
	for name, test := range map[string]struct{ text, want string }{
		"no JSON":         {"text\n", "line 1: it is not the first line of a bundle"},
		"an object":       {`{"sessions":1}` + "\n", "line 1: it is not the first line of a bundle"},
		"another version": {`{"bundle":"9.0"}` + "\n", "line 1: version 9.0 is not supported: please upgrade agent-chatter"},
		"another number": {text[:last] + `{"end":"1.0","events":99}` + "\n",
			fmt.Sprintf("line %d: lines before this one are missing", end)},
		"no end": {text[:last], fmt.Sprintf("session 1 of the bundle, line %d: the bundle is truncated here", end)},
		"another last line": {strings.Replace(text, `{"end":"1.0"`, `{"end":"2.0"`, 1),
			fmt.Sprintf("line %d: it is not the last line of a bundle", end)},
	} {
		var got string
		for session := range interchange.ReadBundle(strings.NewReader(test.text), journal.DefaultMaxLine, nil) {
			for _, err := range session {
				if err != nil {
					got += err.Error()
				}
			}
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
