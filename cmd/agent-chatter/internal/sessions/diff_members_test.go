package sessions

import (
	"bufio"
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation/conversationtest"
)

// panelThenTurn returns the events of a panel of Ada and Bo, and a later turn of Ada.
func panelThenTurn() []projection.Payload {
	payloads, turns := conversationtest.AtOnce(2)
	for i, p := range payloads {
		if p, ok := p.(projection.TurnStarted); ok {
			p.Panel = &projection.Panel{ID: "p", Index: 1, Of: 2}
			payloads[i] = p
		}
	}
	for _, turn := range turns {
		plus := len(turn.ID)
		payloads = append(payloads, projection.FilesChanged{
			TurnID: turn.ID, MemberID: turn.Speaker.ID, Dir: "/d", Before: strings.Repeat("1", 64),
			After: strings.Repeat("2", 64), Modified: 1,
			Changes: []projection.FileChange{{Path: "kettle.go", Kind: projection.FileModified, Plus: &plus, Minus: new(int)}},
		})
	}
	ada := turns[0].Speaker
	said := projection.NewMessage("later", time.Unix(0, 0), ada, "something else", nil)
	said.TurnID = "later"
	return append(payloads, projection.TurnStarted{TurnID: "later", MemberID: ada.ID}, said,
		projection.TurnEnded{TurnID: "later", MemberID: ada.ID, FinishReason: projection.Done})
}

func TestRepliesOfAPanelAreCompared(t *testing.T) {
	_, turns := conversationtest.AtOnce(2)
	a, b := turns[0], turns[1]
	members := []string{strings.ToUpper(a.Speaker.ID), b.DisplayName}
	got := printed(t, panelThenTurn(), (&Diff{A: apptest.AliceID, Member: members, Output: "text"}).Run)
	for _, want := range []string{
		"answered at the same time.", "< ", a.Text(), "< 1 file changed", "> ", b.Text(), "Both changed: kettle.go",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	got = printed(t, panelThenTurn(), (&Diff{A: apptest.AliceID, Member: members, Output: "json"}).Run)
	if strings.Count(got, `"panel":"p"`) != 2 || strings.Count(got, `"files":[{"path":"kettle.go","kind":"modified"`) != 2 ||
		strings.Contains(got, "something else") {
		t.Errorf("as JSON it prints\n%s", got)
	}
}

func TestMembersThatCannotBeCompared(t *testing.T) {
	home := t.TempDir()
	dir := journal.NewDir(filepath.Join(home, "sessions", "kitchen"), journal.Options{})
	if err := conversationtest.Write(dir, apptest.AliceID, panelThenTurn()...); err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	for want, cmd := range map[string]*Diff{
		"Name two sessions": {A: apptest.AliceID},
		"such as: sessions": {A: apptest.AliceID, B: apptest.BobID, Member: []string{"ada", "bo"}},
		"Name two":          {A: apptest.AliceID, Member: []string{"ada", "ADA"}},
		"Name":              {A: apptest.AliceID, Member: []string{"ada", "bo", "cy"}},
		"no reply of zoe":   {A: apptest.AliceID, Member: []string{"ada", "zoe"}},
	} {
		if err := cmd.Run(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", cmd, err, want)
		}
	}
}

// On a terminal the replies are as in the chat, side by side where that fits.
func TestRepliesBesideEachOther(t *testing.T) {
	for columns, beside := range map[int]bool{120: true, 60: false} {
		var out bytes.Buffer
		w := bufio.NewWriter(&out)
		if err := printReplies(w, comparedReplies(), view.Style{Width: columns, Profile: ansi.NoColor}); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		at := func(text string) int {
			before, _, _ := strings.Cut(out.String(), text)
			return strings.Count(before, "\n")
		}
		if (at("I am ada") == at("I am bea")) != beside {
			t.Errorf("in %d columns:\n%s", columns, out.String())
		}
	}
}
