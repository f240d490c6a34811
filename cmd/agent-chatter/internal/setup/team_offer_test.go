package setup

import (
	"os"
	"path/filepath"
	"runtime"
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
