package interchange_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// generated is a file whose lines are made as it is read.
type generated struct {
	lines   int
	line    func(w io.Writer, n int)
	atEnd   func() // may be nil
	next    int
	pending bytes.Buffer
}

func (g *generated) Read(p []byte) (int, error) {
	for g.next < g.lines && g.pending.Len() < 64<<10 {
		g.line(&g.pending, g.next)
		g.next++
	}
	if g.pending.Len() == 0 && g.atEnd != nil {
		g.atEnd()
	}
	return g.pending.Read(p)
}

// sourceOfLines returns the source of a generated transcript.
func sourceOfLines(lines int, atEnd func(), line func(w io.Writer, n int)) interchange.Source {
	return interchange.Source{
		Path: "/old/s.jsonl",
		Open: func() (io.ReadCloser, error) {
			return io.NopCloser(&generated{lines: lines, line: line, atEnd: atEnd}), nil
		},
	}
}

// writeClaudeLine writes the line n of a conversation whose line m is answered.
func writeClaudeLine(w io.Writer, n, m int) {
	role, parent := "user", "null"
	if n%2 == 1 {
		role = "assistant"
	}
	if m >= 0 {
		parent = fmt.Sprintf(`"%d"`, m)
	}
	fmt.Fprintf(w, `{"type":"%s","uuid":"%d","parentUuid":%s,"timestamp":"2026-11-21T12:00:00Z","message":{"content":"%d"}}`+"\n",
		role, n, parent, n)
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func TestTreeHoldsFewBytesPerLine(t *testing.T) {
	racetest.SkipSequential(t)
	const lines, most = 500_000, 42
	before, peak := heap(), int64(0)
	src := sourceOfLines(lines, func() { peak = max(peak, heap()) }, func(w io.Writer, n int) { writeClaudeLine(w, n, n-1) })
	s, err := interchange.Transcript("claude", src, app)
	if err != nil {
		t.Fatal(err)
	}
	if held := float64(peak-before) / lines; held > most {
		t.Errorf("the tree holds %.1f bytes for each line, want at most %d", held, most)
	} else {
		t.Logf("%.1f bytes for each line", held)
	}
	runtime.KeepAlive(s)
}

func TestParentsFarFromTheirNodes(t *testing.T) {
	racetest.SkipSequential(t)
	const lines = 140_001 // more than are near
	text := &strings.Builder{}
	for n := range lines {
		switch n {
		case 0:
			writeClaudeLine(text, n, -1)
		case lines - 1: // the conversation was rewound to its first message
			writeClaudeLine(text, n, 0)
		default:
			writeClaudeLine(text, n, n-1)
		}
	}
	s := mustReadTranscript(t, "claude", "/old/s.jsonl", text.String())
	if got, want := summary(t, s), "you: 0\nyou: 140000\n"; got != want {
		t.Errorf("got\n%.100s", got)
	}
	if len(s.Branches) != 1 {
		t.Errorf("%d other branches", len(s.Branches))
	}
}
