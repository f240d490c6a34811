//go:build !windows

package attach

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/attachment"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t testing.TB, name string, data []byte) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	must(t, os.WriteFile(name, data, 0o600))
}

// aPicture returns a small picture.
func aPicture(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	must(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))))
	return b.Bytes()
}

// attached returns the names, types and contents of the files that a message attaches.
func attached(t *testing.T, dir, text string) (all []string, err error) {
	t.Helper()
	files, err := Files(text, dir, func(name string) bool { return name == "ada" })
	for _, f := range files {
		content := string(f.Data)
		if f.MediaType != "text/plain" {
			content = "…"
		}
		all = append(all, f.Name+" "+f.MediaType+" "+content)
	}
	return all, err
}

func TestWordsOfAMessageAttachFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "main.go"), []byte("one\ntwo\nthree"))
	put(t, filepath.Join(dir, "a b", "c:1.txt"), []byte("colon"))
	put(t, filepath.Join(dir, "c:1.txt"), []byte("colon"))
	put(t, filepath.Join(dir, "src", "[id].tsx"), []byte("id"))
	put(t, filepath.Join(dir, "p.png"), aPicture(t))
	put(t, filepath.Join(dir, "ada"), []byte("not a member"))
	must(t, os.Symlink("main.go", filepath.Join(dir, "link")))
	whole := "main.go text/plain one\ntwo\nthree"
	for text, want := range map[string][]string{
		"no files":                          nil,
		"mail@main.go":                      nil,
		"@ada look":                         nil,
		"@types/node and @nothing.go":       nil,
		"@src/":                             nil,
		"@src":                              nil,
		"look at @main.go":                  {whole},
		"look at @./main.go, (@main.go)":    {whole},
		"@link.":                            {"link text/plain one\ntwo\nthree"},
		"@main.go:2":                        {"main.go:2-2 text/plain two\n"},
		"@main.go:2-9?":                     {"main.go:2-9 text/plain two\nthree"},
		"@c:1.txt":                          {"c:1.txt text/plain colon"},
		"@src/[id].tsx":                     {"src/[id].tsx text/plain id"},
		"@p.png and\n\t@main.go:3-3":        {"p.png image/png …", "main.go:3-3 text/plain three"},
		"@" + filepath.Join(dir, "main.go"): {whole},
	} {
		got, err := attached(t, dir, text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestWhatCannotBeAttachedIsRefused(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	put(t, filepath.Join(elsewhere, "secret"), []byte("secret"))
	put(t, filepath.Join(dir, "program"), []byte("\x7fELF\x00\x01"))
	put(t, filepath.Join(dir, "latin1.txt"), []byte("caf\xe9"))
	put(t, filepath.Join(dir, "two.txt"), []byte("1\n2\n"))
	put(t, filepath.Join(dir, "cut.png"), aPicture(t)[:20])
	var wide bytes.Buffer
	must(t, png.Encode(&wide, image.NewGray(image.Rect(0, 0, maxPixels+1, 1))))
	put(t, filepath.Join(dir, "wide.png"), wide.Bytes())
	must(t, os.Symlink(filepath.Join(elsewhere, "secret"), filepath.Join(dir, "out")))
	must(t, os.Symlink("/dev/zero", filepath.Join(dir, "zero")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	f, err := os.Create(filepath.Join(dir, "large"))
	must(t, err)
	must(t, errors.Join(f.Truncate(attachment.MaxBytes+1), f.Close()))
	for text, want := range map[string]string{
		"@" + filepath.Join(elsewhere, "secret"):                      "outside",
		"@../" + filepath.Base(elsewhere) + "/secret":                 "outside",
		"@../../../../../../../../../../../../../../../../etc/passwd": "outside",
		"@/etc/passwd": "outside",
		"@out":         "outside",
		"@zero":        "outside",
		"@pipe":        "a named pipe",
		"@cut.png":     "neither text nor a picture",
		"@wide.png":    "neither text nor a picture",
		"@program":     "neither text nor a picture",
		"@latin1.txt":  "neither text nor a picture",
		"@two.txt:3-4": "no such lines",
		"@two.txt:0-4": "no such lines",
		"@two.txt:2-1": "no such lines",
		"@large":       "an attachment has at most",
	} {
		got, err := attached(t, dir, "look at "+text)
		var refused *Error
		if len(got) > 0 || !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %.100q, %v", text, got, err)
		}
	}
}

func TestLinesOfALargeFile(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "long"), []byte(strings.Repeat("x", 200_000)+"\nsecond\n"+strings.Repeat("y", attachment.MaxBytes)))
	got, err := attached(t, dir, "@long:2")
	if err != nil || len(got) != 1 || got[0] != "long:2-2 text/plain second\n" {
		t.Errorf("%.100q, %v", got, err)
	}
	if _, err := attached(t, dir, "@long:1-3"); err == nil {
		t.Error("too much is attached")
	}
}
