//go:build unix

package console

import (
	"cmp"
	"os"
	"path/filepath"
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
		{"a removed file", "rm", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, problem := edit(t.Context(), "text", tt.command)
			if got != cmp.Or(tt.want, "text") || (problem != "") != (tt.want == "") {
				t.Errorf("got %q, %q", got, problem)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

func TestEditKeepsTextThatIsTooLong(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	long := textFile(t, "")
	if err := os.Truncate(long, maxEdited+1); err != nil {
		t.Fatal(err)
	}
	got, problem := edit(t.Context(), "text", "cp '"+long+"'")
	kept, err := filepath.Glob(filepath.Join(dir, "*", "message.md"))
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if got != "text" || problem != editedTooLongText(kept[0]) {
		t.Errorf("got %q, %q", got, problem)
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
	return path
}
