package jetstream_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream/natstest"
)

// TestFilesOfSealedSession searches what the server has written for the text of a session, its row, and the home.
func TestFilesOfSealedSession(t *testing.T) {
	identity := hubtest.NewIdentity(t)
	for name, tt := range map[string]struct {
		change func(*hub.Options)
		found  bool
	}{
		"plain":  {func(*hub.Options) {}, true},
		"sealed": {hubtest.Seal(identity), false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			url, stop, err := natstest.Start(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			e := open(t, jetstream.Options{URLs: []string{url}}, 1)(t)
			s := hub.Session{Team: "team", ID: "01JD0000000000000000000000"}
			ann := hubtest.NewMachine(t, e, s, "ann", hubtest.Open(identity), tt.change)
			ann.Write(t, "confidential text")
			w := ann.Claim(t, false)
			w.SetRow(map[string]string{"title": "confidential title"})
			if err := ann.Ship(t, w); err != nil {
				t.Fatal(err)
			}
			e.Close()
			stop()
			content := contentOf(t, dir)
			if !bytes.Contains(content, []byte(s.ID)) {
				t.Error("the files do not have the session")
			}
			for _, secret := range []string{"confidential text", "confidential title", "/home/ann"} {
				if bytes.Contains(content, []byte(secret)) != tt.found {
					t.Errorf("found %q: %v, want %v", secret, !tt.found, tt.found)
				}
			}
		})
	}
}

// contentOf returns the content of all files of a directory.
func contentOf(t *testing.T, dir string) (content []byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		content = append(content, data...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return content
}
