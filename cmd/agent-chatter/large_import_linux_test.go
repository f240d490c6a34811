package main

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
)

var largeImport = flag.Int("large-import", 0, "size of the transcript in TestImportHoldsFewMegabytes, in MB; if set, the "+
	"test also logs how long encoding/json takes to decode it")

// TestImportHoldsFewMegabytes imports a dense transcript of Claude Code, once and
// again. To measure it at a size that matters:
//
//	go test ./cmd/agent-chatter -run ImportHoldsFewMegabytes -large-import 500 -v
func TestImportHoldsFewMegabytes(t *testing.T) {
	size := max(*largeImport, 40)
	if testing.Short() && *largeImport == 0 {
		t.Skip("writes 40 MB")
	}
	program, home := buildProgram(t), t.TempDir()
	path := filepath.Join(t.TempDir(), "0b0e3c2a-6f0e-4a9e-9a43-6b6f7c1d2e3f.jsonl")
	messages := writeDenseTranscript(t, path, size<<20)
	for i, want := range []string{
		fmt.Sprintf("imported  %d of %d messages", messages, messages),
		fmt.Sprintf("unchanged  0 of %d messages", messages),
	} {
		began := time.Now()
		cmd := exec.Command(program, "--home", home, "sessions", "import", path)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Fatalf("import %d: %v\n%s\nwant %s", i+1, err, out, want)
		}
		peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
		t.Logf("import %d of %d MB: %v, processor %v, peak %d MB", i+1, size, time.Since(began).Round(time.Millisecond),
			(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Millisecond), peak>>20)
		if most := int64(300 << 20); peak > most {
			t.Errorf("import %d: %d MB of memory, want at most %d", i+1, peak>>20, most>>20)
		}
	}
	if *largeImport > 0 {
		t.Logf("encoding/json: %v into any, %v into structs", decodeTime[any](t, path), decodeTime[denseLine](t, path))
	}
}

// denseLine is a line of a transcript of Claude Code.
type denseLine struct {
	Type       string `json:"type"`
	UUID       string `json:"uuid"`
	ParentUUID string `json:"parentUuid,omitempty"`
	SessionID  string `json:"sessionId"`
	Timestamp  string `json:"timestamp"`
	CWD        string `json:"cwd"`
	Message    struct {
		ID      string           `json:"id,omitempty"`
		Role    string           `json:"role"`
		Model   string           `json:"model,omitempty"`
		Content []map[string]any `json:"content"`
		Usage   map[string]int   `json:"usage,omitempty"`
	} `json:"message"`
	ToolUseResult any `json:"toolUseResult,omitempty"`
}

// writeDenseTranscript writes a transcript of the given size and returns its number of
// messages. Each prompt is followed by three calls of tools and an answer.
func writeDenseTranscript(t *testing.T, path string, size int) (messages int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	at, n, written, parent := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), 0, 0, ""
	add := func(kind, id string, block map[string]any, result any) {
		n++
		at = at.Add(time.Second)
		l := denseLine{
			Type: kind, UUID: fmt.Sprintf("%08x-0000-4000-8000-%012x", n, n), ParentUUID: parent, SessionID: "dense",
			Timestamp: at.Format(time.RFC3339Nano), CWD: "/home/dev/project", ToolUseResult: result,
		}
		l.Message.ID, l.Message.Role, l.Message.Content = id, kind, []map[string]any{block}
		if kind == "assistant" {
			l.Message.Model, l.Message.Usage = "model", map[string]int{"input_tokens": 10, "output_tokens": 5}
		}
		line, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(line)
		w.WriteByte('\n')
		parent, written = l.UUID, written+len(line)+1
	}
	code := strings.Repeat("\tif err := f(\"a\\n\", x); err != nil {\n\t\treturn fmt.Errorf(\"f: %w\", err)\n\t}\n", 40)
	for written < size {
		add("user", "", map[string]any{"type": "text", "text": fmt.Sprintf("What does part %d do?", n)}, nil)
		for range 3 {
			id := fmt.Sprintf("toolu_%08d", n)
			add("assistant", "msg_"+id, map[string]any{
				"type": "tool_use", "id": id, "name": "Read", "input": map[string]any{"file_path": id, "limit": 200},
			}, nil)
			add("user", "", map[string]any{"type": "tool_result", "tool_use_id": id, "content": code},
				map[string]any{"file": map[string]any{"content": code, "numLines": 120}})
		}
		add("assistant", fmt.Sprintf("msg_%d", n), map[string]any{"type": "text", "text": "It checks. " + code[:400]}, nil)
		messages += 2
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
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
