package home_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
)

func key(t *testing.T, dir string) []byte {
	t.Helper()
	k, err := home.Key(dir)
	if err != nil || len(k) < 20 {
		t.Fatalf("key %q, %v", k, err)
	}
	return k
}

func TestKeyStays(t *testing.T) {
	dir := t.TempDir()
	if first := key(t, dir); !bytes.Equal(first, key(t, dir)) {
		t.Error("the key changed")
	}
	info, err := os.Stat(filepath.Join(dir, "id"))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestInvalidKeyIsReplaced(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "no JSON": "key", "short": `{"key":"A","directory":"","machine":""}`, "null": "null",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "id"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if first := key(t, dir); !bytes.Equal(first, key(t, dir)) {
				t.Error("the key changed")
			}
		})
	}
}
