package setup

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/schemas"
)

func TestOfferIsRecordedPrivately(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	if err := recordOffer(home, time.Now()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, offeredFile)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := schemas.Check(schemas.TeamOffer, content); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]os.FileMode{path: 0o600, home: 0o700} {
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestChosenAgents(t *testing.T) {
	for answer, want := range map[string]string{
		"": "claude codex gemini", "Y": "claude codex gemini", "yes": "claude codex gemini", "n": "", "no": "", "2": "codex",
		"3, 1": "gemini claude", "1 1": "claude", "4": "", "0": "", "1,x": "", "1 2": "claude codex",
	} {
		if got := strings.Join(chosenAgents(answer, []string{"claude", "codex", "gemini"}), " "); got != want {
			t.Errorf("%q chooses %q, want %q", answer, got, want)
		}
	}
}
