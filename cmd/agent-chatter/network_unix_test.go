//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

// onNetwork runs agent-chatter as if a path and everything below it were on a
// network file system.
func onNetwork(t *testing.T, network, home string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	var out, notices bytes.Buffer
	code = run(append([]string{"--home", home}, args...), app.IO{
		Stdin: stdin, Stdout: &out, Stderr: &notices,
		NetworkFS: func(path string) string {
			if path == network || strings.HasPrefix(path, network+string(filepath.Separator)) {
				return "NFS"
			}
			return ""
		},
	})
	return code, out.String(), notices.String()
}

func TestChatWarnsOnceOfNetworkFileSystem(t *testing.T) {
	here, there := filepath.Join(t.TempDir(), "home"), filepath.Join(t.TempDir(), "home")
	for _, home := range []string{here, there} {
		if code, _, notices := onNetwork(t, "/nowhere", home, "chat", "-m", "hello"); code != exitDone ||
			strings.Contains(notices, "network") {
			t.Fatalf("exit code %d: %s", code, notices)
		}
	}
	_, file := onlyJournal(t, there)
	for _, tt := range []struct {
		behaviour string
		network   string
		args      []string
		want      int
	}{
		{"the home", here, []string{"chat", "-m", "hello", "-m", "more"}, 1},
		{"the home of a session", here, []string{"chat", "--resume", "-m", "more"}, 1},
		{"nothing is kept", here, []string{"chat", "--no-save", "-m", "hello"}, 0},
		{"another place", there, []string{"chat", "-m", "hello"}, 0},
		{"the journal that is named", there, []string{"chat", "--session-file", file, "-m", "more"}, 1},
		{"not the journal that is named", here, []string{"chat", "--session-file", file, "-m", "more"}, 0},
		{"reading", here, []string{"replay", "latest"}, 0},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			code, answer, notices := onNetwork(t, tt.network, here, tt.args...)
			if code != exitDone || answer == "" {
				t.Errorf("exit code %d, answer %q: %s", code, answer, notices)
			}
			if got := strings.Count(notices, "may be on a network file system (NFS)"); got != tt.want {
				t.Errorf("the warning appears %d times, want %d: %s", got, tt.want, notices)
			}
		})
	}
}
