package team_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// place creates a file below dir.
func place(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func link(t *testing.T, target, name string) {
	t.Helper()
	programtest.SkipOnWindows(t, os.Symlink(target, name))
}

// clone returns a team whose member ada works in the directory work beside the team file, and these
// directories: of the file, of the home, and one that is neither.
func clone(t *testing.T, fields ...string) (loaded func() *team.Team, dir, home, outside string) {
	t.Helper()
	root := t.TempDir()
	dir, home, outside = filepath.Join(root, "clone"), filepath.Join(root, "home"), filepath.Join(root, "outside")
	ada := strings.Replace(member("ada", "ai", append(fields, `"agentType":"demo"`)...), `"."`, `"work"`, 1)
	path := place(t, dir, "crew.json", config([]string{human, ada}))
	for _, d := range []string{filepath.Join(dir, "work"), home, outside} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return func() *team.Team { return load(t, path, home) }, dir, home, outside
}

// instructions returns the instructions of ada.
func instructions(loaded *team.Team) (string, error) {
	ada, _ := loaded.Member("ada")
	ofTeam, ofMember, err := loaded.Instructions(ada)
	return ofTeam + ofMember, err
}

func TestInstructionsAreReadInTheTeamsDirectories(t *testing.T) {
	for name, create := range map[string]func(dir, home string) string{
		"member":         func(dir, _ string) string { return place(t, dir, "work/AGENTS.md", "be brief") },
		"link in member": func(dir, _ string) string { return place(t, dir, "work/docs/a.md", "be brief") },
		"team file":      func(dir, _ string) string { return place(t, dir, "shared.md", "be brief") },
		"home":           func(_, home string) string { return place(t, home, "prompts/a.md", "be brief") },
	} {
		t.Run(name, func(t *testing.T) {
			loaded, dir, home, _ := clone(t)
			if target, at := create(dir, home), filepath.Join(dir, "work/AGENTS.md"); target != at {
				link(t, target, at)
			}
			crew := loaded()
			if got, err := instructions(crew); got != "be brief" || err != nil || len(crew.Elsewhere) > 0 {
				t.Errorf("%q, %v, elsewhere %q", got, err, crew.Elsewhere)
			}
		})
	}
}

func TestMissingInstructionsAreNone(t *testing.T) {
	loaded, dir, _, outside := clone(t)
	if got, err := instructions(loaded()); got != "" || err != nil {
		t.Errorf("no file: %q, %v", got, err)
	}
	link(t, filepath.Join(outside, "missing"), filepath.Join(dir, "work/AGENTS.md"))
	if got, err := instructions(loaded()); got != "" || err != nil {
		t.Errorf("a link to no file: %q, %v", got, err)
	}
}

func TestInstructionsOfTeamAndMember(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	path := place(t, dir, "crew.json", strings.Replace(config([]string{human, demo}), `"description":""`,
		`"description":"","instructionFile":"docs/TEAM.md"`, 1))
	place(t, dir, "AGENTS.md", "be brief")
	place(t, dir, "docs/TEAM.md", "be kind")
	crew := load(t, path, t.TempDir())
	ada, _ := crew.Member("ada")
	ofTeam, ofMember, err := crew.Instructions(ada)
	if ofTeam != "be kind" || ofMember != "be brief" || err != nil || len(crew.Elsewhere) > 0 {
		t.Errorf("%q and %q, %v, elsewhere %q", ofTeam, ofMember, err, crew.Elsewhere)
	}
	if err := os.Remove(filepath.Join(dir, "docs/TEAM.md")); err != nil {
		t.Fatal(err)
	}
	link(t, place(t, outside, "secret.md", "secret"), filepath.Join(dir, "docs/TEAM.md"))
	crew = load(t, path, t.TempDir())
	ofTeam, ofMember, err = crew.Instructions(ada)
	var elsewhere *team.ElsewhereError
	if ofTeam+ofMember != "" || !errors.As(err, &elsewhere) || elsewhere.Path != filepath.Join(dir, "docs/TEAM.md") ||
		len(crew.Elsewhere) != 1 {
		t.Errorf("%q and %q, %v, elsewhere %q", ofTeam, ofMember, err, crew.Elsewhere)
	}
}

func TestInstructionsElsewhereNeedConfirmation(t *testing.T) {
	for name, create := range map[string]func(dir, home, outside string) (secret string){
		"link to a file": func(dir, _, outside string) string {
			secret := place(t, outside, "shadow", "secret")
			link(t, secret, filepath.Join(dir, "work/AGENTS.md"))
			return secret
		},
		"file in a linked directory": func(dir, _, outside string) string {
			secret := place(t, outside, "docs/a.md", "secret")
			link(t, filepath.Join(outside, "docs"), filepath.Join(dir, "docs"))
			link(t, "../docs/a.md", filepath.Join(dir, "work/AGENTS.md"))
			return secret
		},
		"conversation in the home": func(dir, home, _ string) string {
			secret := place(t, home, "sessions/demo/a.jsonl", "secret")
			link(t, secret, filepath.Join(dir, "work/AGENTS.md"))
			return secret
		},
		"team in the home": func(dir, home, _ string) string {
			secret := place(t, home, "team-config/own.json", "secret")
			link(t, secret, filepath.Join(dir, "work/AGENTS.md"))
			return secret
		},
		"key in the home": func(dir, home, _ string) string {
			secret := place(t, home, "identities/key.txt", "secret")
			link(t, secret, filepath.Join(dir, "work/AGENTS.md"))
			return secret
		},
		"key of the home": func(dir, home, _ string) string {
			secret := place(t, home, "id", "secret")
			link(t, secret, filepath.Join(dir, "work/AGENTS.md"))
			return secret
		},
		"key of a certificate": func(dir, home, _ string) string {
			secret := place(t, home, "tls/ca-mill.local.pem", "secret")
			link(t, secret, filepath.Join(dir, "work/AGENTS.md"))
			return secret
		},
	} {
		t.Run(name, func(t *testing.T) {
			loaded, dir, home, outside := clone(t)
			secret := create(dir, home, outside)
			crew := loaded()
			got, err := instructions(crew)
			var elsewhere *team.ElsewhereError
			if got != "" || !errors.As(err, &elsewhere) || elsewhere.Path != filepath.Join(dir, "work/AGENTS.md") {
				t.Errorf("%q, %v, want an ElsewhereError that names the file", got, err)
			}
			want, err := filepath.EvalSymlinks(secret)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(elsewhere.Error(), "is a link to "+want) {
				t.Errorf("the error is %v, want one that names %s", elsewhere, want)
			}
			if len(crew.Elsewhere) != 1 || crew.Elsewhere[0] != want {
				t.Fatalf("elsewhere are %q, want %q", crew.Elsewhere, want)
			}
			crew.ReadElsewhere = true
			if got, err := instructions(crew); got != "secret" || err != nil {
				t.Errorf("confirmed: %q, %v", got, err)
			}
		})
	}
}

func TestInstructionFileElsewhereNeedsConfirmation(t *testing.T) {
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := place(t, outside, "a.md", "secret")
	loaded, _, _, _ := clone(t, fmt.Sprintf(`"instructionFile":%q`, at))
	_, err = instructions(loaded())
	var elsewhere *team.ElsewhereError
	if !errors.As(err, &elsewhere) || !strings.Contains(err.Error(), at) || strings.Contains(err.Error(), "link") {
		t.Errorf("the error is %v, want an ElsewhereError that names %s and no link", err, at)
	}
}

// A link that is replaced after the confirmation is another file.
func TestConfirmationIsOfOneFile(t *testing.T) {
	loaded, dir, _, outside := clone(t)
	at := filepath.Join(dir, "work/AGENTS.md")
	link(t, place(t, outside, "shared.md", "be brief"), at)
	crew := loaded()
	crew.ReadElsewhere = true
	secret := place(t, outside, "shadow", "secret")
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	link(t, secret, at)
	var elsewhere *team.ElsewhereError
	if got, err := instructions(crew); got != "" || !errors.As(err, &elsewhere) {
		t.Errorf("%q, %v", got, err)
	}
}

// The file is checked after it was opened, by what was opened: while another program replaces a
// directory by a link, the instructions are those inside or none.
func TestReplacedDirectoryShowsNoOtherFile(t *testing.T) {
	loaded, dir, _, outside := clone(t, `"instructionFile":"docs/a.md"`)
	place(t, outside, "a.md", "secret")
	docs, other := filepath.Join(dir, "work/docs"), filepath.Join(dir, "work/other")
	place(t, docs, "a.md", "be brief")
	link(t, outside, other)
	crew := loaded()
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		aside := filepath.Join(dir, "work/aside")
		for {
			for _, names := range [][2]string{{docs, aside}, {other, docs}, {docs, other}, {aside, docs}} {
				if err := os.Rename(names[0], names[1]); err != nil {
					t.Error(err)
					return
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for range 500 {
		if got, err := instructions(crew); got != "" && got != "be brief" {
			t.Errorf("%q, %v", got, err)
		}
	}
	close(stop)
	<-stopped
}

// A name that was replaced after its file was opened is not that file's place.
func TestPlaceIsThatOfTheOpenFile(t *testing.T) {
	loaded, dir, _, outside := clone(t)
	crew := loaded()
	at := place(t, dir, "work/AGENTS.md", "be brief")
	for path, allowed := range map[string]bool{at: true, place(t, outside, "a.md", "secret"): false} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := crew.CheckPlace(f, at, filepath.Join(dir, "work")); (err == nil) != allowed {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestPlaceNeedsTheFileAndItsPath(t *testing.T) {
	loaded, dir, _, _ := clone(t)
	crew := loaded()
	at := place(t, dir, "work/AGENTS.md", "be brief")
	f, err := os.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := crew.CheckPlace(f, at, filepath.Join(dir, "work")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed file: %v", err)
	}
	if err := crew.CheckPlace(f, at+"x", filepath.Join(dir, "work")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
}

// What is no file cannot be confirmed: it is refused, or missing.
func TestFilesElsewhereAreSorted(t *testing.T) {
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	agent := func(name, baseDir, path string) string {
		m := member(name, "ai", `"agentType":"demo"`, fmt.Sprintf(`"instructionFile":%q`, path))
		return strings.Replace(m, `"."`, fmt.Sprintf("%q", baseDir), 1)
	}
	a, b := place(t, outside, "a.md", "a"), place(t, outside, "b.md", "b")
	loaded, _ := loadConfig(t, config([]string{
		human,
		agent("ada", ".", b),
		agent("bea", "missing", a),
		agent("cleo", ".", b),
		agent("dora", ".", filepath.Join(outside, "missing.md")),
		agent("eve", ".", outside),
	}))
	checkEqual(t, "the files elsewhere", loaded.Elsewhere, []string{a, b})
}

func TestLongInstructionsAreRefused(t *testing.T) {
	loaded, dir, _, _ := clone(t)
	at := place(t, dir, "work/AGENTS.md", strings.Repeat("x", 1<<20))
	if got, err := instructions(loaded()); len(got) != 1<<20 || err != nil {
		t.Errorf("at the limit: %d bytes, %v", len(got), err)
	}
	place(t, dir, "work/AGENTS.md", strings.Repeat("x", 1<<20+1))
	_, err := instructions(loaded())
	var size *regularfile.SizeError
	if !errors.As(err, &size) || !strings.Contains(err.Error(), at) {
		t.Errorf("%v, want a SizeError that names %s", err, at)
	}
}

func TestLongTeamFileIsRefused(t *testing.T) {
	path := write(t, "crew.json", config([]string{human, demo})+strings.Repeat(" ", 4<<20))
	_, err := team.Load(path, t.TempDir())
	var size *regularfile.SizeError
	if !errors.As(err, &size) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v, want a SizeError that names %s", err, path)
	}
}
