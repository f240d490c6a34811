package transfer

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Of a compressed file whose end is missing, what can be decompressed is read.
func TestCutFileIsReadUpToItsEnd(t *testing.T) {
	var text, compressed bytes.Buffer
	w, err := zstd.NewWriter(&compressed)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for text.Len() < 1<<20 {
		fmt.Fprintf(&text, `{"type":"response_item","payload":{"n":%d}}`+"\n", random.Uint64())
	}
	if _, err := w.Write(text.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rollout.jsonl.zst")
	for _, size := range []int{compressed.Len(), compressed.Len() * 2 / 3} {
		if err := os.WriteFile(path, compressed.Bytes()[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		cut := false
		f, err := fileSource(t.Context(), path, &cut).Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		f.Close()
		if err != nil || len(got) == 0 || !bytes.HasPrefix(text.Bytes(), got) || cut != (size < compressed.Len()) {
			t.Errorf("%d of %d bytes: %d of %d bytes, cut %t, %v", size, compressed.Len(), len(got), text.Len(), cut, err)
		}
		if format, err := DetectFormat(path); format != "codex" || err != nil {
			t.Errorf("%d bytes look like %q, %v", size, format, err)
		}
	}
}
