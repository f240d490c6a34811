package teams

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// The first time, the teams of the sessions that were begun in the home are trusted, the one used last at the end.
func TestTeamsOfEarlierSessionsAreTrusted(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	data, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	load := func(name, old, new string) *team.Team {
		t.Helper()
		path := filepath.Join(dir, name+".json")
		if err := os.WriteFile(path, []byte(strings.Replace(string(data), old, new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, err := team.Load(path, home)
		if err != nil {
			t.Fatal(err)
		}
		return loaded
	}
	outside := filepath.Join(t.TempDir(), "rules.md")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first, last, forked, imported := load("first", "", ""), load("last", "", ""), load("forked", "", ""), load("imported", "", "")
	elsewhere := load("elsewhere", `"name": "echo-pair",`, `"name": "echo-pair", "instructionFile": "`+filepath.ToSlash(outside)+`",`)
	if len(elsewhere.Elsewhere) != 1 {
		t.Fatalf("elsewhere are %q", elsewhere.Elsewhere)
	}
	at := time.Now()
	journals := journal.NewDir(filepath.Join(home, "sessions", "echo-pair"), journal.Options{})
	add := func(source *team.Source, hash string, parent *projection.Parent, more ...projection.Payload) {
		t.Helper()
		at = at.Add(time.Second)
		created := projection.SessionCreated{
			Format: projection.Format, SessionID: ulid.Make().String(), Team: projection.Team{ID: "echo-pair"}, Parent: parent,
		}
		if source != nil {
			created.Team.Source = &projection.Source{Path: source.Path, SHA256: hash}
		}
		you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
		log, err := journals.Create(created.SessionID)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		for _, p := range append([]projection.Payload{created, projection.NewMessage("m", at, you, "hello", nil)}, more...) {
			if _, err := log.Append(projection.Record(at, p)); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(last.Source, last.Source.SHA256, nil)
	add(first.Source, first.Source.SHA256, nil)
	add(last.Source, last.Source.SHA256, nil)
	add(nil, "", nil)
	add(last.Source, strings.Repeat("0", 64), nil)
	add(&team.Source{Path: filepath.Join(dir, "missing.json")}, strings.Repeat("0", 64), nil)
	add(forked.Source, forked.Source.SHA256, &projection.Parent{SessionID: ulid.Make().String(), Seq: 1})
	add(imported.Source, imported.Source.SHA256, nil, projection.SessionImported{Source: "bundle", Path: "/x"})
	add(elsewhere.Source, elsewhere.Source.SHA256, nil)

	want := []team.Trusted{
		{Path: first.Source.Path, SHA256: first.Digest()}, {Path: last.Source.Path, SHA256: last.Digest()},
	}
	for _, forget := range []bool{true, false} {
		a, err := app.New(app.IO{Stdout: os.Stdout, Stderr: os.Stderr}, app.Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Loader{App: a, Forget: forget}.trusted(t.Context())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		recorded, err := team.ReadTrust(home)
		if diff := cmp.Diff(want, recorded); forget != (err != nil) || !forget && diff != "" {
			t.Errorf("forget %v: %v (-want +got):\n%s", forget, err, diff)
		}
	}
	checkShippedTeamsAreNotTrusted(t, home)
}

// checkShippedTeamsAreNotTrusted checks that sessions which may have been fetched from a hub make no team trusted.
func checkShippedTeamsAreNotTrusted(t *testing.T, home string) {
	t.Helper()
	if err := os.Remove(filepath.Join(home, "trust.json")); err != nil {
		t.Fatal(err)
	}
	settings := `{"hub": {"urls": ["nats://127.0.0.1:1"], "teams": ["echo-pair"]}}`
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.IO{Stdout: os.Stdout, Stderr: os.Stderr}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := (Loader{App: a}).trusted(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("with a hub: %v, %v", all, err)
	}
}

// Others may have written the sessions of a directory that they can change.
func TestTeamsOfSessionsThatOthersCanWriteAreNotTrusted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes do not describe permissions")
	}
	a, err := app.New(app.IO{Stdout: os.Stdout, Stderr: os.Stderr}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(a.Home, "sessions", "demo")
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.Chmod(a.Home, 0o755)); err != nil {
		t.Fatal(err)
	}
	if l := (Loader{App: a}); !l.isOwnDirectory(dir) {
		t.Error("a directory of the user is not trusted")
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if l := (Loader{App: a}); l.isOwnDirectory(dir) {
		t.Error("a directory that others can change is trusted")
	}
}
