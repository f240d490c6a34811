//go:build unix

package api

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges/filestest"
)

func TestFilesOfASession(t *testing.T) {
	const attack = `<img src=x onerror=alert(1)>` + "\x1b\u202e"
	t.Setenv("SHOP_API_KEY", "sk-verysecretvalue0123456789")
	home, dir := t.TempDir(), t.TempDir()
	d := newDesk(t, home)
	var many strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&many, "line %d\n", i)
	}
	wide := strings.Repeat("x ", 240) + "sk-verysecretvalue0123456789\n" // is cut within the secret
	key := "-----BEGIN " + "PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("MIIverysecret0Ab", 4)+"\n", 9)
	key += "-----END " + "PRIVATE KEY-----\nend\n"
	s := filestest.Write(t, d.app, dir, "Edit", filestest.Turn{
		Person: filestest.Files(t, map[string]string{
			"cart.go": "package cart\n\nvar total = 0.0\n", "key.pem": key,
		}),
		Agent: filestest.Files(t, map[string]string{
			"cart.go": "package cart\n\nvar total = 1 // sk-verysecretvalue0123456789\n", attack: attack + "\n", "many.txt": many.String(),
			"key.pem": strings.Replace(key, "0Ab\nMII", "1Ab\nMII", 5), "wide.txt": wide,
		}),
	})
	session := "shop/" + s.ID
	listed := read[filesJSON](t, d, "/api/sessions/"+session+"/files")
	if len(listed.Steps) != 1 || listed.Notice != "" || listed.Steps[0].Who != "Ada" || listed.Steps[0].Turn != 1 ||
		len(listed.Steps[0].Files) != 5 {
		t.Fatalf("the list: %+v", listed)
	}
	step := listed.Steps[0]
	diffOf := func(file int, more string) fileDiffJSON {
		t.Helper()
		return read[fileDiffJSON](t, d, fmt.Sprintf("/api/sessions/%s/files/diff?seq=%d&file=%d%s", session, step.Seq, file, more))
	}
	for i, f := range step.Files {
		got, beside := diffOf(i, ""), diffOf(i, "&beside=1")
		rows := func(html string) int { return strings.Count(html, "<tr>") }
		switch {
		case strings.ContainsAny(got.HTML+f.Path, "\x1b\u202e") || strings.Contains(got.HTML, "<img"):
			t.Errorf("%q: %s", f.Path, got.HTML)
		case strings.Contains(got.HTML, "verysecret"):
			t.Errorf("a secret: %s", got.HTML)
		case f.Path == "cart.go" && (rows(got.HTML) != 4 || rows(beside.HTML) != 3 || !strings.Contains(got.HTML, "changed")):
			t.Errorf("%s\n%s", got.HTML, beside.HTML)
		case f.Path == "many.txt" && (rows(got.HTML) != 5000 || len(got.Notes) != 1):
			t.Errorf("%d rows of a long file, %q", rows(got.HTML), got.Notes)
		case !strings.Contains(got.Restore, fmt.Sprintf("files restore %s --at ", s.ID)):
			t.Errorf("the command: %q", got.Restore)
		}
	}
	for query, want := range map[string]int{
		"": http.StatusBadRequest, "?seq=x&file=0": http.StatusBadRequest, "?seq=1&file=0": http.StatusNotFound,
		fmt.Sprintf("?seq=%d&file=5", step.Seq): http.StatusNotFound, fmt.Sprintf("?seq=%d&file=-1", step.Seq): http.StatusNotFound,
	} {
		if status, text := ask(t, d, http.MethodGet, "/api/sessions/"+session+"/files/diff"+query); status != want {
			t.Errorf("%q: %d, %s", query, status, text)
		}
	}
	if _, text := ask(t, d, http.MethodGet, "/api/sessions/"+session+"/export?format=html"); strings.Contains(text, "var total") {
		t.Error("an export has contents of files")
	}

	// A change that another program records is in the next answer, and what is not of this home is refused.
	if err := os.RemoveAll(filepath.Join(home, "files")); err != nil {
		t.Fatal(err)
	}
	fresh := newDesk(t, home)
	gone := read[fileDiffJSON](t, fresh, fmt.Sprintf("/api/sessions/%s/files/diff?seq=%d&file=0", session, step.Seq))
	if gone.HTML != "" || len(gone.Notes) != 1 || !strings.Contains(gone.Notes[0], "Cannot read") {
		t.Errorf("without contents: %+v", gone)
	}
	if err := os.Remove(filepath.Join(home, "id")); err != nil {
		t.Fatal(err)
	}
	foreign := read[filesJSON](t, newDesk(t, home), "/api/sessions/"+session+"/files")
	if len(foreign.Steps) != 0 || !strings.Contains(foreign.Notice, "another home") {
		t.Errorf("of another home: %+v", foreign)
	}
}
