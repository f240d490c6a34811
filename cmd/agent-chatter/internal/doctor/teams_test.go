package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
)

func TestDoctorChecksTheKeyOfTheHome(t *testing.T) {
	for name, change := range map[string]struct {
		with func(text string) string
		want string
	}{
		"its own":   {func(text string) string { return text }, ""},
		"of a copy": {func(text string) string { return strings.Replace(text, `"machine":"`, `"machine":"other-`, 1) }, "another machine"},
		"invalid":   {func(string) string { return "{}" }, "the key of the home cannot be used"},
		"empty":     {func(string) string { return "" }, "the key of the home cannot be used"},
	} {
		d := newDoctor(t.Context(), testApp(t))
		if found := d.checkKey(); found != nil {
			t.Errorf("without a key: %+v", found)
		}
		if _, err := home.Key(d.Home); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(d.Home, "id")
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(change.with(string(text))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		found := d.checkKey()
		if (len(found) > 0) != (change.want != "") || len(found) > 0 &&
			(!strings.Contains(found[0].What, change.want) || found[0].State != app.StateNote) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestDoctorFindsUnsetPermissions(t *testing.T) {
	d := newDoctor(t.Context(), testApp(t))
	dir := filepath.Join(d.Home, "team-config")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, permissions := range map[string]string{
		"set": `, "permissions": "deny"`, "unset": "", "invalid": `, "permissions": "many"`,
	} {
		member := func(name, more string) string {
			return fmt.Sprintf(`{"name": %q, "displayName": "A", "role": "r", "systemInstruction": "", "baseDir": ".", %s}`, name, more)
		}
		text := fmt.Sprintf(`{"schemaVersion": "1.2", "team": {"name": %q, "description": "", "members": [%s, %s, %s]}}`, name,
			member("you", `"type": "human"`), member("ada", `"type": "ai", "agentType": "gemini"`+permissions),
			member("bo", `"type": "ai", "agentType": "demo"`))
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := d.checkTeams()
	if len(found) != 1 || !strings.HasPrefix(found[0].What, "the permissions of ada in the team unset are unset") {
		t.Errorf("found %+v", found)
	}
}
