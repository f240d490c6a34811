package transfer

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

func TestReplacedSourceIsReported(t *testing.T) {
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		change  func(path string)
		refused bool
	}{
		"unchanged": {func(string) {}, false},
		"grown":     {func(path string) { write(path, rollout+rollout) }, false},
		"truncated": {func(path string) { write(path, rollout[:10]) }, true},
		"replaced": {func(path string) {
			write(path+".new", rollout)
			if err := os.Rename(path+".new", path); err != nil {
				t.Error(err)
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rollout.jsonl")
			write(path, rollout)
			src := fileSource(t.Context(), path, new(bool))
			first, err := src.Open()
			if err != nil {
				t.Fatal(err)
			}
			first.Close()
			test.change(path)
			again, err := src.Open()
			if err == nil {
				again.Close()
			}
			if refused := errors.As(err, new(*app.ExitError)); refused != test.refused {
				t.Errorf("opened again: %v", err)
			}
		})
	}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rollout.jsonl")
	if err := os.WriteFile(path, []byte(rollout), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f, err := fileSource(ctx, path, new(bool)).Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cancel()
	if _, err := io.ReadAll(f); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
}
