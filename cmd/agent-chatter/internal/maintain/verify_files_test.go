package maintain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Each flipped byte of a file of a message is found, also of an archived session, and so is a file that is missing.
func TestVerifyFindsDamagedFilesOfMessages(t *testing.T) {
	a := testApp(t)
	apptest.CrashedSession(t, a.Home)
	s, err := a.Find(t.Context(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	dir := a.Catalog.At(s.Dir())
	files, err := dir.Attachments(s.ID)
	if err != nil {
		t.Fatal(err)
	}
	content := []byte("picture")
	sum, err := files.Write(content)
	if err != nil {
		t.Fatal(err)
	}
	alice := projection.Speaker{ID: "alice", Name: "alice", DisplayName: "Alice", Type: projection.TypeHuman}
	said := projection.NewMessage("m9", time.Now(), alice, "look", nil)
	said.Attachments = []projection.File{{Name: "a.png", MediaType: "image/png", Bytes: 7, SHA256: sum}}
	if err := dir.Append(t.Context(), s.ID, projection.Record(time.Now(), said)); err != nil {
		t.Fatal(err)
	}
	check := func(what, problem string) {
		t.Helper()
		v, err := verifySession(t.Context(), a, dir, s, false, true)
		if err != nil || v.OK != (problem == "") || !strings.Contains(v.Problem, problem) || v.unreadable {
			t.Errorf("%s: %+v, %v", what, v, err)
		}
		if v, err := verifySession(t.Context(), a, dir, s, true, true); err != nil || !v.OK {
			t.Errorf("%s, the sums only: %+v, %v", what, v, err)
		}
	}
	path := filepath.Join(s.Dir(), s.ID+".attachments", sum)
	for _, archived := range []bool{false, true} {
		if archived {
			if err := journaltest.Archive(t.Context(), dir.Journals(), s.ID); err != nil {
				t.Fatal(err)
			}
		}
		check("as it was written", "")
		for i := range content {
			flipped := append([]byte(nil), content...)
			flipped[i] ^= 1
			if err := os.WriteFile(path, flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			check("a flipped byte", "the file a.png of event ")
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		check("a missing file", "it is missing")
		if again, err := files.Write(content); err != nil || again != attachment.Sum(content) {
			t.Fatal(err)
		}
	}
}
