package interchange_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// What other programs and crashes put around the objects of a file changes nothing of the session.
func TestForeignBytesChangeNoSession(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("testdata", "*", "*.json*"))
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, path := range names {
		name := strings.TrimPrefix(path, "testdata"+string(filepath.Separator))
		format := filepath.Dir(name)
		if strings.HasSuffix(name, ".steps") || format == "synapse" || format == "fuzz" {
			continue
		}
		text := string(transcript(t, name))
		read := func(text string) string {
			steps := steps(t, mustReadTranscript(t, format, "/old/"+name, text))
			return steps[:strings.LastIndexByte(steps, ',')] // without the number of lines that are skipped
		}
		want := read(text)
		for how, changed := range withForeignBytes(t, text) {
			tried++
			if got := detect(t, []byte(changed)); got != format {
				t.Errorf("%s with %s looks like %q", name, how, got)
			}
			if diff := cmp.Diff(want, read(changed)); diff != "" {
				t.Errorf("%s with %s (-want +got):\n%s", name, how, diff)
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d files were tried", tried)
	}
}

// withForeignBytes returns a text with bytes around its objects. A text of several objects has them on lines.
func withForeignBytes(t *testing.T, text string) map[string]string {
	var wide bytes.Buffer
	for _, unit := range utf16.Encode([]rune("\uFEFF" + text)) {
		wide.Write([]byte{byte(unit), byte(unit >> 8)})
	}
	all := map[string]string{
		"a byte order mark": "\uFEFF" + text,
		"UTF-16":            wide.String(),
		"CR LF":             strings.ReplaceAll(text, "\n", "\r\n"),
		"NUL at the end":    text + strings.Repeat("\x00", 1000),
		"a status first":    "Exporting session: x {y}\n" + text,
		"a status last":     text + "\nDone.\n",
		"no last newline":   strings.TrimRight(text, "\n"),
	}
	lines := slices.Collect(strings.Lines(strings.TrimSpace(text)))
	if len(lines) < 2 || slices.ContainsFunc(lines, func(line string) bool { return !json.Valid([]byte(line)) }) {
		return all
	}
	each := func(change func(line string) string) string {
		var b strings.Builder
		for _, line := range lines {
			b.WriteString(change(strings.TrimSpace(line)) + "\n")
		}
		return b.String()
	}
	all["no newlines"] = strings.ReplaceAll(text, "\n", "")
	all["NUL before lines"] = each(func(line string) string { return "\x00\x00" + line })
	all["NUL after lines"] = each(func(line string) string { return line + "\x00\x00" })
	all["record separators"] = each(func(line string) string { return "\x1e" + line })
	all["empty lines"] = each(func(line string) string { return line + "\n\n" })
	all["lines of a log"] = each(func(line string) string { return line + "\nwarning: {x}" })
	all["a log beside lines"] = each(func(line string) string { return "warning: " + line })
	all["torn lines before lines"] = each(func(line string) string { return line[:len(line)/2] + line })
	all["torn lines"] = each(func(line string) string { return line + "\n" + line[:len(line)/2] })
	all["commas"] = "[" + strings.TrimSuffix(each(func(line string) string { return line + "," }), ",\n") + "]"
	all["indentation"] = each(func(line string) string {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(line), "", "  "); err != nil {
			t.Fatal(err)
		}
		return b.String()
	})
	return all
}
