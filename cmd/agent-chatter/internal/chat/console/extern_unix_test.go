//go:build unix

package console

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEditRemovesItsFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, tt := range []struct{ name, command, want string }{
		{"unchanged", "true", "text"},
		{"a command with arguments", "cp " + textFile(t, "other\n"), "other"},
		{"a quoted argument", "cp '" + textFile(t, "other\n") + "'", "other"},
		{"a failing editor", "false", ""},
		{"an editor that is killed", "sh -c 'kill -9 $$'", ""},
		{"a missing editor", "/missing/editor", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := edit(t.Context(), "text", tt.command)
			if got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("got %q, %v", got, err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

func TestEditorIsVisualThenEditor(t *testing.T) {
	for _, tt := range []struct{ visual, editor, want string }{
		{"a b", "c", "a b"}, {" ", "c", "c"}, {"", "", "vi"},
	} {
		t.Setenv("VISUAL", tt.visual)
		t.Setenv("EDITOR", tt.editor)
		if got := editorCommand(); got != tt.want {
			t.Errorf("%q, %q: %q, want %q", tt.visual, tt.editor, got, tt.want)
		}
	}
}

func textFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(path, " \t") {
		t.Skip("the temporary directory has a blank in its name")
	}
	return path
}
