package maintain

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

// A bit of an archive that decompression ignores is damage, too.
func TestVerifyFailsOnAnyChangedBitOfAnArchive(t *testing.T) {
	a := testApp(t)
	apptest.CrashedSession(t, a.Home)
	s, err := a.Find(t.Context(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	dir := a.Catalog.At(s.Dir())
	if err := dir.Journals().Archive(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir(), "archive", s.ID+".jsonl.zst")
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range 8 {
		damaged := bytes.Clone(sound)
		damaged[0] ^= 1 << bit // of the number of a frame that is skipped
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, chainOnly := range []bool{false, true} {
			v, err := verifySession(t.Context(), a, dir, s, chainOnly)
			if err != nil || v.OK || v.Line == 0 {
				t.Errorf("bit %d: %+v, %v", bit, v, err)
			}
		}
	}
}

func testApp(t *testing.T) *app.App {
	t.Helper()
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestVerifyStopsWhenInterrupted(t *testing.T) {
	a := testApp(t)
	apptest.CrashedSession(t, a.Home)
	s, err := a.Find(t.Context(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := verifySession(t.Context(), a, a.Catalog.At(s.Dir()), s, false); err != nil || !v.OK {
		t.Fatalf("%+v, %v", v, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, chainOnly := range []bool{false, true} {
		_, err := verifySession(ctx, a, a.Catalog.At(s.Dir()), s, chainOnly)
		if !errors.Is(err, context.Canceled) || app.CodeOf(err) != app.ExitInterrupted {
			t.Errorf("chain only %v: %v", chainOnly, err)
		}
	}
}
