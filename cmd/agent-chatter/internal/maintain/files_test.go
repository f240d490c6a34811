//go:build unix

package maintain

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
		trees, err := m.mark(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(trees)); !slices.Equal(got, want) {
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
