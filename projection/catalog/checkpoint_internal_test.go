package catalog

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
	"github.com/agent-chatter/agent-chatter/projection"
)

// remembered is a checkpoint of a session of which much is to be kept.
func remembered() checkpoint {
	at := time.Date(2026, 11, 21, 12, 30, 0, 123456789, time.UTC)
	ada := projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada <é> \u2028", Type: projection.TypeAI}
	bob := "bob"
	message := func(seq uint64, content string) projection.Entry {
		return projection.Entry{
			Seq:     seq,
			Message: projection.Message{ID: "m", Timestamp: "2026-11-21T12:30:00Z", Speaker: ada, Content: content},
		}
	}
	routed := message(7, "quotes \" and \\, tabs \t, <tags> & \U0001F600 \u2028")
	routed.Routing = &projection.Routing{
		RawNextMarkers: []string{"bob", "eve"},
		ResolvedAddressees: []projection.Addressee{
			{Identifier: "bob", MemberID: &bob, MemberName: &bob},
			{Identifier: "eve"},
		},
	}
	return checkpoint{
		FoldVersion: projection.FoldVersion, Position: journal.Position{Seq: 9, Offset: 4096, Sum: 0x12ab34cd},
		State: &projection.State{
			Seq:       9,
			SessionID: "01KAHV6T3R8Q4Y2M0N7C5B0001",
			Team:      projection.Team{ID: "kitchen", Members: []projection.Member{{ID: "ada"}}},
			CWD:       "/home/mia",
			Row:       projection.Row{CreatedAt: at, UpdatedAt: at, Title: "Tea"},
			Stats: projection.Stats{
				Messages: 3,
				ByMember: map[string]int{"recent": 3},
				Usage:    projection.Totals{Input: 5, Costs: map[string]float64{"USD": 0.25}},
			},
			Speakers:  []projection.Speaker{ada},
			OpenTurns: []projection.OpenTurn{{StartedAt: at, Text: `,"recent":[{"seq":1}]`}},
			Recent:    []projection.Entry{message(5, ""), routed},
			Unknown:   map[string]int{"tea.made": 1},
			Newer:     true,
		},
	}
}

func TestCheckpointIsDecodedWithoutReflection(t *testing.T) {
	want := remembered()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if !layout.Decode(text, new(checkpoint)) {
		t.Errorf("it is left to encoding/json: %s", text)
	}
	if got, ok := decodeCheckpoint(text); !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nnot\n%+v", got.State, want.State)
	}
}

func FuzzCheckpointEqualsEncodingJSON(f *testing.F) {
	genuine, err := json.Marshal(remembered())
	if err != nil {
		f.Fatal(err)
	}
	none := remembered()
	none.State.Recent = nil
	without, err := json.Marshal(none)
	if err != nil {
		f.Fatal(err)
	}
	text := string(genuine)
	list := regexp.MustCompile(`"recent":\[.*\],"unknown"`).FindString(text)
	list = strings.TrimSuffix(list, `,"unknown"`)
	for _, seed := range []string{
		text, string(without), "", "{}", `{"state":{"seq":1,"recent":[]}}`, `{"state":{"seq":1,"recent":[null]}}`,
		`{"state":null,"recent":[]}`,
		strings.Replace(text, `"recent":`, `"Recent":`, 1), strings.Replace(text, `,"unknown"`,
			`,"recent":[],"unknown"`, 1),
		strings.Replace(text, `,"unknown"`, `,"RECENT":[{"seq":3}],"unknown"`, 1), strings.Replace(text, `"seq":7`,
			`"seq":07`, 1),
		strings.Replace(text, `,"unknown"`, `,"recent":null,"unknown"`, 1), strings.Replace(text, `,"unknown"`,
			`,"Recent":null,"unknown"`, 1),
		`{"state":{"seq":1},` + list + `}`, `{"state":{"seq":1}},` + list, `{"state":{"seq":1,"other":{"a":1,` + list +
			`}}}`, `{"state":{"seq":1,"lastTurn":{"a":1,` + list + `}}}`,
		`{"x":[1,` + list + `],"state":{"seq":1}}`, `{"x",` + list + `:1}`, `{"state":{"seq":1,"cwd":"a,` + list +
			`"}}`,
		`{"state":{"seq":1,"a":1,` + list + `},"state":null,"state":{"seq":2}}`,
		`{"state":{"seq":1,"openTurns":[{"tools":[{"input":{"a":1,` + list + `}}]}]}}`,
		strings.Replace(text, `"content"`, `"Content"`, 1), strings.Replace(text, `"recent":[`, `"recent":[ `, 1),
		text[:len(text)-1],
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var want checkpoint
		err := json.Unmarshal([]byte(text), &want)
		got, ok := decodeCheckpoint([]byte(text))
		if ok != (err == nil) {
			t.Fatalf("read: %v; encoding/json: %v", ok, err)
		}
		if ok && !reflect.DeepEqual(got, want) {
			t.Errorf("%+v\nnot\n%+v", got.State, want.State)
		}
	})
}
