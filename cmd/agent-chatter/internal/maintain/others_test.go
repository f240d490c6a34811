package maintain

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
)

// verifyHome runs verify on all sessions of a home.
func verifyHome(t *testing.T, home string) (out string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a, err := app.New(app.IO{Stdout: &stdout, Stderr: &stderr}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	err = (&Verify{Output: "text"}).Run(a)
	return stdout.String() + stderr.String(), app.CodeOf(err)
}

// What another program did to the files of a session is never ok.
func TestVerifyFailsForFilesThatOtherProgramsChanged(t *testing.T) {
	const other = "01JDQ3W7ZK8M5N6P7Q8R9S0T2B"
	for name, c := range map[string]struct {
		change func(t *testing.T, path string)
		want   string
	}{
		"CR LF": {func(t *testing.T, path string) {
			rewrite(t, path, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) })
		}, "CR LF"},
		"UTF-16": {func(t *testing.T, path string) {
			rewrite(t, path, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("{"), []byte("{\x00")) })
		}, "contain no valid line"},
		"renamed": {func(t *testing.T, path string) {
			if err := os.Rename(path, filepath.Join(filepath.Dir(path), other+".jsonl")); err != nil {
				t.Fatal(err)
			}
		}, "it is session " + `"` + apptest.AliceID},
		"in the directory of another team": {func(t *testing.T, path string) {
			garden := filepath.Join(filepath.Dir(filepath.Dir(path)), "garden")
			if err := os.Rename(filepath.Dir(path), garden); err != nil {
				t.Fatal(err)
			}
		}, "of team "},
	} {
		t.Run(name, func(t *testing.T) {
			a := testApp(t)
			apptest.CrashedSession(t, a.Home)
			s, err := a.Find(t.Context(), apptest.AliceID)
			if err != nil {
				t.Fatal(err)
			}
			c.change(t, s.Path())
			os.Remove(filepath.Join(s.Dir(), "sessions.json"))
			if out, code := verifyHome(t, a.Home); code != app.ExitDamaged || !strings.Contains(out, c.want) {
				t.Errorf("code %d: %s", code, out)
			}
		})
	}
}

func rewrite(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(content), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestVerifyChecksTheJournalOfTheRetention(t *testing.T) {
	a := testApp(t)
	apptest.CrashedSession(t, a.Home)
	s, err := a.Find(t.Context(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	dir := journal.NewDir(s.Dir(), journal.Options{})
	log, err := dir.Create("retention")
	if err == nil {
		_, err = log.Append(journal.Record{Type: "session.archived", Data: []byte(`{"sessionId":"x"}`), Time: time.Now()})
	}
	if err == nil {
		err = log.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, code := verifyHome(t, a.Home); code != 0 {
		t.Fatalf("code %d: %s", code, out)
	}
	rewrite(t, log.Path(), func(b []byte) []byte { return bytes.Replace(b, []byte(`"x"`), []byte(`"y"`), 1) })
	out, code := verifyHome(t, a.Home)
	if code != app.ExitDamaged || !strings.Contains(out, "retention.jsonl  damaged  line 1 (byte 0): checksum mismatch") {
		t.Errorf("code %d: %s", code, out)
	}
}
