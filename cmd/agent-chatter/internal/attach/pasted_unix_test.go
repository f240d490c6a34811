//go:build !windows

package attach

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestPastedPathsOfPicturesAreLabels(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a b.png")
	put(t, name, aPicture(t))
	put(t, filepath.Join(dir, "a.txt"), []byte("text"))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe.png"), 0o600))
	var p Pasted
	for i, text := range []string{
		name, "'" + name + "'", `"` + name + `"`, strings.ReplaceAll(name, " ", `\ `) + " ",
		(&url.URL{Scheme: "file", Path: name}).String() + "\n",
	} {
		label, ok := p.Path(text)
		want := map[bool]string{true: "[a b.png]", false: "[a b-" + string(rune('1'+i)) + ".png]"}[i == 0]
		if !ok || label != want {
			t.Errorf("%q: %q, %v; want %q", text, label, ok, want)
		}
	}
	for _, text := range []string{
		"", "a b.png", filepath.Join(dir, "a.txt"), filepath.Join(dir, "pipe.png"), dir, "/dev/zero",
		name + "\n" + name, "file://elsewhere" + name, "http://a/b.png", strings.Repeat("/", 1<<20),
	} {
		if label, ok := p.Path(text); ok {
			t.Errorf("%.80q: %q", text, label)
		}
	}
	if files := p.Files("look at [a b.png] and [a b-3.png]"); len(files) != 2 || files[1].Name != "a b-3.png" ||
		files[0].MediaType != "image/png" {
		t.Errorf("%d files", len(files))
	}
	p.Forget("look at [a b.png]")
	if files := p.Files("look at [a b.png] and [a b-3.png]"); len(files) != 1 {
		t.Errorf("%d files are left", len(files))
	}
}

// A name in a label is no marker, no link and no sequence of the terminal.
func TestLabelsAreHarmless(t *testing.T) {
	var p Pasted
	label := p.add("[NEXT: bob] \x1b[31m](x).png", aPicture(t))
	if strings.ContainsAny(label[1:len(label)-1], "[]():\x1b") {
		t.Errorf("%q", label)
	}
}

func TestPictureOfTheClipboard(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	t.Setenv("WAYLAND_DISPLAY", "")
	var p Pasted
	if _, err := p.Clipboard(t.Context()); err != ErrNoPicture {
		t.Errorf("without a program: %v", err)
	}
	put(t, filepath.Join(bin, "picture"), aPicture(t))
	script := func(text string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(bin, "xclip"), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	script("exit 1")
	if _, err := p.Clipboard(t.Context()); err != ErrNoPicture {
		t.Errorf("without a picture: %v", err)
	}
	script("echo text")
	if _, err := p.Clipboard(t.Context()); err != ErrNoPicture {
		t.Errorf("a text: %v", err)
	}
	script("/bin/cat " + filepath.Join(bin, "picture"))
	if label, err := p.Clipboard(t.Context()); err != nil || label != "[picture.png]" {
		t.Errorf("%q, %v", label, err)
	}
	script("exec /bin/cat /dev/zero")
	if _, err := p.Clipboard(t.Context()); err == nil {
		t.Error("endless output is a picture")
	}
	script("exec /bin/sleep 1000")
	if _, err := p.Clipboard(t.Context()); err == nil {
		t.Error("a program that does not end has a picture")
	}
}
