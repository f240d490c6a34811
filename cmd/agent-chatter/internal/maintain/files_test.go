//go:build unix

package maintain

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// recordTree records a capture of a directory in a session.
func (h *shownHome) recordTree(n int, dir string) {
	h.t.Helper()
	h.append(n, projection.Record(time.Unix(0, 0), projection.FilesCaptured{
		CaptureID: dir, When: projection.BeforeTurn, Dir: dir, Root: objects.HashOf([]byte(dir)).String(),
	}))
}

// The second mark knows what was recorded since the first one, wherever the session is now, and reads only journals
// that have changed.
func TestMark(t *testing.T) {
	h := newShownHome(t, 5)
	dirs := []string{"/live", "/trashed", "/archived", "/purged", "/unread"}
	for n, dir := range dirs {
		h.recordTree(n, dir)
	}
	h.recordTree(4, "/unread") // so that the first one is not in a torn tail
	journals := h.team.Journals()
	if err := trash.Of(journals).Move(t.Context(), h.ids[1]); err != nil {
		t.Fatal(err)
	}
	m := newMarker(catalog.New(filepath.Dir(journals.Path()), journals.Options()))
	mark := func(want ...string) {
		t.Helper()
		if err := m.mark(t.Context()); err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(m.trees())); !slices.Equal(got, want) {
			t.Errorf("got trees of %q, want %q", got, want)
		}
	}
	mark(dirs...)
	if err := trash.Of(journals).Restore(t.Context(), h.ids[1]); err != nil {
		t.Fatal(err)
	}
	if err := journaltest.Archive(t.Context(), journals, h.ids[2]); err != nil {
		t.Fatal(err)
	}
	if err := trash.Of(journals).Move(t.Context(), h.ids[3]); err != nil {
		t.Fatal(err)
	}
	if err := trash.Of(journals).Purge(h.ids[3]); err != nil {
		t.Fatal(err)
	}
	h.recordTree(0, "/appended")
	h.spoil(4, "/unread", "/UNREAD") // reading it is an error
	mark(append(dirs, "/appended")...)
}

// spoil damages a journal, which has the size and the time that it had.
func (h *shownHome) spoil(n int, content, other string) {
	h.t.Helper()
	info, err := os.Stat(h.journal(n))
	if err != nil {
		h.t.Fatal(err)
	}
	h.rewrite(n, func(all string) string { return strings.Replace(all, content, other, 1) })
	if err := os.Chtimes(h.journal(n), info.ModTime(), info.ModTime()); err != nil {
		h.t.Fatal(err)
	}
}

// capture captures a directory of its own with random bytes for a session, and returns its tree.
func (h *shownHome) capture(n int) (*workspace.Workspace, objects.Hash) {
	h.t.Helper()
	dir := h.t.TempDir()
	content := make([]byte, 100<<10)
	rand.NewChaCha8([32]byte{byte(n)}).Read(content)
	if err := os.WriteFile(filepath.Join(dir, "a"), content, 0o600); err != nil {
		h.t.Fatal(err)
	}
	w, err := workspace.Open(h.path, dir)
	if err != nil {
		h.t.Fatal(err)
	}
	w.Limits.Free = 0
	captured, err := w.Capture(h.t.Context(), fmt.Sprintf("%026d", 1), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	h.append(n, projection.Record(time.Unix(0, 0),
		coordinator.CapturedEvent(captured, "c", w.Root(), projection.BeforeTurn)))
	return w, captured.Tree
}

// The contents of the oldest sessions are removed when all exceed the limit, except those of a session in use, and the
// sessions say why. A dry run changes nothing.
func TestOldestFilesAreDropped(t *testing.T) {
	h := newShownHome(t, 5) // the newest first
	var stores []*workspace.Workspace
	var trees []objects.Hash
	for n := range h.ids {
		w, tree := h.capture(n)
		stores, trees = append(stores, w), append(trees, tree)
	}
	err := os.WriteFile(filepath.Join(h.path, "config.json"), []byte(`{"files":{"maxStored":420000}}`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	inUse, _, err := h.team.OpenToAppend(t.Context(), h.ids[4])
	if err != nil {
		t.Fatal(err)
	}
	defer inUse.Close()
	compact := func(dryRun bool) string {
		return h.run(func(_ *shownHome, a *app.App, output string) error {
			return (&Compact{Output: output, DryRun: dryRun}).Run(a)
		}, "text", false)
	}
	wantKept := func(want ...bool) {
		t.Helper()
		for n, w := range stores {
			_, err := workspace.Stored(h.path, w.Root()).Store().Files(trees[n])
			if (err == nil) != want[n] {
				t.Errorf("session %c: %v, want kept: %v", 'A'+n, err, want[n])
			}
		}
	}
	if got := compact(true); !strings.Contains(got, "The captured files of 3 sessions would be removed") {
		t.Errorf("the dry run printed\n%s", got)
	}
	wantKept(true, true, true, true, true)
	if got := compact(false); !strings.Contains(got, "The captured files of 3 sessions were removed") {
		t.Errorf("the run printed\n%s", got)
	}
	wantKept(true, false, false, false, true)
}
