package doctor

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// install puts a package of npm with a program into a directory in PATH.
func install(t *testing.T, bin, program, name, manifest string) {
	t.Helper()
	dir := filepath.Join(bin, "node_modules", filepath.FromSlash(name))
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "dist"), 0o700),
		os.WriteFile(filepath.Join(dir, "package.json"), []byte(manifest), 0o600),
		os.WriteFile(filepath.Join(dir, "dist", "main.js"), []byte("#!/bin/sh\n"), 0o700),
		os.Symlink(filepath.Join(dir, "dist", "main.js"), filepath.Join(bin, program)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestUntriedAgentsAreNamed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("npm installs no links there")
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	install(t, bin, "codex-acp", "@agentclientprotocol/codex-acp", `{"name":"@agentclientprotocol/codex-acp","version":"9.0.1"}`)
	install(t, bin, "opencode", "opencode-ai", `{"name":"opencode-ai","version":"1.18.33"}`)
	install(t, bin, "codex", "mine", `{"name":"mine","version":"3.0.0"}`)
	install(t, bin, "gemini", "@google/gemini-cli", `{"name":"@google/gemini-cli","version":`)
	found := untriedAgents()
	if len(found) != 1 || !strings.Contains(found[0].What, "Codex (ACP) 9.0.1 was not tried") {
		t.Errorf("found %+v", found)
	}
}
