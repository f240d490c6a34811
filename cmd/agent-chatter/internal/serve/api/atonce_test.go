package api

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation/conversationtest"
)

// writeSession writes a session to a home.
func writeSession(t *testing.T, home string, payloads ...projection.Payload) {
	t.Helper()
	dir := journal.NewDir(filepath.Join(home, "sessions", "review"), journal.Options{})
	if err := conversationtest.Write(dir, apptest.AliceID, payloads...); err != nil {
		t.Fatal(err)
	}
}

// Turns that are open at the same time are items, each with its speaker, text, call and end, also while some run.
func TestItemsOfTurnsAtOnce(t *testing.T) {
	for _, n := range []int{2, 4} {
		payloads, turns := conversationtest.AtOnce(n)
		for open := range n + 1 {
			home := t.TempDir()
			writeSession(t, home, payloads[:len(payloads)-2*open]...)
			part := read[partJSON](t, newDesk(t, home), alice+"/items")
			if len(part.Items) != n+1 || !part.Started || !part.Ended {
				t.Fatalf("%d items of %d turns: %+v", len(part.Items), n, part)
			}
			html := ""
			for _, item := range part.Items {
				html += item.HTML
			}
			for i, turn := range turns {
				item := part.Items[i+1]
				for _, text := range []string{
					">" + turn.DisplayName + "</h3>", turn.Before, turn.After, ">" + turn.Command + "</", turn.Output + "</pre>",
				} {
					if strings.Count(item.HTML, text) != 1 || strings.Count(html, text) != 1 {
						t.Errorf("item %d of %d turns has not %q once:\n%s", i, n, text, item.HTML)
					}
				}
				ended := strings.Contains(item.HTML, fmt.Sprintf("%d.0s", i+1)) && !item.Open
				running := strings.Contains(item.HTML, "is running") && item.Open
				if ended == (i < open) || running != (i < open) {
					t.Errorf("item %d of %d turns, %d of them open:\n%s", i, n, open, item.HTML)
				}
			}
		}
	}
}

// A turn that later events show to be over is not open in any part of the session.
func TestItemOfATurnThatIsOver(t *testing.T) {
	payloads, turns := conversationtest.AtOnce(2)
	ada, mia := turns[0], payloads[1]
	home := t.TempDir()
	writeSession(t, home, payloads[0], mia, projection.TurnStarted{TurnID: ada.ID, MemberID: ada.Speaker.ID},
		projection.SessionResumed{}, mia, projection.TurnStarted{TurnID: "t2", MemberID: ada.Speaker.ID})
	d := newDesk(t, home)
	for _, place := range []string{"", "?before=5"} {
		part := read[partJSON](t, d, alice+"/items"+place)
		if item := part.Items[1]; item.Open || !strings.Contains(item.HTML, ">unfinished<") {
			t.Errorf("%q: %+v", place, item)
		}
	}
}
