package interchange_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
)

var errBroken = errors.New("broken")

// brokenReader fails at once.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

// failingSource returns a source with this text. After n openings, the next one fails, or opens and then the
// reading fails.
func failingSource(text string, n int, opens bool) (src interchange.Source, opened *int) {
	opened = new(int)
	return interchange.Source{Path: "/old/s.jsonl", Open: func() (io.ReadCloser, error) {
		*opened++
		switch {
		case *opened != n+1:
			return io.NopCloser(strings.NewReader(text)), nil
		case opens:
			return io.NopCloser(brokenReader{}), nil
		}
		return nil, errBroken
	}}, opened
}

// readAll reads a session with its branches and returns their first error.
func readAll(format string, src interchange.Source) error {
	var s *interchange.Session
	var err error
	if format == "synapse" {
		s, err = readSynapse(src, nil, time.Unix(1e9, 0))
	} else {
		s, err = interchange.Transcript(format, src, app)
	}
	if err != nil {
		return err
	}
	sessions := []*interchange.Session{s}
	for _, branch := range s.Branches {
		other, err := branch()
		if err != nil {
			return err
		}
		sessions = append(sessions, other)
	}
	for _, s := range sessions {
		for _, err := range s.Records() {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Each opening of a source fails in turn, and the reading after it.
func TestEachErrorOfSourceIsReturned(t *testing.T) {
	for name, test := range map[string]struct{ format, text string }{
		"Claude Code":                 {"claude", conversation(t, "claude", "1", "x", "2026-11-21T12:00:00Z", "1")},
		"Claude Code with branches":   {"claude", claudeBranches(t)},
		"Claude Code, missing parent": {"claude", claudeLine(t, "2", "1", "user", "go")},
		"Codex":                       {"codex", string(transcript(t, "codex/resumed.jsonl"))},
		"Codex, one object":           {"codex", string(transcript(t, "codex/whole-file.json"))},
		"Gemini CLI":                  {"gemini", string(transcript(t, "gemini/one-tool.jsonl"))},
		"Gemini CLI, one object":      {"gemini", "{\n" + `"sessionId":"s","messages":[{"id":"1","type":"user","content":"go"}]}`},
		"Gemini CLI, damaged":         {"gemini", "{\n" + `{"id":"1","type":"user","content":"go"}`},
		"OpenCode":                    {"opencode", string(transcript(t, "opencode/interrupted.json"))},
		"Pi with branches":            {"pi", string(transcript(t, "pi/branches.jsonl"))},
		"claude-master":               {"claude-master", string(transcript(t, "claude-master/state.json"))},
		"log of claude-master":        {"claude-master", string(transcript(t, "claude-master/log.jsonl"))},
		"Synapse":                     {"synapse", string(transcript(t, "synapse/three-lines.jsonl"))},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 0; ; n++ {
				for _, opens := range []bool{false, true} {
					src, opened := failingSource(test.text, n, opens)
					err := readAll(test.format, src)
					if *opened <= n {
						if err != nil || n == 0 {
							t.Errorf("opened %d times: %v", n, err)
						}
						return
					}
					if !errors.Is(err, errBroken) {
						t.Errorf("after %d openings (the next one succeeds: %t): %v", n, opens, err)
					}
				}
			}
		})
	}
}

func claudeBranches(t *testing.T) string {
	return claudeLine(t, "1", "", "user", "go") + claudeLine(t, "2", "1", "assistant", "one way") +
		claudeLine(t, "3", "1", "assistant", "another way")
}

// The caller may stop after each record.
func TestRecordsCanBeStopped(t *testing.T) {
	for _, format := range formats {
		s := readAny(t, format, conversation(t, format, "1", "x", "2026-11-21T12:00:00Z", "1"))
		all := len(recordsOf(t, s))
		for stop := 1; stop <= all; stop++ {
			n := 0
			for _, err := range s.Records() {
				if n++; err != nil {
					t.Errorf("%s: record %d: %v", format, n, err)
				}
				if n == stop {
					break
				}
			}
			if n != stop {
				t.Errorf("%s: %d records, want %d", format, n, stop)
			}
		}
	}
}

// bundleTo writes a bundle of two sessions with the same events.
func bundleTo(w io.Writer, events []journal.Event) error {
	b, err := interchange.NewBundle(w, app, 2, false)
	if err != nil {
		return err
	}
	for range 2 {
		if err := b.Add(projectiontest.Sequence(events, nil), nil); err != nil {
			return err
		}
	}
	return b.Close()
}

func TestBundleWriterReturnsErrors(t *testing.T) {
	events, err := readBundle(bundle(t, "legacy"))
	if err != nil {
		t.Fatal(err)
	}
	var whole strings.Builder
	if err := bundleTo(&whole, events); err != nil {
		t.Fatal(err)
	}
	for n := range whole.Len() {
		if err := bundleTo(&fullWriter{n}, events); !errors.Is(err, errFull) {
			t.Errorf("full after %d of %d bytes: %v", n, whole.Len(), err)
		}
	}
	if err := bundleTo(&fullWriter{whole.Len()}, events); err != nil {
		t.Error(err)
	}
	var out strings.Builder
	if n, err := interchange.WriteJournal(&out, projectiontest.Sequence(events[:2], errBroken)); n != 2 || !errors.Is(err, errBroken) {
		t.Errorf("%d events written before an error: %v", n, err)
	}
	invalid := journal.Event{Type: "no type", Time: events[0].Time, Data: []byte("{}")}
	if n, err := interchange.WriteJournal(&out, projectiontest.Sequence(append(events[:1:1], invalid), nil)); n != 1 || err == nil {
		t.Errorf("%d events written before an invalid one: %v", n, err)
	}
}

// The error is reported once, by the last session.
func TestBundleReturnsErrorOfReader(t *testing.T) {
	text := bundle(t, "legacy", "new-format")
	for _, n := range []int{0, 1, strings.Index(text, "\n") + 1, len(text) / 2, len(text) - 1, len(text)} {
		failures := 0
		r := io.MultiReader(strings.NewReader(text[:n]), brokenReader{})
		for session := range interchange.ReadBundle(r, journal.DefaultMaxLine, nil) {
			for _, err := range session {
				if err != nil {
					failures++
				}
				if err != nil && !errors.Is(err, errBroken) {
					t.Errorf("after %d bytes: %v", n, err)
				}
			}
		}
		if failures != 1 {
			t.Errorf("%d errors after %d bytes", failures, n)
		}
	}
}
