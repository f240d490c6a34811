package app

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

func TestRender(t *testing.T) {
	m := Text("It failed.").With(
		To("list", "sessions"), To("replay it", "replay", "it's $(x)"),
		ToRun("close it", "chmod", "go=", "/a b"), Help{"retry", hint.Hint{Kind: hint.Slash, Argv: []string{"retry"}}},
	)
	slash := func(argv []string) []string {
		if argv[0] == "sessions" {
			return argv
		}
		return nil
	}
	for name, test := range map[string]struct {
		to   Printer
		want []string
	}{
		"shell": {Printer{}, []string{
			"To list, type: agent-chatter sessions",
			`To replay it, type: agent-chatter replay 'it'\''s $(x)'`,
			"To close it, type: chmod go= '/a b'",
		}},
		"home named": {Printer{homeArgument: "/my home"}, []string{
			"To list, type: agent-chatter --home '/my home' sessions",
			`To replay it, type: agent-chatter --home '/my home' replay 'it'\''s $(x)'`,
			"To close it, type: chmod go= '/a b'",
		}},
		"chat": {Printer{Slash: slash}, []string{
			"To list, type: /sessions",
			`To replay it, type: agent-chatter replay 'it'\''s $(x)'`,
			"To close it, type: chmod go= '/a b'",
			"To retry, type: /retry",
		}},
	} {
		want := "It failed.\n" + strings.Join(test.want, "\n")
		if got := test.to.Render(m); got != want {
			t.Errorf("%s: it is\n%s\nwant\n%s", name, got, want)
		}
	}
}
