package api

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/google/go-cmp/cmp"
)

var (
	human = projection.Speaker{ID: "you", Name: "you", DisplayName: "You\x1b[31m", Type: projection.TypeHuman}
	agent = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
)

// written writes a session and returns its directory.
func written(t *testing.T, home string, payloads ...projection.Payload) {
	t.Helper()
	log, err := journal.NewDir(filepath.Join(home, "sessions", "review"), journal.Options{}).Create(apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	var members []projection.Member
	for _, m := range []projection.Speaker{human, agent} {
		members = append(members, projection.Member{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type})
	}
	first := projection.SessionCreated{Format: projection.Format, SessionID: apptest.AliceID,
		Team: projection.Team{ID: "review", Members: members}}
	for _, p := range append([]projection.Payload{first}, payloads...) {
		if _, err := log.Append(projection.Record(time.Now(), p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func said(by projection.Speaker, text string) projection.Payload {
	return projection.NewMessage("m", time.Now(), by, text, nil)
}

func TestMembersOfASession(t *testing.T) {
	home := t.TempDir()
	written(t, home)
	got := read[headJSON](t, newDesk(t, home), alice).Members
	want := []memberJSON{{ID: "you", Name: "You␛[31m", Class: "fg6", Human: true}, {ID: "ada", Name: "Ada", Class: "fg5"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// whole reads a text, a part after the other.
func whole(t *testing.T, d *Server, query string) (text string, parts int) {
	t.Helper()
	for from := 0; ; parts++ {
		part := read[textJSON](t, d, fmt.Sprintf("%s/text?%s&from=%d", alice, query, from))
		text += part.Text
		if part.Next == 0 {
			return text, parts + 1
		}
		if part.Next <= from || len(part.Text) > maxRest+2 { // a control character is shown by three bytes
			t.Fatalf("%d bytes from %d to %d", len(part.Text), from, part.Next)
		}
		from = part.Next
	}
}

func TestWholeTexts(t *testing.T) {
	home := t.TempDir()
	long := strings.Repeat("é", 1<<20)
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	input, _ := json.Marshal(map[string]string{"command": "echo " + secret})
	written(t, home, said(human, long), projection.TurnStarted{TurnID: "t", MemberID: "ada"},
		projection.ToolStarted{TurnID: "t", ToolID: "1", Name: "Bash", Input: input},
		projection.ToolCompleted{TurnID: "t", ToolID: "1", Output: "a\x1b[0m\n"}, said(agent, "done: "+secret))
	d := newDesk(t, home)
	for query, want := range map[string]string{
		"of=message&seq=2": long, "of=markdown&seq=2": "**You␛[31m**\n\n" + long + "\n", "of=output&seq=4": "a␛[0m\n",
		"of=other&seq=4": "", "of=input&seq=5": "", "of=message&seq=2&to=6": "ééé", "of=message&seq=2&to=99999999": long,
	} {
		got, parts := whole(t, d, query)
		if got != want || len(want) > maxRest && parts < 2 {
			t.Errorf("%s: %d bytes in %d parts: %.100q", query, len(got), parts, got)
		}
	}
	for _, query := range []string{"of=input&seq=4", "of=message&seq=6", "of=markdown&seq=6"} {
		if got, _ := whole(t, d, query); strings.Contains(got, secret) || got == "" {
			t.Errorf("%s: %q", query, got)
		}
	}
	for query, want := range map[string]int{
		"of=message": http.StatusBadRequest, "of=message&seq=0": http.StatusBadRequest,
		"of=message&seq=2&from=-1": http.StatusBadRequest, "of=message&seq=2&to=x": http.StatusBadRequest,
		"of=message&seq=1": http.StatusNotFound, "of=message&seq=99": http.StatusNotFound,
	} {
		if status, text := ask(t, d, http.MethodGet, alice+"/text?"+query); status != want {
			t.Errorf("%s: %d, %s", query, status, text)
		}
	}
}

// found returns the events that a search finds, and its last line.
func found(t *testing.T, d *Server, text string) (seqs []uint64, end hitJSON) {
	t.Helper()
	status, answer := ask(t, d, http.MethodGet, alice+"/search?text="+text)
	if status != http.StatusOK {
		t.Fatalf("%s: %d, %s", text, status, answer)
	}
	lines := bufio.NewScanner(strings.NewReader(answer))
	for lines.Scan() {
		end = hitJSON{}
		if err := json.Unmarshal(lines.Bytes(), &end); err != nil {
			t.Fatal(err)
		}
		if end.Seq > 0 {
			seqs = append(seqs, end.Seq)
		}
	}
	return seqs, end
}

func TestSearchInASession(t *testing.T) {
	home := t.TempDir()
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	written(t, home, said(human, "The kettle"), said(agent, "no Kettle, no tea"), said(human, "the token is "+secret),
		projection.TurnStarted{TurnID: "t", MemberID: "ada"},
		projection.TurnEnded{TurnID: "t", MemberID: "ada", FinishReason: projection.Cancelled, Partial: "an unfinished kettle"})
	d := newDesk(t, home)
	for text, want := range map[string][]uint64{
		"kettle": {2, 3, 6}, "Kettle": {3}, "nothing": nil, "token": {4}, secret: nil, secret[8:20]: nil, "kettle.*tea": nil,
		"kettle&from=3": {3, 6, 2}, "kettle&from=7": {2, 3, 6}, "kettle&from=99": {2, 3, 6},
	} {
		got, end := found(t, d, text)
		if !slices.Equal(got, want) || !end.Ended || end.More || end.Error != "" {
			t.Errorf("%s: %v, %+v", text, got, end)
		}
	}
	extended(t, home)
	damage(t, home, 4, "token")
	if got, end := found(t, d, "kettle"); !slices.Equal(got, []uint64{2, 3}) || !strings.Contains(end.Error, "repair") {
		t.Errorf("in a damaged session: %v, %+v", got, end)
	}
	for path, want := range map[string]int{
		alice + "/search": http.StatusBadRequest, alice + "/search?text=": http.StatusBadRequest,
		alice + "/search?text=a&from=0": http.StatusBadRequest, alice + "/search?text=a&from=x": http.StatusBadRequest,
		"/api/sessions/review/" + apptest.BobID + "/search?text=a": http.StatusNotFound,
	} {
		if status, text := ask(t, d, http.MethodGet, path); status != want {
			t.Errorf("%s: %d, %s", path, status, text)
		}
	}
}
