package transfer

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/projection"
)

// addFiles appends a message with a picture and a text to a session.
func addFiles(t *testing.T, e *exporter, dir, id string, picture, text []byte) {
	t.Helper()
	team := e.app.Catalog.At(dir)
	files, err := team.Attachments(id)
	if err != nil {
		t.Fatal(err)
	}
	you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	said := projection.NewMessage("f1", time.Now(), you, "look at [a.png] and @b.txt", nil)
	for _, f := range []struct {
		name, mediaType string
		data            []byte
	}{{"a.png", "image/png", picture}, {"b.txt", "text/plain", text}} {
		sum, err := files.Write(f.data)
		if err != nil {
			t.Fatal(err)
		}
		said.Attachments = append(said.Attachments, projection.File{
			Name: f.name, MediaType: f.mediaType, Bytes: int64(len(f.data)), SHA256: sum,
		})
	}
	if err := team.Append(t.Context(), id, projection.Record(time.Now(), said)); err != nil {
		t.Fatal(err)
	}
}

// importedFiles returns the contents of the files of the messages of a session.
func importedFiles(t *testing.T, a *app.App, id string) (contents []string) {
	t.Helper()
	session, err := a.Find(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	team := a.Catalog.At(session.Dir())
	files, err := team.Attachments(id)
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range team.Events(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range projection.FilesOf(e.Type, e.Data) {
			data, err := files.Read(f.SHA256, f.Bytes)
			if err != nil {
				t.Error(err)
			}
			contents = append(contents, string(data))
		}
	}
	return contents
}

func newHome(t *testing.T) *app.App {
	t.Helper()
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The files of messages are the same after an export and an import, without the secrets of texts, and an import
// restores one that is lost.
func TestBundleKeepsTheFilesOfMessages(t *testing.T) {
	e, session := newSession(t)
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	picture := []byte(strings.Repeat("\x89PNG\x00\xff", 500_000))
	addFiles(t, e, session.Dir(), session.ID, picture, []byte("token "+secret+"\n"))
	path, err := ExportSession(t.Context(), e.app, session, filepath.Join(t.TempDir(), "a.bundle"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), secret) {
		t.Error("the bundle has the secret", err)
	}
	a := newHome(t)
	for _, what := range []string{"an import", "another one"} {
		for _, imported := range ImportBundle(t.Context(), a, path, false) {
			if imported.Err != nil {
				t.Fatal(imported.Err)
			}
		}
		got := importedFiles(t, a, session.ID)
		if len(got) != 2 || got[0] != string(picture) || !strings.HasPrefix(got[1], "token [REDACTED:") {
			t.Errorf("%s: %d files: %.100q", what, len(got), got)
		}
		files, err := a.Catalog.Team(session.TeamID).Attachments(session.ID)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(files.Path(attachment.Sum(picture))); err != nil {
			t.Fatal(err)
		}
	}
}

// A journal that is imported from elsewhere brings the files beside it.
func TestImportOfAJournalBringsItsFiles(t *testing.T) {
	e, session := newSession(t)
	addFiles(t, e, session.Dir(), session.ID, []byte("picture"), []byte("text"))
	a := newHome(t)
	if imported := ImportJournal(t.Context(), a, session.Path(), false); imported.Err != nil {
		t.Fatal(imported.Err)
	}
	if got := importedFiles(t, a, session.ID); len(got) != 2 || got[0] != "picture" || got[1] != "text" {
		t.Errorf("%q", got)
	}
}

func TestExportsNameTheFilesOfMessages(t *testing.T) {
	e, session := newSession(t)
	addFiles(t, e, session.Dir(), session.ID, []byte("picture"), []byte("text"))
	for _, name := range []string{"a.md", "a.html"} {
		path, err := ExportSession(t.Context(), e.app, session, filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), "a.png, image/png, 7 bytes") {
			t.Errorf("%s does not name it: %v", name, err)
		}
	}
}
