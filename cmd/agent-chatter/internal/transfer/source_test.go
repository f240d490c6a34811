package transfer

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// compress writes a text to a file, compressed.
func compress(t *testing.T, name, text string, options ...zstd.EOption) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, options...)
	if err == nil {
		_, err = io.WriteString(w, text)
		err = errors.Join(err, w.Flush()) // so that the window is not that of the text
		err = errors.Join(err, w.Close(), os.WriteFile(path, b.Bytes(), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// detect returns the format of a file.
func detect(path string) (string, error) {
	f, _, err := openSource(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return interchange.Detect(f)
}

func TestCompressedSource(t *testing.T) {
	path := compress(t, "rollout.jsonl.zst", rollout)
	f, _, err := openSource(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f)
	if string(got) != rollout || err != nil || f.Close() != nil {
		t.Errorf("%q, %v", got, err)
	}
	if format, err := detect(path); format != "codex" || err != nil {
		t.Errorf("it looks like %q, %v", format, err)
	}
}

func TestCompressedSourceIsBounded(t *testing.T) {
	long := strings.Repeat(rollout, 1000)
	f, _, err := openSource(compress(t, "long.jsonl.zst", long))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := f.(*compressedFile)
	for limit, fails := range map[int64]bool{int64(len(long)): false, int64(len(long)) - 1: true} {
		c.left = limit
		if _, err := c.f.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if err := c.d.Reset(c.f); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(c); (err != nil) != fails {
			t.Errorf("with a limit of %d bytes: %v", limit, err)
		}
	}
	// A decoder would need the memory for the window that a file declares.
	wide := compress(t, "wide.jsonl.zst", rollout, zstd.WithWindowSize(zstd.MaxWindowSize))
	if _, err := detect(wide); !errors.Is(err, zstd.ErrWindowSizeExceeded) {
		t.Errorf("a window of 512 MiB: %v", err)
	}
}

func TestDamagedCompressedSource(t *testing.T) {
	path := compress(t, "rollout.jsonl.zst", rollout)
	if err := os.Truncate(path, 20); err != nil {
		t.Fatal(err)
	}
	if format, err := detect(path); err == nil {
		t.Errorf("it looks like %q", format)
	}
	if format, err := detect(t.TempDir()); !errors.As(err, new(*regularfile.KindError)) {
		t.Errorf("a directory looks like %q, %v", format, err)
	}
}

// sourceTexts renders the texts of sources with sample values.
func sourceTexts() []apptest.Text {
	return []apptest.Text{
		{Function: "replacedText", Shown: replacedText("/a/" + apptest.Hostile)},
	}
}
