package regularfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

func TestReadReturnsAFileUpToTheLimit(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(name, []byte("twelve bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int64]string{11: "", 12: "twelve bytes", 13: "twelve bytes"} {
		data, err := regularfile.Read(name, limit)
		var size *regularfile.SizeError
		if string(data) != want || errors.As(err, &size) != (want == "") {
			t.Errorf("limit %d: %q, %v", limit, data, err)
		}
		if size != nil && (size.Limit != limit || !strings.Contains(err.Error(), name)) {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
}

func TestMissingFileIsNotExist(t *testing.T) {
	_, err := regularfile.Open(filepath.Join(t.TempDir(), "missing"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// wantKind opens a name in every way and checks that the error says what it is.
func wantKind(t *testing.T, name, kind string) {
	t.Helper()
	for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_APPEND, os.O_RDWR | os.O_CREATE, os.O_WRONLY} {
		f, err := regularfile.OpenFile(name, flag, 0o600)
		if err == nil {
			f.Close()
		}
		var path *fs.PathError
		var got *regularfile.KindError
		if !errors.As(err, &path) || path.Path != name || !errors.As(err, &got) || !strings.Contains(err.Error(), kind) {
			t.Errorf("flags %#x: %v, want an error that names %s and %s", flag, err, name, kind)
		}
	}
}

func TestDirectoryIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows says only that access is denied")
	}
	wantKind(t, t.TempDir(), "a directory")
}

func TestSymbolicLinkIsFollowedUnlessRefused(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	programtest.SkipOnWindows(t, os.Symlink(target, link))
	if data, err := regularfile.Read(link, 10); string(data) != "kept" {
		t.Errorf("%q, %v", data, err)
	}
	_, err := regularfile.OpenFile(link, os.O_RDWR|os.O_CREATE|regularfile.NoFollow, 0o600)
	var kind *regularfile.KindError
	if !errors.As(err, &kind) || kind.Mode&fs.ModeSymlink == 0 || !strings.Contains(err.Error(), "a symbolic link") {
		t.Error(err)
	}
}

func TestUnknownKindIsNotNamed(t *testing.T) {
	err := &regularfile.KindError{Mode: fs.ModeIrregular}
	if got, want := err.Error(), "it is no regular file, want a regular file"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
