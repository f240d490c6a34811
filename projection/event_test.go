package projection_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// everyPayload returns a payload of every type with all fields set.
func everyPayload() []projection.Payload {
	task, model, permissions, most := "Repair the kettle", "sonnet", "", 2.5
	tree, lines := strings.Repeat("0123456789abcdef", 4), 7
	source := &projection.Source{Path: "/home/mia/team.json", SHA256: strings.Repeat("0123456789abcdef", 4)}
	team := kitchen
	team.Source = source
	app := projection.App{Name: "agent-chatter", Version: "1.2.3"}
	return []projection.Payload{
		projection.SessionCreated{
			Format:    1,
			SessionID: "s1",
			Team:      team,
			CWD:       "/home/mia",
			App:       app,
			Parent:    &projection.Parent{SessionID: "s0", Seq: 3},
			Limits:    projection.Limits{MaxRounds: 50, MaxRunRounds: 10},
		},
		projection.SessionResumed{
			App:     app,
			CWD:     "/",
			Source:  source,
			Missing: []projection.MemberRef{{ID: "c", Name: "carol"}},
			Changed: []projection.MemberChange{
				{
					MemberRef: projection.MemberRef{ID: "a", Name: "ada"},
					AgentType: &projection.Change{From: "x", To: "y"},
					Model:     &projection.Change{To: "m"},
				},
			},
			Limits: projection.Limits{MaxRounds: 50, MaxRunRounds: 10},
		},
		projection.SessionRenamed{Title: "The <b> & kettle"},
		projection.SessionPinned{Pinned: true},
		projection.SessionEnded{Reason: "exit"},
		projection.SessionImported{
			Source: "claude", Path: "/x.jsonl", Taken: 3, Skipped: 2,
			Origin: &projection.ImportOrigin{AgentSession: "a0", Point: "p0", Sum: "0badcafe", Host: "h"},
		},
		projection.TaskSet{Task: &task},
		projection.NewMessage("m1", created, ada, "It is \xff broken", to("mia", "carol")),
		projection.MessageAppended{
			Message: projection.Message{ID: "m3", Timestamp: "2026-11-20T09:01:00.000Z", Speaker: mia},
			Attachments: []projection.File{
				{Name: "kettle.png", MediaType: "image/png", Bytes: 12, SHA256: strings.Repeat("ab", 32)},
				{Name: "a\nb", SHA256: strings.Repeat("0f", 32)},
			},
		},
		projection.QueueChanged{
			MessageID: "m1",
			Changes: []projection.QueueChange{
				{Action: projection.QueuePreferred, MemberID: "ada", Intent: "P1", Reason: "it interrupts"},
			},
			More: 2, Waiting: []string{"bo"},
		},
		projection.TurnStarted{
			TurnID:           "t1",
			MemberID:         "ada",
			AgentType:        "claude",
			Model:            "opus",
			Panel:            &projection.Panel{ID: "p1", Index: 1, Of: 2},
			TriggerMessageID: "m1",
			Round:            3,
		},
		projection.TurnText{TurnID: "t1", Text: "It is"},
		projection.ToolStarted{TurnID: "t1", ToolID: "u1", Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`)},
		projection.ToolCompleted{
			TurnID:      "t1",
			ToolID:      "u1",
			Name:        "Bash",
			Output:      "a\nb",
			OutputBytes: 70_000,
			Error:       "exit status 1",
		},
		projection.PermissionBypassed{TurnID: "t1", ToolID: "c1", Name: "execute", Title: "rm kettle.txt"},
		projection.AgentAttached{
			TurnID: "t1", MemberID: "ada", Way: projection.AttachForked, AgentSession: "a1", Point: "p1",
			SessionID: "s", Host: "h", From: 2, Seen: 3, Sum: "0badcafe", Resident: "t0", Reason: projection.ReasonGone,
			Basis: projection.Basis{Settings: "1", Instructions: "2", Secrets: "3", Team: "4", Task: "5"},
		},
		projection.SummaryWritten{
			MemberID: "ada", WriterID: "bo", From: 2, To: 3, Seen: 5, Sum: "0badcafe", Text: "It boils.", Model: "m",
			Usage: &projection.Usage{Input: 3}, Instructions: "2", Secrets: "3",
		},
		projection.AgentCompacted{TurnID: "t1", MemberID: "ada", Before: 90_000, After: 8_000},
		projection.InputReceived{MessageID: "m1", Device: "Ann's phone", InputID: "i1"},
		projection.TurnSteered{TurnID: "t1", MessageID: "m1"},
		projection.MemberChanged{
			MemberID: "cy", Model: &model, Permissions: &permissions, Agent: "claude-acp", Removed: true, Host: "h",
			Added: &projection.Member{
				ID: "cy", Name: "cy", DisplayName: "Cy", Type: projection.TypeAI, AgentType: "claude", Model: "opus",
			},
		},
		projection.BudgetChanged{Limit: "session.cost", Most: &most, Host: "h"},
		projection.FilesCaptured{
			CaptureID: "c1", TurnID: "t1", When: projection.BeforeTurn, Dir: "/home/mia", Root: tree, Files: 3, Bytes: 4,
			Skipped:     []projection.SkippedFile{{Path: "a\xffb", Why: "over the limit"}},
			SkippedMore: 5, DurationMS: 6, Host: "h",
		},
		projection.FilesChanged{
			TurnID: "t1", MemberID: "ada", Dir: "/home/mia", Before: tree, After: tree, Added: 1, Modified: 2, Deleted: 3,
			Changes: []projection.FileChange{{Path: "a", Kind: projection.FileAdded, Plus: &lines, Minus: &lines}},
			More:    4, With: []string{"t2"}, Late: true, Host: "h",
		},
		projection.FilesRestoring{
			RestoreID: "r1", Dir: "/home/mia", Target: tree, Undo: tree, Seq: 4, Paths: []projection.FilePath{"a"},
			Force: true, Turn: 2, MemberID: "ada", Part: true, Merge: "bob", Host: "h",
		},
		projection.FilesRestored{
			RestoreID: "r1", Written: 1, Removed: 2,
			Changes: []projection.FileChange{{Path: "b", Kind: projection.FileDeleted}}, Kept: []projection.SkippedFile{{Path: "a", Why: "you changed it"}},
			More: 3, Failed: 4, After: tree, Merge: "bob", Host: "h",
		},
		projection.FilesDropped{Dir: "/home/mia", Roots: []string{tree}, Why: "over the limit"},
		projection.WorktreeCreated{
			TurnID: "t1", MemberID: "ada", Dir: "/h/worktrees/s/ada", Source: "/home/mia", Base: tree, Head: "c1",
			Port: 20_000, Host: "h",
		},
		projection.WorktreeMerged{RestoreID: "r1", MemberID: "ada", Dir: "/h/worktrees/s/ada", Base: tree, Host: "h"},
		projection.WorktreeDropped{MemberID: "ada", Dir: "/h/worktrees/s/ada", Tree: tree, Branch: "kettle"},
		projection.PlanUpdated{TurnID: "t1", Entries: []projection.PlanEntry{
			{Content: "Look at the plug", Status: projection.Completed, Priority: "high"},
			{Content: "Buy a kettle", Status: projection.InProgress},
			{Content: "Boil water", Status: projection.Pending},
		}, More: 2},
		projection.TurnEnded{
			TurnID: "t1", MemberID: "ada", FinishReason: projection.TimedOut, DurationMS: 12, Error: "too slow",
			Partial: "It", PartialBytes: 70_000,
			Usage: &projection.Usage{
				Input: 5, CachedRead: 70, CachedWrite: 8, Output: 6, Thought: 4,
				Cost: &projection.Cost{Amount: 0.0125, Currency: "USD"},
			}, PromptSHA256: strings.Repeat("0123456789abcdef", 4),
			Instructions: strings.Repeat("fedcba9876543210", 4), AgentSession: "x",
		},
		projection.JournalRecovered{
			Recovered: journal.Recovered{
				Reason:   "half a line",
				Aside:    "s1.aside-1",
				Offset:   5,
				Bytes:    6,
				FirstSeq: 7,
				LastSeq:  8,
			},
		},
		projection.JournalSealed{},
	}
}

// retired returns the payloads of a retention journal.
func retired() []projection.Payload {
	what := projection.Retired{SessionID: "s1", BytesBefore: 1090, BytesAfter: 420, Reason: "idle for 30 days"}
	return []projection.Payload{
		projection.SessionArchived{Retired: what},
		projection.SessionTrashed{Retired: what},
		projection.SessionPurged{Retired: what},
	}
}

func TestManualListsEventTypes(t *testing.T) {
	page, err := os.ReadFile("../cmd/agent-chatter/guide/format.md")
	if err != nil {
		t.Fatal(err)
	}
	_, events, _ := strings.Cut(string(page), "\n## Events\n")
	events, _, _ = strings.Cut(events, "\n## ")
	var listed []string
	for _, match := range regexp.MustCompile("`([a-z]+\\.[a-z]+)`").FindAllStringSubmatch(events, -1) {
		if match[1] != "retention.jsonl" {
			listed = append(listed, match[1])
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(slices.Sorted(slices.Values(projection.EventTypes())), listed); diff != "" {
		t.Errorf("the list of the manual (-want +got):\n%s", diff)
	}
}

func TestEveryPayloadIsValidAndDecodesToItself(t *testing.T) {
	for _, want := range append(everyPayload(), retired()...) {
		e := numbered(t, record(want))[0]
		t.Run(e.Type, func(t *testing.T) {
			if err := schemas.Check(schemas.JournalEvent, e.Line()); err != nil {
				t.Error(err)
			}
			got, err := projection.Decode(e)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMinimalPayloadsAreValid(t *testing.T) {
	for _, p := range []projection.Payload{
		projection.SessionCreated{
			Format: 1, SessionID: "s1", Team: projection.Team{ID: "t", Members: []projection.Member{}},
		},
		projection.SessionResumed{},
		projection.SessionRenamed{},
		projection.SessionPinned{},
		projection.SessionEnded{},
		projection.SessionImported{},
		projection.TaskSet{},
		projection.NewMessage("", created, projection.Speaker{Type: projection.TypeSystem}, "", nil),
		projection.NewMessage("", created, mia, "", &projection.Routing{}),
		projection.QueueChanged{Changes: []projection.QueueChange{}, Waiting: []string{}},
		projection.TurnStarted{TurnID: "t1", MemberID: "ada"},
		projection.TurnText{TurnID: "t1"},
		projection.ToolStarted{TurnID: "t1"},
		projection.ToolCompleted{TurnID: "t1"},
		projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Done},
	} {
		e := numbered(t, record(p))[0]
		if err := schemas.Check(schemas.JournalEvent, e.Line()); err != nil {
			t.Errorf("%s\n%v", e.Line(), err)
		}
	}
}

func TestRecordDoesNotEscapeHTML(t *testing.T) {
	if data := string(record(projection.TurnText{Text: "<&>"}).Data); !strings.Contains(data, "<&>") {
		t.Error(data)
	}
}

func TestRecordKeepsTheTime(t *testing.T) {
	at := created.Add(time.Hour)
	if got := projection.Record(at, projection.TurnText{}).Time; !got.Equal(at) {
		t.Errorf("the time is %v", got)
	}
	if got := projection.Record(time.Time{}, projection.TurnText{}).Time; !got.IsZero() {
		t.Errorf("the time of appending became %v", got)
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, test := range []struct {
		name, eventType, data string
		want                  error // nil: an error of encoding/json
	}{
		{"an unknown type", "water.poured", `{}`, projection.ErrUnknownType},
		{"an unknown type in a newer version", "water.poured", `{"v":2}`, projection.ErrUnknownType},
		{"a newer version", "turn.text", `{"v":2,"turnId":"t1"}`, projection.ErrNewer},
		{
			"a newer version in another layout", "turn.text", "{ \"turnId\" : \"t1\",\n\t\"v\" : 2 }",
			projection.ErrNewer,
		},
		{"another shape", "turn.text", `{"turnId":5}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := projection.Decode(journal.Event{Seq: 12, Type: test.eventType, Data: json.RawMessage(test.data)})
			if err == nil {
				t.Fatalf("decoded as %#v", p)
			}
			for _, known := range []error{projection.ErrUnknownType, projection.ErrNewer} {
				if errors.Is(err, known) != (known == test.want) {
					t.Errorf("%v: is %v? %v", err, known, errors.Is(err, known))
				}
			}
			if want := fmt.Sprintf("event 12, %s: ", test.eventType); !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v does not identify the event", err)
			}
		})
	}
}

func TestDecodeReadsVersion1(t *testing.T) {
	for _, data := range []string{
		`{"turnId":"t1"}`, `{"v":1,"turnId":"t1"}`, `{"turnId":"t1","text":"\"v\":2"}`,
		`{"turnId":"t1","more":{"v":2}}`, `{"v":0,"turnId":"t1"}`,
	} {
		p, err := projection.Decode(journal.Event{Type: "turn.text", Data: json.RawMessage(data)})
		if err != nil || p.(projection.TurnText).TurnID != "t1" {
			t.Errorf("%s: %#v, %v", data, p, err)
		}
	}
}

func TestTurnEndedOfVersion1IsUpcast(t *testing.T) {
	want := projection.TurnEnded{
		TurnID: "t1", MemberID: "ada", FinishReason: projection.Done, DurationMS: 1,
		Usage: &projection.Usage{Input: 7, Output: 9}, Error: "e", Partial: "p", PartialBytes: 5, AgentSession: "s",
	}
	const v1 = `1,"usage":{"inputTokens":7,"outputTokens":9},"error":"e","partial":"p","partialBytes":5,"agentSession":"s"`
	for _, data := range []string{turnEnded(v1), turnEnded(v1 + `,"v":1`), turnEnded(v1 + ` `)} {
		got, err := projection.Decode(journal.Event{Type: "turn.ended", Data: json.RawMessage(data)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", data, diff)
		}
	}
}

func TestTotalsNeverOverflow(t *testing.T) {
	ended := func(u projection.Usage) journal.Record { return record(projection.TurnEnded{TurnID: "t", Usage: &u}) }
	money := func(amount float64) *projection.Cost { return &projection.Cost{Amount: amount, Currency: "USD"} }
	most := projection.Usage{
		Input: math.MaxInt64, CachedRead: math.MaxInt64, CachedWrite: math.MaxInt64, Output: math.MaxInt64,
		Thought: math.MaxInt64, Cost: money(math.MaxFloat64),
	}
	s := fold(session(t, ended(most), ended(most), ended(projection.Usage{Input: -5, Cost: money(-1)}),
		ended(projection.Usage{Cost: &projection.Cost{Amount: 1, Currency: "dollars"}}))...)
	want := projection.Totals{
		Input: math.MaxInt64, CachedRead: math.MaxInt64, CachedWrite: math.MaxInt64, Output: math.MaxInt64,
		Thought: math.MaxInt64, Costs: map[string]float64{"USD": math.MaxFloat64},
	}
	if diff := cmp.Diff(want, s.Stats.Usage); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
}

func TestCostsAreBounded(t *testing.T) {
	var ends []journal.Record
	for i := range 30 {
		currency := string([]rune{'A', rune('A' + i/26), rune('A' + i%26)})
		ends = append(ends, record(projection.TurnEnded{
			TurnID: "t", Usage: &projection.Usage{Cost: &projection.Cost{Amount: 0.5, Currency: currency}},
		}))
	}
	if s := fold(session(t, append(ends, ends...)...)...); len(s.Stats.Usage.Costs) != 20 || s.Stats.Usage.Costs["AAT"] != 1 {
		t.Errorf("%v", s.Stats.Usage.Costs)
	}
}

func FuzzDecodePayload(f *testing.F) {
	for _, p := range everyPayload() {
		r := record(p)
		f.Add(r.Type, []byte(r.Data))
	}
	for _, odd := range oddPayloads {
		if len(odd.data) < 1000 {
			f.Add(odd.eventType, []byte(odd.data))
		}
	}
	f.Fuzz(func(t *testing.T, eventType string, data []byte) {
		e := journal.Event{Seq: 2, Time: created, Type: eventType, Data: data}
		sameAsPackageJSON(t, e)
		foldsAsPackageJSON(t, e)
		fitsAsTheSchemaSays(t, e)
		p, err := projection.Decode(e)
		if err == nil {
			again, err := projection.Decode(journal.Event{Type: eventType, Data: projection.Record(created, p).Data})
			if err != nil {
				t.Fatalf("decoding the encoded payload: %v", err)
			}
			if diff := cmp.Diff(string(marshal(t, p)), string(marshal(t, again))); diff != "" {
				t.Fatalf("encoded and decoded again (-first +again):\n%s", diff)
			}
		}
		s := fold(session(t)...)
		s.Apply(e)
		checkBounds(t, s)
		same(t, throughJSON(t, s), s)
	})
}
