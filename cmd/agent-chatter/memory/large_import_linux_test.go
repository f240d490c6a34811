package memory

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

var largeImport = flag.Int("large-import", 0, "size of the transcript in TestImportHoldsFewMegabytes, in MB; if set, the "+
	"test also logs how long encoding/json takes to decode it")

// TestImportHoldsFewMegabytes imports transcripts of Claude Code with long and with short
// lines, once and again. To measure them at a size that matters:
//
//	go test ./cmd/agent-chatter/memory -run ImportHoldsFewMegabytes -large-import 500 -v
func TestImportHoldsFewMegabytes(t *testing.T) {
	size := max(*largeImport, 40)
	if !sizetest.Full() && *largeImport == 0 {
		t.Skip("writes 40 MB for each transcript")
	}
	for name, write := range map[string]func(*testing.T, string, int) int{
		"long lines": writeLongLines, "short lines": writeShortLines,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "0b0e3c2a-6f0e-4a9e-9a43-6b6f7c1d2e3f.jsonl")
			messages := write(t, path, size<<20)
			most := min(140+size/3, 300) // MB; the program uses up to 150 before it collects more often
			used := importTwice(t, path, messages, int64(most)<<20)
			if *largeImport > 0 {
				dynamic, typed := decodeTime[any](t, path), decodeTime[denseLine](t, path)
				t.Logf("encoding/json: %v into any, %v into structs; the import takes %.1f and %.1f times as long",
					dynamic, typed, float64(used)/float64(dynamic), float64(used)/float64(typed))
			}
		})
	}
}

// importTwice imports a transcript once and again, each time with at most the given bytes of
// memory. It returns how much processor time the first import takes.
func importTwice(t *testing.T, path string, messages int, most int64) (first time.Duration) {
	t.Helper()
	home := t.TempDir()
	for i, want := range []string{
		fmt.Sprintf("imported  %d of %d messages", messages, messages),
		fmt.Sprintf("unchanged  0 of %d messages", messages),
	} {
		resetPeak(t)
		began := time.Now()
		cmd := exec.Command("agent-chatter", "--home", home, "sessions", "import", path)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Fatalf("import %d: %v\n%s\nwant %s", i+1, err, out, want)
		}
		used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		peak := peakMemory(cmd)
		t.Logf("import %d: %v, processor %v, peak %d MB", i+1, time.Since(began).Round(time.Millisecond),
			used.Round(time.Millisecond), peak>>20)
		if peak > most {
			t.Errorf("import %d: %d MB of memory, want at most %d", i+1, peak>>20, most>>20)
		}
		if i == 0 {
			first = used
		}
	}
	return first
}

// denseLine is a line of a transcript of Claude Code.
type denseLine struct {
	Type       string `json:"type"`
	UUID       string `json:"uuid"`
	ParentUUID string `json:"parentUuid,omitempty"`
	SessionID  string `json:"sessionId"`
	Timestamp  string `json:"timestamp"`
	CWD        string `json:"cwd,omitempty"`
	Message    struct {
		ID      string           `json:"id,omitempty"`
		Role    string           `json:"role"`
		Model   string           `json:"model,omitempty"`
		Content []map[string]any `json:"content"`
		Usage   map[string]int   `json:"usage,omitempty"`
	} `json:"message"`
	ToolUseResult any `json:"toolUseResult,omitempty"`
}

// lineWriter writes the lines of a transcript, each an answer to the line before.
type lineWriter struct {
	t          *testing.T
	w          *bufio.Writer
	at         time.Time
	n, written int
	parent     string
}

func (l *lineWriter) add(kind, id string, block map[string]any, result any) {
	l.t.Helper()
	l.n++
	l.at = l.at.Add(time.Second)
	line := denseLine{
		Type: kind, UUID: fmt.Sprintf("%08x-0000-4000-8000-%012x", l.n, l.n), ParentUUID: l.parent, SessionID: "dense",
		Timestamp: l.at.Format(time.RFC3339Nano), ToolUseResult: result,
	}
	line.Message.ID, line.Message.Role, line.Message.Content = id, kind, []map[string]any{block}
	if result != nil {
		line.CWD = "/home/dev/project"
	}
	if id != "" {
		line.Message.Model, line.Message.Usage = "model", map[string]int{"input_tokens": 10, "output_tokens": 5}
	}
	data, err := json.Marshal(line)
	if err != nil {
		l.t.Fatal(err)
	}
	l.w.Write(data)
	l.w.WriteByte('\n')
	l.parent, l.written = line.UUID, l.written+len(data)+1
}

// writeLines writes a transcript with the given function until it has the given size.
func writeLines(t *testing.T, path string, size int, write func(*lineWriter)) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := &lineWriter{t: t, w: bufio.NewWriterSize(f, 1<<20), at: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	for l.written < size {
		write(l)
	}
	if err := l.w.Flush(); err != nil {
		t.Fatal(err)
	}
}

func text(format string, a ...any) map[string]any {
	return map[string]any{"type": "text", "text": fmt.Sprintf(format, a...)}
}

// writeLongLines writes a transcript and returns its number of messages. Each prompt is
// followed by three calls of tools, with their results, and an answer.
func writeLongLines(t *testing.T, path string, size int) (messages int) {
	code := strings.Repeat("\tif err := f(\"a\\n\", x); err != nil {\n\t\treturn fmt.Errorf(\"f: %w\", err)\n\t}\n", 40)
	writeLines(t, path, size, func(l *lineWriter) {
		l.add("user", "", text("What does part %d do?", l.n), nil)
		for range 3 {
			id := fmt.Sprintf("toolu_%08d", l.n)
			l.add("assistant", "msg_"+id, map[string]any{
				"type": "tool_use", "id": id, "name": "Read", "input": map[string]any{"file_path": id, "limit": 200},
			}, nil)
			l.add("user", "", map[string]any{"type": "tool_result", "tool_use_id": id, "content": code},
				map[string]any{"file": map[string]any{"content": code, "numLines": 120}})
		}
		l.add("assistant", fmt.Sprintf("msg_%d", l.n), text("It checks. %s", code[:400]), nil)
		messages += 2
	})
	return messages
}

// writeShortLines writes a transcript of short prompts and answers and returns its number
// of messages.
func writeShortLines(t *testing.T, path string, size int) (messages int) {
	writeLines(t, path, size, func(l *lineWriter) {
		l.add("user", "", text("go"), nil)
		l.add("assistant", "", text("ok"), nil)
		messages += 2
	})
	return messages
}

// decodeTime returns how much processor time encoding/json takes to decode all lines of a
// file.
func decodeTime[T any](t *testing.T, path string) time.Duration {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	began := processorTime(t)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
	}
	return (processorTime(t) - began).Round(time.Millisecond)
}

// processorTime returns the time that the test has used of the processor.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
