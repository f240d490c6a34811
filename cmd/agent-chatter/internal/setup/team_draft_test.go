package setup

import "testing"

func TestPlainNames(t *testing.T) {
	for name, want := range map[string]string{
		"azAZ09_-b":     "azAZ09_-b",
		"My Team.v2":    "My-Team-v2",
		"-.team. ":      "team",
		"a@[`{/:é\x00b": "ab",
		"チーム":           "fallback",
		"":              "fallback",
		"..":            "fallback",
	} {
		if got := plainName(name, "fallback"); got != want {
			t.Errorf("plainName(%q) is %q, want %q", name, got, want)
		}
	}
}
