package interchange_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

func detect(t testing.TB, data []byte) string {
	t.Helper()
	format, err := interchange.Detect(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return format
}

func TestDetect(t *testing.T) {
	journalOf := func(bundle string) string { return strings.SplitN(bundle, "\n", 2)[1] }
	legacy := bundle(t, "legacy")
	snapshot := string(sample(t, "valid/session-snapshot-legacy.json"))
	const claude = `{"type":"user","message":{"role":"user","content":"hi"},"uuid":"1","sessionId":"s"}` + "\n"
	long := strings.Repeat("x", 2<<20)
	for name, test := range map[string]struct{ text, want string }{
		"nothing":                       {"", ""},
		"blank lines":                   {"\n\n", ""},
		"text":                          {"# agent-chatter\n\nA `README`: {}\n", ""},
		"number":                        {"7\n", ""},
		"list":                          {"[{\"role\":\"user\",\"content\":\"hi\"}]", ""},
		"object without fields":         {"{}", ""},
		"object with unknown fields":    {`{"a":{"bundle":1,"sessions":2},"b":[{"seq":1}]}`, ""},
		"lines with unknown fields":     {"{\"a\":1}\n{\"b\":1}\n", ""},
		"invalid name of a field":       {"{7\n" + claude, "claude"},
		"binary":                        {"\x00\xff{\n\x28\xb5\x2f\xfd", ""},
		"bundle":                        {legacy, "bundle"},
		"journal":                       {journalOf(legacy), "journal"},
		"journal with damaged first":    {"{\"seq\"x" + journalOf(legacy), "journal"},
		"journal with half a line":      {journalOf(legacy)[:60], "journal"},
		"snapshot":                      {snapshot, "snapshot"},
		"snapshot with byte-order mark": {"\uFEFF" + snapshot, "snapshot"},
		"snapshot without context":      {`{"schemaVersion":"1.0"}`, "snapshot"},
		"snapshot of a later version":   {`{"schemaVersion":"2.0","context":7`, "snapshot"},
		"team":                          {`{"schemaVersion":"1.2","team":{"name":"x"}}`, "team"},
		"agents":                        {`{"schemaVersion":"1.1","agents":{}}`, ""},
		"claude":                        {claude, "claude"},
		"claude after unknown lines":    {"nonsense\n{\"type\":\"mode\"}\n" + claude, "claude"},
		"claude after a long line":      {`{"type":"mode","x":"` + long + "\"}\n" + claude, "claude"},
		"claude after long text":        {long + "\n" + claude, "claude"},
		"claude without newline":        {strings.TrimSpace(claude), "claude"},
		"codex item":                    {`{"type":"message","role":"user","content":[]}`, "codex"},
		"gemini object": {
			"{\n \"sessionId\":\"s\",\n \"startTime\":\"2026\",\n \"messages\":[\n {\"role\":\"user\",\"content\":\"hi\"}\n]}\n",
			"gemini"},
		"last fields of a long object": {
			"{\n\"worker\":{\"a\":[\"" + long + "\"]},\n\"instructor\":{}}\n", "claude-master"},
		"opencode": {"{\n \"info\": {\"id\": \"ses_1\"},\n \"messages\": [", "opencode"},
		"pi":       {`{"type":"session","id":"1","timestamp":"2026","cwd":"/"}` + "\n", "pi"},
		"synapse":  {`{"role":"user","content":[]}` + "\n", "synapse"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := detect(t, []byte(test.text)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestDetectReturnsErrorOfReader(t *testing.T) {
	racetest.SkipSequential(t)
	broken := errors.New("broken")
	for _, start := range []string{"", "{", "text\n", strings.Repeat("text\n", 1<<20),
		`{"a":"` + strings.Repeat("x", 2<<20)} {
		r := io.MultiReader(strings.NewReader(start), iotest.ErrReader(broken))
		if got, err := interchange.Detect(r); !errors.Is(err, broken) {
			t.Errorf("after %d bytes: got %q, %v", len(start), got, err)
		}
	}
}

func FuzzDetect(f *testing.F) {
	f.Add([]byte(bundle(f, "legacy")))
	f.Add(sample(f, "valid/session-snapshot-legacy.json"))
	f.Add(transcript(f, "codex/one-tool.jsonl"))
	f.Fuzz(func(t *testing.T, data []byte) { detect(t, data) })
}
