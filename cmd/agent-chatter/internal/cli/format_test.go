package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// A line of the format toy has the text of a message under the name of its speaker.
var _ = interchange.RegisterFormat(interchange.Format{
	Name:   "toy",
	Detect: func(o interchange.Fields) bool { return o.Has("toy") },
	Read: func(src interchange.Source, app projection.App) (*interchange.Session, error) {
		toy := src
		src.Open = func() (io.ReadCloser, error) { return asClaude(toy) }
		s, err := interchange.Transcript("claude", src, app)
		if err == nil {
			s.SetTeam("toy")
		}
		return s, err
	},
})

// asClaude returns a transcript of the format toy as one of Claude Code.
func asClaude(toy interchange.Source) (io.ReadCloser, error) {
	f, err := toy.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var text strings.Builder
	lines := bufio.NewScanner(f)
	for n := 0; lines.Scan(); n++ {
		m := regexp.MustCompile(`\{"toy":"(.*)","by":"(.*)"\}`).FindStringSubmatch(lines.Text())
		fmt.Fprintf(&text, `{"type":"%[1]s","uuid":"%[2]d","parentUuid":"%[3]d","sessionId":"s","timestamp":"2026-11-21T02:30:00Z",`+
			`"message":{"role":"%[1]s","content":[{"type":"text","text":"%[4]s"}]}}`+"\n", m[2], n, n-1, m[1])
	}
	return io.NopCloser(strings.NewReader(text.String())), lines.Err()
}

// A format is registered in one place: the command detects it, has its name in a flag and in messages, and imports it.
func TestRegisteredFormatIsImported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chat.jsonl")
	text := `{"toy":"Is it off?","by":"user"}` + "\n" + `{"toy":"It is off.","by":"assistant"}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	unknown := filepath.Join(t.TempDir(), "unknown.json")
	if err := os.WriteFile(unknown, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"sessions import " + path, app.ExitDone, "imported  2 of 2 messages"},
		{"sessions import --format toy " + path, app.ExitDone, "unchanged  0 of 2 messages"},
		{"sessions export --format md", app.ExitDone, "Is it off?"},
		{"sessions import " + unknown, app.ExitFailed, " and toy."},
		{"sessions import --format toys " + path, app.ExitUsage, "toy"},
	} {
		var printed strings.Builder
		code := Run(append([]string{"--home", home}, strings.Fields(test.args)...), app.IO{
			Stdin: os.Stdin, Stdout: &printed, Stderr: &printed,
		})
		if code != test.code || !strings.Contains(printed.String(), test.want) {
			t.Errorf("%s: exit code %d, want %d; printed\n%s", test.args, code, test.code, printed.String())
		}
	}
}
