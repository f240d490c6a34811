package figures

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// initialize begins a connection of a client, by the command that it starts.
var initialize = map[string]string{
	"acp": `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}` + "\n",
	"mcp": `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"figures","version":"1"}}}` + "\n",
}

// client is a client of a command that speaks over standard input and output. It sends lines after the first one,
// closes the input, and reads all answers: it measures the whole process. It has the program by another name, since an
// older version may lack the command.
func (f *figures) client(t *testing.T, command, name, home, prints string, lines ...string) contestant {
	t.Helper()
	program := filepath.Join(f.dir, "agent-chatter-"+command)
	if err := os.Symlink(f.program, program); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	return contestant{
		name: name, home: home, prints: prints, args: []string{program, command},
		stdin: initialize[command] + strings.Join(lines, "\n"),
	}
}

// callOf is a request to search for a text.
func callOf(t *testing.T, text string) string {
	t.Helper()
	line, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": "search_sessions", "arguments": map[string]any{"query": text}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(line) + "\n"
}
