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

// Of a compressed file whose end is missing or damaged, what can be decompressed is read.
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
	zeroed := bytes.Clone(compressed.Bytes())
	clear(zeroed[len(zeroed)*2/3:])
	for _, content := range [][]byte{
		compressed.Bytes(), compressed.Bytes()[:compressed.Len()*2/3], zeroed, append(bytes.Clone(compressed.Bytes()), 0, 0, 0, 0),
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		cut := false
		f, err := fileSource(t.Context(), path, &cut).Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		f.Close()
		if err != nil || len(got) == 0 || !bytes.HasPrefix(text.Bytes(), got) || cut == bytes.Equal(content, compressed.Bytes()) {
			t.Errorf("%d of %d bytes: %d of %d bytes, cut %t, %v", len(content), compressed.Len(), len(got), text.Len(), cut, err)
		}
		if format, err := DetectFormat(path); format != "codex" || err != nil {
			t.Errorf("%d bytes look like %q, %v", len(content), format, err)
		}
	}
}
