package home_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
)

func TestCreatedIdentityIsLoaded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "identities")
	if keys, err := home.LoadIdentities(dir); len(keys) != 0 || err != nil {
		t.Errorf("without a directory: %v, %v", keys, err)
	}
	recipient, err := home.CreateIdentity(dir, "laptop", time.Now())
	if err != nil || !strings.HasPrefix(recipient, "age1") {
		t.Fatalf("created %q: %v", recipient, err)
	}
	if _, err := home.CreateIdentity(dir, "laptop", time.Now()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created again: %v", err)
	}
	all, err := home.ListIdentities(dir)
	if err != nil || len(all) != 1 || all[0].Name != "laptop" || len(all[0].Recipients) != 1 ||
		all[0].Recipients[0] != recipient {
		t.Errorf("listed %+v: %v", all, err)
	}
	if parsed, err := home.ParseRecipients([]string{recipient}); err != nil || len(parsed) != 1 {
		t.Errorf("parsed %v: %v", parsed, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("files: %v, %v", entries, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "laptop.txt")); runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("mode %v: %v", info.Mode(), err)
	}
}

func TestInvalidNamesAreRefused(t *testing.T) {
	for _, name := range []string{"", ".", "../x", "a/b", "a b", "-x", strings.Repeat("x", 65), "é", "x\x00"} {
		_, err := home.CreateIdentity(t.TempDir(), name, time.Now())
		if invalid := (*home.IdentityNameError)(nil); !errors.As(err, &invalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestHostileIdentities(t *testing.T) {
	const secret = "AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQQSSSSSSSS"
	for name, content := range map[string]string{
		"empty": "", "no key": "hello\n", "a broken key": secret + "\n", "binary": "\x00\xff", "huge": strings.Repeat("#\n", 64<<10),
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "key.txt"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		keys, err := home.LoadIdentities(dir)
		if err == nil || len(keys) > 0 || strings.Contains(err.Error(), "QQQQ") {
			t.Errorf("%s: %v, %v", name, keys, err)
		}
	}
	dir := t.TempDir()
	if _, err := home.CreateIdentity(dir, "key", time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "key.txt"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := home.LoadIdentities(dir)
	if shared := (*home.IdentitySharedError)(nil); runtime.GOOS != "windows" && !errors.As(err, &shared) {
		t.Errorf("a file that others can read: %v", err)
	}
}

func TestInvalidRecipientsAreRefused(t *testing.T) {
	for _, text := range []string{"", "age1", "ssh-ed25519 AAAA", "age1qqqq\nage1qqqq", "AGE-SECRET-KEY-1"} {
		if _, err := home.ParseRecipients([]string{text}); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
