package tracetest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// program is the path of the program.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tracetest")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "agent-chatter")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	return m.Run()
}

// home makes a home with the journals of earlier versions and a new session.
func home(t *testing.T) string {
	dir := t.TempDir()
	journals, err := filepath.Glob("../../../projection/testdata/journals/*.jsonl")
	if err != nil || len(journals) == 0 {
		t.Fatalf("no journals: %v", err)
	}
	for _, j := range journals {
		_ = exec.Command(program, "--home", dir, "sessions", "import", j).Run() // those that are damaged are refused
	}
	command(t, dir, "chat", "-m", "How do I build a shelf?")
	return dir
}

// command runs the program and returns what it prints.
func command(t *testing.T, home string, args ...string) []byte {
	t.Helper()
	var failed bytes.Buffer
	c := exec.Command(program, append([]string{"--home", home}, args...)...)
	c.Stderr = &failed
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, failed.String())
	}
	return out
}

// A listed session is one of `sessions --json`.
type listed struct {
	ID string `json:"id"`
}

func list(t *testing.T, home string) (all []listed) {
	t.Helper()
	lines := json.NewDecoder(bytes.NewReader(command(t, home, "sessions", "--output", "json", "--limit", "0")))
	for lines.More() {
		var one listed
		if err := lines.Decode(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// Each session is a trace whose spans the decoder reads: one for the session, in which the others are, one for each
// turn, and twice the same bytes.
func TestDecoderReadsEachSession(t *testing.T) {
	dir := home(t)
	all := list(t, dir)
	if len(all) < 5 {
		t.Fatalf("%d sessions", len(all))
	}
	tools := 0
	for _, s := range all {
		text := command(t, dir, "sessions", "export", s.ID, "--format", "otlp")
		if again := command(t, dir, "sessions", "export", s.ID, "--format", "otlp"); !bytes.Equal(text, again) {
			t.Errorf("%s: exported twice, it differs", s.ID)
		}
		traces, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(text)
		if err != nil {
			t.Fatalf("%s: %v", s.ID, err)
		}
		turns := 0
		parents := map[pcommon.SpanID]bool{}
		each(traces, func(span ptrace.Span) {
			parents[span.SpanID()] = true
			switch operation, _ := span.Attributes().Get("gen_ai.operation.name"); operation.Str() {
			case "invoke_agent":
				turns++
			case "execute_tool":
				tools++
			}
		})
		roots := 0
		each(traces, func(span ptrace.Span) {
			switch {
			case span.ParentSpanID().IsEmpty():
				roots++
			case !parents[span.ParentSpanID()]:
				t.Errorf("%s: %s has an unknown parent", s.ID, span.Name())
			}
			if span.TraceID().IsEmpty() || span.SpanID().IsEmpty() || span.EndTimestamp() < span.StartTimestamp() ||
				span.StartTimestamp() == 0 {
				t.Errorf("%s: %s of %v from %v to %v", s.ID, span.Name(), span.TraceID(), span.StartTimestamp(), span.EndTimestamp())
			}
		})
		if want := turnsOf(t, dir, s.ID); roots != 1 || turns != want {
			t.Errorf("%s: %d roots, %d turns of %d", s.ID, roots, turns, want)
		}
	}
	if tools == 0 {
		t.Error("no session has a tool call")
	}
}

// turnsOf counts the turns in the journal of a session.
func turnsOf(t *testing.T, home, id string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(home, "sessions", "*", id+".jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the journals of %s are %q", id, files)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	turns := map[string]bool{}
	for _, found := range turnEvent.FindAllSubmatch(content, -1) {
		turns[string(found[1])] = true
	}
	return len(turns)
}

// turnEvent matches an event that begins or ends a turn.
var turnEvent = regexp.MustCompile(`"type":"turn\.(?:started|ended)","data":{"turnId":"([^"]+)"`)

func each(traces ptrace.Traces, do func(ptrace.Span)) {
	for _, r := range traces.ResourceSpans().All() {
		for _, s := range r.ScopeSpans().All() {
			for _, span := range s.Spans().All() {
				do(span)
			}
		}
	}
}

// A collector that gets a session twice stores each span once. What is posted is what the manual says.
func TestCollectorStoresEachSpanOnce(t *testing.T) {
	dir := home(t)
	stored, received := map[[24]byte]string{}, 0
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		request := ptraceotlp.NewExportRequest()
		if err := request.UnmarshalJSON(body); err != nil || r.URL.Path != "/v1/traces" ||
			r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v", r.URL, err)
		}
		each(request.Traces(), func(span ptrace.Span) {
			received++
			var key [24]byte
			trace, id := span.TraceID(), span.SpanID()
			copy(key[:16], trace[:])
			copy(key[16:], id[:])
			if name, ok := stored[key]; ok && name != span.Name() {
				t.Errorf("%s and %s have one id", name, span.Name())
			}
			stored[key] = span.Name()
		})
	}))
	defer collector.Close()
	for range 2 {
		text := command(t, dir, "sessions", "export", "latest", "--format", "otlp")
		post := exec.Command("curl", "-f", "-H", "Content-Type: application/json",
			"-d", "@-", collector.URL+"/v1/traces")
		post.Stdin = bytes.NewReader(text)
		if out, err := post.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if len(stored) != 4 || received != 8 { // the session, the message, two turns
		t.Errorf("stored %d of %d", len(stored), received)
	}
}

// Nothing that was said is in a trace unless it is asked for.
func TestTextsAreLeftOut(t *testing.T) {
	dir := home(t)
	for _, s := range list(t, dir) {
		text := command(t, dir, "sessions", "export", s.ID, "--format", "otlp")
		for _, key := range []string{"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.call.arguments",
			"gen_ai.tool.call.result", "agent_chatter.title", "shelf"} {
			if bytes.Contains(text, []byte(key)) {
				t.Errorf("%s: the trace has %s", s.ID, key)
			}
		}
	}
	text := command(t, dir, "sessions", "export", "latest", "--format", "otlp", "--texts")
	if n := bytes.Count(text, []byte("shelf")); n < 3 {
		t.Errorf("with --texts, the trace has the word %d times", n)
	}
}
