package recall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestMain(m *testing.M) {
	journaltest.UseMemoryForTempDir()
	os.Exit(m.Run())
}

func sessionID(n int) string { return fmt.Sprintf("01KAH9TQ4GJ5X8C2VRB%07d", n) }

func teamDir(home, team string) *journal.Dir {
	return journal.NewDir(filepath.Join(home, "sessions", team), journal.Options{})
}

var (
	you  = projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
)

// write writes session n of a team, which ended n hours before noon. Its events are texts, which are messages, or
// payloads.
func write(t *testing.T, home, team string, n int, events ...any) {
	t.Helper()
	log, err := teamDir(home, team).Create(sessionID(n))
	if err != nil {
		t.Fatal(err)
	}
	at := noon.Add(-time.Duration(n) * time.Hour)
	records := []journal.Record{projection.Record(at, projection.SessionCreated{
		Format: projection.Format, SessionID: sessionID(n), CWD: "/projects/" + team,
		Team: projection.Team{ID: team, Name: team, Members: []projection.Member{
			{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI},
		}},
	})}
	for i, one := range events {
		p, ok := one.(projection.Payload)
		if !ok {
			p = projection.NewMessage(fmt.Sprint("m", i), at, you, one.(string), nil)
		}
		records = append(records, projection.Record(at, p))
	}
	if _, err := log.Append(records...); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// spoil damages the third line of a session, which is synced.
func spoil(t *testing.T, home, team string, n int) {
	t.Helper()
	log, err := teamDir(home, team).Open(t.Context(), sessionID(n))
	if err != nil {
		t.Fatal(err)
	}
	task := "Mend it"
	for range 2 {
		if _, err := log.Append(projection.Record(noon, projection.TaskSet{Task: &task})); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "sessions", team, sessionID(n)+".jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[2] = bytes.Replace(lines[2], []byte("content"), []byte("CONTENT"), 1)
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

func newRecall(t *testing.T, home, team string) *Recall {
	t.Helper()
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return New(a, team)
}

// connect returns a client of a server of the sessions of a team, or of all.
func connect(t *testing.T, home, team string) *sdk.ClientSession {
	t.Helper()
	ours, theirs := sdk.NewInMemoryTransports()
	server, err := newRecall(t, home, team).Server("1").Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		server.Wait()
	})
	return client
}

type arguments map[string]any

// call calls a tool, whose result must be valid, and returns it as text.
func call[Out any](t *testing.T, client *sdk.ClientSession, tool string, args arguments) (out Out, text string) {
	t.Helper()
	result, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	text = textOf(result)
	if result.IsError {
		t.Fatalf("%s %v: %s", tool, args, text)
	}
	structured, err := json.Marshal(result.StructuredContent)
	if err == nil {
		err = json.Unmarshal(structured, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	checkQuoted(t, text)
	if len(text) > 3*maxResult || len(structured) > 4*maxResult {
		t.Errorf("%s %v: the result has %d and %d bytes", tool, args, len(text), len(structured))
	}
	return out, text
}

// refused calls a tool, whose result must be an error, and returns its text.
func refused(t *testing.T, client *sdk.ClientSession, tool string, args arguments) string {
	t.Helper()
	result, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	if !result.IsError {
		t.Errorf("%s %v: %s", tool, args, textOf(result))
	}
	return textOf(result)
}

func textOf(result *sdk.CallToolResult) (text string) {
	for _, content := range result.Content {
		text += content.(*sdk.TextContent).Text
	}
	return text
}

// said marks what tests let a session say: it must be on quoted lines only.
const said = "SAID"

// checkQuoted reports what a session says outside of quotations.
func checkQuoted(t *testing.T, text string) {
	t.Helper()
	if !strings.HasPrefix(text, quoteNotice) {
		t.Errorf("no notice: %q", text)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.Contains(line, said) && !strings.HasPrefix(line, quotePrefix) {
			t.Errorf("the line %q is not quoted", line)
		}
		if strings.HasPrefix(strings.TrimSpace(line), quotePrefix) && !strings.HasPrefix(line, quotePrefix) {
			t.Errorf("the quotation %q does not begin its line", line)
		}
	}
}
