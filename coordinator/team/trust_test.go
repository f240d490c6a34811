package team_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/schemas"
	"github.com/google/go-cmp/cmp"
)

// Whatever decides what a team runs, where, and what it sends where, changes the digest; nothing else does.
func TestDigestIsOfWhatTheTeamRuns(t *testing.T) {
	const content = `{
		"schemaVersion": "1.2",
		"agents": [{"name": "x", "command": "/bin/x", "args": ["-a", "b"]}],
		"team": {"name": "crew", "description": "some", "members": [
			{"name": "ada", "displayName": "Ada", "type": "ai", "role": "author", "agentType": "x", "baseDir": ".",
			 "systemInstruction": "be kind", "permissions": "read", "endpoint": "http://a/v1", "apiKeyEnv": "A_KEY",
			 "env": {"PATH": "/bin", "A_KEY": "made-up-4711", "B_KEY": "$ONE"}, "headers": {"x-team": "$THREE"}},
			{"name": "hugo", "displayName": "Hugo", "type": "human", "role": "", "baseDir": ".", "systemInstruction": ""}
		]}
	}`
	path := write(t, "crew.json", content)
	digest := func(old, new string) string {
		changed := strings.Replace(content, old, new, 1)
		if changed == content && old != new {
			t.Fatalf("no %s", old)
		}
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		return load(t, path, filepath.Dir(path)).Digest()
	}
	same := digest("", "")
	for old, new := range map[string]string{
		`"some"`: `"other"`, `"Ada"`: `"Eve"`, `"author"`: `"editor"`, `"be kind"`: `"be brief"`, `"hugo"`: `"ann"`,
		`made-up-4711`: `made-up-0815`,
	} {
		if digest(old, new) != same {
			t.Errorf("%s instead of %s changed the digest", new, old)
		}
	}
	seen := map[string]string{same: "nothing"}
	for old, new := range map[string]string{
		`/bin/x`: `/bin/y`, `"-a", "b"`: `"-a b"`, `["-a", "b"]`: `["-a"]`,
		`"read"`: `"bypass"`, `http://a/v1`: `http://b/v1`, `"apiKeyEnv": "A_KEY"`: `"apiKeyEnv": "B_KEY"`,
		`"PATH": "/bin"`: `"PATH": "./bin"`, `"PATH"`: `"LD_PRELOAD"`, `"A_KEY": "made`: `"C_KEY": "made`,
		`"$ONE"`: `"$TWO"`, `"role": "author", "agentType": "x", "baseDir": "."`: `"role": "author", "agentType": "x", "baseDir": ".."`,
		`"name": "ada"`: `"name": "eve"`, `"$ONE"}`: `"$ONE"}, "engine": "demo"`,
		`"$THREE"`: `"$FOUR"`, `"x-team"`: `"x-crew"`, `{"x-team": "$THREE"}`: `{}`, `$THREE"}`: `$THREE", "x-a": "b"}`,
	} {
		got := digest(old, new)
		if other, ok := seen[got]; ok {
			t.Errorf("%s instead of %s has the digest of %s", new, old, other)
		}
		seen[got] = new
	}
}

// Without headers, the digest is the one that earlier versions wrote to trust.json.
func TestDigestWithoutHeadersIsUnchanged(t *testing.T) {
	const want = "21580b28aa218f7402dfccf840f8b18fd8109e6aa9d27aaf3daca1e6f0e29595"
	if got := team.Demo().Digest(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTrustKeepsTheNewestEntries(t *testing.T) {
	home := t.TempDir()
	if _, err := team.ReadTrust(home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	hash := strings.Repeat("a", 64)
	initial := []team.Trusted{{Path: "/old", SHA256: hash}}
	if err := team.Trust(t.Context(), home, initial, []team.Trusted{{Path: "/new", SHA256: hash}}); err != nil {
		t.Fatal(err)
	}
	changed := team.Trusted{Path: "/old", SHA256: strings.Repeat("b", 64)}
	if err := team.Trust(t.Context(), home, initial, []team.Trusted{changed}); err != nil {
		t.Fatal(err)
	}
	got, err := team.ReadTrust(home)
	want := []team.Trusted{{Path: "/new", SHA256: hash}, changed}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	var many []team.Trusted
	for i := range 1000 {
		many = append(many, team.Trusted{Path: fmt.Sprintf("/%d", i), SHA256: hash})
	}
	if err := team.Trust(t.Context(), home, nil, many); err != nil {
		t.Fatal(err)
	}
	if got, err := team.ReadTrust(home); err != nil || len(got) != 1000 || got[0].Path != "/0" {
		t.Errorf("%d entries, %v", len(got), err)
	}
	for _, found := range []bool{true, false} {
		if got, err := team.Distrust(t.Context(), home, nil, "/7"); err != nil || got != found {
			t.Errorf("found %v, %v", got, err)
		}
	}
}

func TestTrustRefusesAFileThatItCannotRead(t *testing.T) {
	home := filepath.Dir(write(t, "trust.json", `{"schemaVersion": "2.0", "teams": []}`))
	var version *schemas.VersionError
	if _, err := team.ReadTrust(home); !errors.As(err, &version) {
		t.Error(err)
	}
	entry := team.Trusted{Path: "/x", SHA256: strings.Repeat("a", 64)}
	if err := team.Trust(t.Context(), home, nil, []team.Trusted{entry}); !errors.As(err, &version) {
		t.Error(err)
	}
	content, err := os.ReadFile(filepath.Join(home, "trust.json"))
	if err != nil || string(content) != `{"schemaVersion": "2.0", "teams": []}` {
		t.Errorf("%q, %v", content, err)
	}
}
