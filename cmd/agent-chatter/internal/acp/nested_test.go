package acp

import (
	"os"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestTeamIsAMemberOfATeam(t *testing.T) {
	outer, inner := t.TempDir(), t.TempDir()
	fakeTeam(t, inner, "ada")
	writeTeam(t, outer, os.Args[0], map[string]string{homeVariable: inner}, "inner")
	e := start(t, outer, "crew")
	id := e.begin()
	e.say(id, "say nested", sdk.StopReasonEndTurn)
	e.say(id, "say twice", sdk.StopReasonEndTurn)
	e.end()
	shown := e.text()
	for _, want := range []string{"**Inner**", "**Ada**", "nested", "twice"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in %q", want, shown)
		}
	}
	for home, want := range map[string]int{outer: 1, inner: 1} {
		a := newApp(t, home)
		list, err := a.Catalog.List(t.Context(), catalog.Query{})
		if err != nil || len(list.Sessions) != want {
			t.Errorf("%d sessions, %v", len(list.Sessions), err)
			continue
		}
		for _, s := range list.Sessions {
			if err := a.Catalog.At(s.Dir()).Journals().Check(s.ID); err != nil || s.Damaged != "" {
				t.Errorf("session %s: %v, %s", s.ID, err, s.Damaged)
			}
		}
	}
}
