package team_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// Whatever decides what a team runs, where, and what it sends where, changes the digest; nothing else does.
func TestDigestIsOfWhatTheTeamRuns(t *testing.T) {
	const content = `{
		"schemaVersion": "1.2",
		"agents": [{"name": "x", "command": "/bin/x", "args": ["-a", "b"]}],
		"team": {"name": "crew", "description": "some", "members": [
			{"name": "ada", "displayName": "Ada", "type": "ai", "role": "author", "agentType": "x", "baseDir": ".",
			 "systemInstruction": "be kind", "permissions": "read", "endpoint": "http://a/v1", "apiKeyEnv": "A_KEY",
			 "env": {"PATH": "/bin", "A_KEY": "made-up-4711", "B_KEY": "$ONE"}, "headers": {"x-team": "$THREE"}, "recall": false,
			 "worktree": {"copy": [".env"], "setup": ["npm", "ci"]}},
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
		`"recall": false`: `"recall": true`, `, "recall": false`: `, "recall": "all"`,
		`"ci"`: `"test"`, `".env"`: `"*"`, `"copy": [".env"], `: ``,
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

// The type of an agent decides what the engine acp runs, and its model where the agent sends prompts.
func TestDigestIsOfTheProgramThatSpeaksACP(t *testing.T) {
	digest := func(m team.Member) string {
		m.Name, m.Type, m.Engine = "ada", team.AI, "acp"
		return (&team.Team{Members: []team.Member{m}}).Digest()
	}
	seen := map[string]team.Member{}
	for _, m := range []team.Member{
		{AgentType: "claude-acp"},
		{AgentType: "codex-acp"},
		{AgentType: "gemini"},
		{AgentType: "opencode"},
		{AgentType: "opencode", Model: "a/m"},
		{AgentType: "opencode", Model: "b/m"},
		{AgentType: "gemini", Command: "/bin/x"},
		{AgentType: "opencode", Command: "/bin/x"},
		{AgentType: "x", Command: "/bin/x"},
	} {
		got := digest(m)
		if other, ok := seen[got]; ok {
			t.Errorf("%+v has the digest of %+v", m, other)
		}
		seen[got] = m
	}
	if digest(team.Member{AgentType: "codex"}) != digest(team.Member{AgentType: "codex-acp"}) {
		t.Error("two types that run the same program have different digests")
	}
}

// A digest is of the agents, whatever people are between them.
func TestDigestIsOfAllAgents(t *testing.T) {
	ada := team.Member{Name: "ada", Type: team.AI, AgentType: "x", Command: "/bin/x"}
	bea := team.Member{Name: "bea", Type: team.AI, AgentType: "x", Command: "/bin/y"}
	hugo := team.Member{Name: "hugo", Type: team.Human}
	want := (&team.Team{Members: []team.Member{ada, bea}}).Digest()
	for _, members := range [][]team.Member{{hugo, ada, bea}, {bea, hugo, ada}, {ada, bea, hugo}} {
		if got := (&team.Team{Members: members}).Digest(); got != want {
			t.Errorf("%v: got %s, want %s", members, got, want)
		}
	}
}

// A variable whose name only looks like that of a secret may be a command.
func TestDigestHasSettingsThatLookLikeSecrets(t *testing.T) {
	digest := func(name, value string) string {
		m := team.Member{Name: "ada", Type: team.AI, AgentType: "x", Command: "x", Env: map[string]string{name: value}}
		return (&team.Team{Members: []team.Member{m}}).Digest()
	}
	for name, isSecret := range map[string]bool{
		"API_KEY": true, "GITHUB_TOKEN": true, "RESTIC_PASSWORD": true, "RESTIC_PASSWORD_COMMAND": false,
		"GIT_CONFIG_KEY_0": false, "API_KEY_HELPER": false, "OPENAI_API_KEY_2": true, "apiKey": true, "PGPASSWORD": true,
		"BASH_FUNC_secret-tool%%": false, "BASH_FUNC_my_token()": false, "BASH_FUNC_my_token": false, "my-token": false,
		"PASSWORD_STORE_GPG_OPTS": false, "PASSWORD_STORE_KEY": false, "LESSKEY": false, "LESSKEY_CONTENT": false,
		"TOKEN_ARGS": false, "SECRET_OPTIONS": false, "SSH_KEY_ARGS_1": false, "MY_SECRET_EDITOR": false,
	} {
		if same := digest(name, "made-up-1") == digest(name, "made-up-2"); same != isSecret {
			t.Errorf("%s: the digests of two values are equal: %v", name, same)
		}
	}
}

// These are the digests that earlier versions wrote to trust.json.
func TestDigestsOfEarlierVersionsAreUnchanged(t *testing.T) {
	for want, m := range map[string]team.Member{
		"ac794002cf7d231a465b8218f6bd2bbeded2498f4ece80aca95f2750362b90b1": {
			Engine: "acp", AgentType: "own", Command: "/bin/own",
		},
		"e8c2ef9d9bebb828ab9fc6c1d41b92733cf0abbefb12456f7c77000805607c27": {
			Engine: "acp", AgentType: "own", Command: "/bin/own", Args: []string{},
		},
		"4dfd458cf6a995aa508daeb155625a9b80836450bb0006283a097fcbb991bc7e": {
			Engine: "acp", AgentType: "gemini", Command: "/bin/gemini", Args: []string{"--acp"},
		},
		"2cc7b7827c34c0ae6698d0b40f7a3c7bf13ac937a18b25ce0e7c9e749d128bea": {
			AgentType: "opencode", Command: "opencode", Args: []string{"acp"},
		},
		"28b15e87d87546cb5394801c28689a1cbdbe961fc97ec15c8c90c019fc295948": {
			AgentType: "claude", Model: "opus", Permissions: "edit", Args: []string{"--add-dir", "x"},
		},
		"e3c6e2f463f61e04ae8d64c144a8ca606338a746ad0237b03c504b4b972e69a8": {AgentType: "codex", Model: "m"},
		"e42af67806e57c0f3aa48cabb5281bea968a24a75fff7bfd5af27c978d963ebe": {
			AgentType: "gemini-cli", Command: "/bin/gemini", Env: map[string]string{"A": "b", "B_KEY": "made-up-4711"},
		},
		"98dda170131c6c3c6db7508b9a8ec3148a52e78ef78e55757be917aab786b28e": {
			AgentType: "openai", Endpoint: "http://localhost:1/v1", Model: "m", APIKeyEnv: "A_KEY",
			Headers: map[string]string{"x": "$Y"},
		},
		"51b3663834c82f345f732e16112c9aaa6d40fc6c655ee1ba609bfe43fb4be402": {
			AgentType: "x", Command: "/bin/x", Args: []string{"-a"}, BaseDir: "/w",
		},
	} {
		m.Name, m.Type = "ada", team.AI
		if got := (&team.Team{Members: []team.Member{m}}).Digest(); got != want {
			t.Errorf("%+v: got %s", m, got)
		}
	}
	const demo = "21580b28aa218f7402dfccf840f8b18fd8109e6aa9d27aaf3daca1e6f0e29595"
	if got := team.Demo().Digest(); got != demo {
		t.Errorf("demo: got %s", got)
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
	if found, err := team.Distrust(t.Context(), home, nil, "/x"); found || !errors.As(err, &version) {
		t.Errorf("%v, %v", found, err)
	}
	content, err := os.ReadFile(filepath.Join(home, "trust.json"))
	if err != nil || string(content) != `{"schemaVersion": "2.0", "teams": []}` {
		t.Errorf("%q, %v", content, err)
	}
}
