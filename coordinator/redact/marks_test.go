package redact_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
)

func TestMarks(t *testing.T) {
	token := "ghp_" + strings.Repeat("a1B2", 9)
	written := redact.New([]redact.Variable{{Name: "DB_PASSWORD", Value: "Tr0ub4dor3xyz9q"}}).Text("with Tr0ub4dor3xyz9q and " + token)
	for text, want := range map[string]string{
		written:                        "[DB_PASSWORD github-token]",
		"":                             "[]",
		"[REDACTED:":                   "[]",
		"[REDACTED:]":                  "[]",
		"[REDACTED:a":                  "[]",
		"[REDACTED:a b]":               "[]",
		"[REDACTED:<b>]":               "[]",
		"[REDACTED:[REDACTED:a]]":      "[a]",
		"x[REDACTED:a][REDACTED:a]":    "[a a]",
		"[REDACTED:a-1_.B]":            "[a-1_.B]",
		mark(strings.Repeat("a", 100)): fmt.Sprint([]string{strings.Repeat("a", 100)}),
		mark(strings.Repeat("a", 101)): "[]",
	} {
		if got := fmt.Sprint(slices.Collect(redact.Marks([]byte(text)))); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	for kind := range redact.Marks([]byte(written)) {
		if kind != "DB_PASSWORD" {
			t.Errorf("it goes on with %s", kind)
		}
		break
	}
}

func mark(kind string) string { return "[REDACTED:" + kind + "]" }
