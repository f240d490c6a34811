package hub_test

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
)

func TestSessionsOfHostileNamesAreNotValid(t *testing.T) {
	const id = "01JD0000000000000000000000"
	for _, team := range []string{"demo", "review_2", "a-b", journal.DirName("团队A"), journal.DirName("con"),
		journal.DirName(strings.Repeat("x", 300)), journal.DirName("../../etc")} {
		if !(hub.Session{Team: team, ID: id}).Valid() {
			t.Errorf("the team %q is refused", team)
		}
	}
	for _, team := range []string{"", ".", "..", "a/b", `a\b`, "a b", "con", "CON", "nul", "é", "a:b", "x\x00",
		strings.Repeat("x", 65), "-", "a.b", "Demo", "DEMO", "Demo-review",
		"demo-ABCDEF12"} {
		if team != "-" && (hub.Session{Team: team, ID: id}).Valid() {
			t.Errorf("the team %q is accepted", team)
		}
	}
	for _, id := range []string{"", "x", "01jd0000000000000000000000", "../../../../etc/passwd", id + "/x", id + "\x00"} {
		if (hub.Session{Team: "demo", ID: id}).Valid() {
			t.Errorf("the id %q is accepted", id)
		}
	}
}
