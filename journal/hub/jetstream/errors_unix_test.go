//go:build !windows

package jetstream_test

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// Opening a named pipe waits for another program.
func TestNamedPipesAreNoCredentials(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range []jetstream.Options{{Credentials: pipe}, {CA: pipe}, {Cert: pipe, Key: pipe}} {
		o.URLs = []string{"nats://127.0.0.1:1"}
		if _, err := jetstream.Open(t.Context(), o); !errors.As(err, new(*regularfile.KindError)) {
			t.Error(err)
		}
	}
}
