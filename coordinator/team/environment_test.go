package team_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

func TestHeadersExpandReferences(t *testing.T) {
	t.Setenv("GIVEN_WORD", "the-word-4711")
	os.Unsetenv("NO_SUCH_KEY")
	m := team.Member{Headers: map[string]string{"X-A": "$GIVEN_WORD", "X-B": "plain", "X-C": "$NO_SUCH_KEY"}}
	checkEqual(t, "the headers", m.ForEngine("").Headers, map[string]string{"X-A": "the-word-4711", "X-B": "plain"})
	checkEqual(t, "the unset variables", m.Unset(), []string{"NO_SUCH_KEY"})
	if got := redact.New(m.Secrets()).Text("it is the-word-4711"); got != "it is [REDACTED:GIVEN_WORD]" {
		t.Errorf("got %q", got)
	}
}

func TestKeyOfAnAPIIsASecret(t *testing.T) {
	t.Setenv("GIVEN_WORD", "the-word-4711")
	for own, want := range map[string]string{
		"": "[REDACTED:GIVEN_WORD], own-word-0815", "own-word-0815": "the-word-4711, [REDACTED:GIVEN_WORD]",
	} {
		m := team.Member{APIKeyEnv: "GIVEN_WORD", Env: map[string]string{"GIVEN_WORD": own}}
		if got := redact.New(m.Secrets()).Text("the-word-4711, own-word-0815"); got != want {
			t.Errorf("own %q: got %q, want %q", own, got, want)
		}
	}
}

func TestSecretsInPlainText(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m := team.Member{Env: map[string]string{
		"B_TOKEN": "12345678", "A_KEY": "no/such/file", "C_KEY": "1234567", "D_KEY": "$GIVEN_KEY", "E_KEY": key,
		"PATH": "/bin:/usr/bin",
	}}
	checkEqual(t, "the secrets in plain text", m.InPlain(), []string{"A_KEY", "B_TOKEN"})
}

// The variables of the members come first, then those of the program's environment. Short values may be any
// words, and names of files are none.
func TestSecretsOfATeam(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("INHERITED_EIGHT", "12345678")
	t.Setenv("INHERITED_SEVEN", "1234567")
	t.Setenv("INHERITED_FILE", file)
	crew := &team.Team{Members: []team.Member{
		{Env: map[string]string{"B": "b", "A": "a", "C": file}}, {}, {APIKeyEnv: "INHERITED_EIGHT"},
	}}
	inherited := team.InheritedSecrets()
	checkEqual(t, "the secrets", crew.Secrets(), append([]redact.Variable{
		{Name: "A", Value: "a"}, {Name: "B", Value: "b"}, {Name: "INHERITED_EIGHT", Value: "12345678", Certain: true},
	}, inherited...))
	checkEqual(t, "the secrets without a team", (*team.Team)(nil).Secrets(), inherited)
	for name, want := range map[string]bool{"INHERITED_EIGHT": true, "INHERITED_SEVEN": false, "INHERITED_FILE": false} {
		if got := slices.ContainsFunc(inherited, func(v redact.Variable) bool { return v.Name == name }); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestEnvironmentExpandsReferences(t *testing.T) {
	t.Setenv("GIVEN_KEY", "the key")
	t.Setenv("EMPTY_KEY", "")
	os.Unsetenv("NO_SUCH_KEY")
	m := team.Member{APIKeyEnv: "NO_SUCH_KEY_EITHER", Env: map[string]string{
		"A": "$GIVEN_KEY", "B": "${GIVEN_KEY}", "C": "$NO_SUCH_KEY", "D": "$EMPTY_KEY",
		"E": "$$GIVEN_KEY", "F": "price: $5", "G": "a$GIVEN_KEY", "H": "$", "I": "${GIVEN_KEY", "J": "$1", "K": "",
	}}
	checkEqual(t, "the environment", m.ForEngine("").Env, map[string]string{
		"A": "the key", "B": "the key", "D": "",
		"E": "$GIVEN_KEY", "F": "price: $5", "G": "a$GIVEN_KEY", "H": "$", "I": "${GIVEN_KEY", "J": "$1", "K": "",
	})
	checkEqual(t, "the unset variables", m.Unset(), []string{"NO_SUCH_KEY", "NO_SUCH_KEY_EITHER"})
	m.Env["NO_SUCH_KEY_EITHER"] = "$GIVEN_KEY"
	checkEqual(t, "the unset variables", m.Unset(), []string{"NO_SUCH_KEY"})
}

func TestCredentialsOfTheHubAreSecrets(t *testing.T) {
	for addresses, want := range map[string][]string{
		"nats://hub.example.com:4222,nats://[::1]:4222/,hub": nil,
		"nats://ann:made%2Dup@hub:4222":                      {"made%2Dup", "made-up"},
		"tls://made-up-token@hub,nats://ann:other@[::1]:1":   {"made-up-token", "other"},
		"nats://ann:cut,in-two@hub":                          {"cut", "in-two"},
		"ann:made-up@hub":                                    {"made-up"},
	} {
		t.Setenv("AGENT_CHATTER_HUB", addresses)
		var got []string
		for _, v := range team.InheritedSecrets() {
			if v.Name == "AGENT_CHATTER_HUB" {
				got = append(got, v.Value)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %s: %q, want %q", addresses, got, want)
		}
	}
}
