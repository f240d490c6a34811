package updates_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/acp/updates"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"github.com/agent-chatter/agent-chatter/projection/marker"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
)

// rapid must not write failing inputs to testdata, which every later run would repeat.
func init() { flag.Set("rapid.nofailfile", "true") }

var pieces = []string{
	"tea ", "boils", "\n", "\n\n", " ", "\t", "\r\n", "\r", "[", "[NE", "[NEXT: bo]", "[NEXT:", "[DROP: ALL]", "XT: x]", "]",
	"[TEAM_TASK: y]", "```", "```go\n", "~~~~\n", "\n```\n", "> ", "- ", "`", "**", "\x1b[2J", "\u202e", "\u0085", "壶", "🫖", "\ufffd",
	strings.Repeat("long ", 20_000),
}

// A drawnTurn is a turn that is open.
type drawnTurn struct {
	id       string
	by       projection.Speaker
	reply    string
	recorded int // length of what turn.text events have of reply
	replied  bool
}

// record records what streamed since the last record, as a coordinator does, at the latest before a tool.
func (s *session) record(turns ...*drawnTurn) {
	for _, t := range turns {
		if t.recorded < len(t.reply) && !t.replied {
			s.add(projection.TurnText{TurnID: t.id, Text: t.reply[t.recorded:]})
		}
		t.recorded = len(t.reply)
	}
}

// drawStep adds a step of a turn, and reports whether it ended the turn. said is what the member said, if the step shows
// all of it.
func drawStep(t *rapid.T, s *session, turn *drawnTurn) (ended bool, said string) {
	tool := fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "tool"))
	switch rapid.IntRange(0, 14).Draw(t, "step") {
	case 0:
		s.record(turn)
		s.add(projection.ToolStarted{TurnID: turn.id, ToolID: tool, Name: rapid.SampledFrom([]string{"Bash", "TodoWrite"}).Draw(t, "name")})
	case 1:
		s.add(projection.ToolCompleted{TurnID: turn.id, ToolID: tool, Name: "Bash", Output: "x"})
	case 2:
		s.record(turn)
		s.add(projection.PlanUpdated{TurnID: turn.id, Entries: []projection.PlanEntry{{Content: tool}}})
	case 3:
		s.record(turn)
	case 4:
		s.add(projection.PermissionAnswered{TurnID: turn.id, ToolID: tool, Allowed: rapid.Bool().Draw(t, "allowed")})
	case 5:
		content := marker.Parse(strings.TrimRight(turn.reply, " \t\r\n")).Content
		if content == "" || turn.replied {
			return false, ""
		}
		s.say(turn.by, content)
		turn.replied = true
		return false, content
	case 6:
		if turn.replied {
			s.end(turn.id, turn.by, projection.Done, "", "")
			return true, ""
		}
		s.end(turn.id, turn.by, projection.Failed, turn.reply, "it failed\n# badly")
		return true, strings.TrimRight(turn.reply, " \t\r\n")
	default:
		if !turn.replied {
			chunk := rapid.SampledFrom(pieces).Draw(t, "piece")
			turn.reply += chunk
			s.stream(turn.id, chunk)
		}
	}
	return false, ""
}

// Any number of turns are open, and what they stream arrives in any pieces.
func TestTextsAreEqualLiveAndReplayed(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		s := begin()
		var open []*drawnTurn
		var want []string
		said := func(content string) {
			if content != "" {
				want = append(want, tty.Safe(content))
			}
		}
		for n := range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 15).Draw(t, "kind") {
			case 0: // after which no turn continues
				for _, turn := range open {
					if s.record(turn); !turn.replied {
						said(strings.TrimRight(turn.reply, " \t\r\n"))
					}
				}
				open = nil
				s.add(projection.SessionResumed{CWD: "/home/mia"})
				s.say(mia, "continue")
			case 1:
				if !slices.ContainsFunc(open, func(turn *drawnTurn) bool { return turn.replied }) {
					s.say(mia, "and")
				}
			case 2, 3, 4:
				by := rapid.SampledFrom([]projection.Speaker{ada, bo, {ID: "cy"}}).Draw(t, "speaker")
				if !slices.ContainsFunc(open, func(turn *drawnTurn) bool { return turn.by == by }) {
					open = append(open, &drawnTurn{id: fmt.Sprint("turn", n), by: by})
					s.turn(open[len(open)-1].id, by)
				}
			default:
				if len(open) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "turn")
				ended, content := drawStep(t, s, open[i])
				if said(content); ended {
					open = slices.Delete(open, i, i+1)
				}
			}
		}
		for _, turn := range open {
			if s.record(turn); !turn.replied {
				said(strings.TrimRight(turn.reply, " \t\r\n"))
			}
		}
		translator := updates.New(updates.Options{Team: crew})
		live := append(play(translator, s.steps), translator.EndReplay()...)
		replayed := replay(s.events())
		got := replies(live)
		if diff := cmp.Diff(got, replies(replayed), cmp.AllowUnexported(message{}), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("live and replayed (-live +replayed):\n%s", diff)
		}
		if diff := cmp.Diff(others(live), others(replayed)); diff != "" {
			t.Fatalf("the other updates (-live +replayed):\n%s", diff)
		}
		if text(live) != text(replayed) {
			t.Fatalf("joined: %q live, %q replayed", text(live), text(replayed))
		}
		var texts []string
		for _, m := range got {
			if m.said != "" {
				texts = append(texts, m.said)
			}
		}
		slices.Sort(want)
		slices.Sort(texts)
		if diff := cmp.Diff(want, texts); diff != "" {
			t.Fatalf("what the members said (-want +got):\n%s", diff)
		}
	})
}

// Two members speak at once: a client that joins the texts has one message after the other.
func TestTwoOpenTurns(t *testing.T) {
	s := begin()
	s.say(mia, "hello")
	s.turn("1", ada)
	s.turn("2", bo)
	s.stream("2", "I mend ")
	s.stream("1", "I look")
	s.add(projection.ToolStarted{TurnID: "2", ToolID: "a", Name: "Bash"})
	s.add(projection.PermissionAnswered{TurnID: "2", ToolID: "a", By: projection.ByPerson})
	s.add(projection.ToolCompleted{TurnID: "2", ToolID: "a", Error: "not allowed"})
	s.stream("2", "it.")
	s.say(bo, "I mend it.")
	s.end("2", bo, projection.Done, "", "")
	s.stream("1", " at it.")
	s.say(ada, "I look at it.")
	s.add(projection.ToolStarted{TurnID: "1", ToolID: "a", Name: "Read"})
	s.add(projection.ToolCompleted{TurnID: "1", ToolID: "a", Output: "x"})
	s.end("1", ada, projection.Done, "", "")
	live := s.live()
	check(t, live)
	if want := "**Ada**\n\nI look at it.\n\n**Bo**\n\nI mend it."; text(live) != want || text(replay(s.events())) != want {
		t.Errorf("the client has %q live, %q replayed", text(live), text(replay(s.events())))
	}
	var got []string
	for _, u := range live {
		if u := u.ToolCallUpdate; u != nil {
			shown := strings.TrimSpace(u.Content[0].Content.Content.Text.Text)
			got = append(got, fmt.Sprint(u.ToolCallId, " ", *u.Status, " ", shown, " ", metaOf(u.Meta)["refused"]))
		}
	}
	want := []string{"1/a completed ```\nx\n``` <nil>", "2/a failed ```\nrefused\nnot allowed\n``` true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// TestGoldenUpdates compares the updates of a session that has everything with a golden file.
func TestGoldenUpdates(t *testing.T) {
	s := begin()
	s.say(mia, "Repair the *kettle*.")
	s.turn("1", ada)
	s.add(projection.TurnText{TurnID: "1", Text: "I plan.\n\n"})
	s.add(projection.PlanUpdated{TurnID: "1", More: 2, Entries: []projection.PlanEntry{
		{Content: "Find the plug", Status: projection.Completed, Priority: "high"},
		{Content: "Repair it", Status: projection.InProgress, Priority: "unusual"}, {Content: "Test it", Status: projection.Pending}}})
	s.call("1", "todo", "TodoWrite", `{"todos":[{"content":"Find the plug"}]}`, "ok", "") // the plan shows it
	s.call("1", "todo2", "TodoWrite", `{"todos":1}`, "", "no list")
	s.say(ada, "I plan.\n\nBo, please:\n```go\nx")
	s.add(projection.TurnEnded{TurnID: "1", MemberID: "ada", FinishReason: projection.Done, Usage: &projection.Usage{
		Input: 10, Output: 5, Context: 15, Window: 1000, Cost: &projection.Cost{Amount: 0.25, Currency: "USD"}}})
	s.turn("2", bo)
	s.call("2", "1", "Edit", `{"file_path":"plug.go","old_string":"a","new_string":"b\n"}`, "The file was edited.", "")
	s.call("2", "2", "Write", `{"file_path":"/etc/plug","content":"x"}`, "", "permission denied")
	s.call("2", "3", "Bash", "{\"command\":\"git log\\u001b[2J\",\"n\":1e400}", "a\x1b]52;c;QQ==\ab\n```\n", "")
	s.add(projection.ToolCompleted{TurnID: "2", ToolID: "4", Name: "Grep", Output: "x", OutputBytes: 70_000})
	s.add(projection.ToolStarted{TurnID: "2", ToolID: "5", Name: "custom", Input: []byte(`["` + strings.Repeat("x", 70_000) + `"]`)})
	s.end("2", bo, projection.Failed, "It is", "429 Too Many Requests\n# try later")
	s.turn("3", projection.Speaker{ID: "cy"})
	s.end("3", projection.Speaker{ID: "cy"}, projection.Cancelled, "", "")
	s.turn("5", ada)
	s.end("5", ada, projection.TimedOut, "", "Ada is slow")
	s.add(projection.SessionRenamed{Title: "The\nkettle"})
	s.say(projection.Speaker{ID: "host", Name: "host", Type: projection.TypeSystem}, "Imported.")
	s.turn("4", ada)
	s.add(projection.ToolStarted{TurnID: "4", ToolID: "1", Name: "Bash"})
	all := replay(s.events())
	check(t, all)
	apptest.Golden(t, filepath.Join("testdata", "updates.golden"), shown(t, all))
	if diff := cmp.Diff(s.live(), slices.DeleteFunc(all[:len(s.live())+1:len(s.live())+1], isUser)); diff != "" {
		t.Errorf("the updates of what takes place (-live +replayed):\n%s", diff)
	}
}

func isUser(u sdk.SessionUpdate) bool { return u.UserMessageChunk != nil }

// shown returns updates as JSON, a line each.
func shown(t *testing.T, all []sdk.SessionUpdate) string {
	t.Helper()
	var b strings.Builder
	for _, u := range all {
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(u); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestJournalsReplayAsTheyWere(t *testing.T) {
	all := journals(t)
	var long bytes.Buffer
	if _, err := projectiontest.WriteSession(&long, 40, 1); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "01KAJ000000000000000000000.jsonl"), long.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	all["long"] = read(t, dir, "01KAJ000000000000000000000")
	for name, events := range all {
		updates := replay(events)
		check(t, updates)
		var got, want []string
		for _, m := range messages(updates) {
			if m.said != "" {
				got = append(got, m.member+": "+m.said)
			}
		}
		read := new(conversation.Conversation).Read(projection.Decoded(projectiontest.Sequence(events, nil)))
		for item, err := range read {
			if err != nil {
				t.Fatal(err)
			}
			entry, _ := item.Entry()
			content := entry.Content
			if entry.Partial {
				content = strings.TrimRight(content, " \t\r\n")
			}
			if content != "" {
				want = append(want, entry.Speaker.ID+": "+tty.Safe(content))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-replay +updates):\n%s", name, diff)
		}
	}
}

func TestUpdatesAreSafeForATerminal(t *testing.T) {
	const hostile = "\x1b]0;x\a*\u202e_`<b>\n# y\x00\u2028[z](http://x)\u009b2J"
	by := projection.Speaker{ID: hostile, Name: hostile, DisplayName: hostile, Type: projection.TypeAI}
	quoted, _ := json.Marshal(hostile)
	s := begin()
	s.say(mia, hostile)
	s.turn(hostile, by)
	s.call(hostile, hostile, hostile, fmt.Sprintf(`{"file_path":%s,"content":%s,%s:[%s]}`, quoted, quoted, quoted, quoted), "", hostile)
	s.call(hostile, "2", hostile, fmt.Sprintf(`{"command":%s}`, quoted), hostile, "")
	s.add(projection.PlanUpdated{TurnID: hostile, Entries: []projection.PlanEntry{{Content: hostile}}})
	s.say(by, hostile)
	s.end(hostile, by, projection.Failed, "", hostile)
	s.add(projection.SessionRenamed{Title: hostile})
	all := replay(s.events())
	check(t, all)
	for _, u := range all {
		u = withoutIDs(u)
		var value any
		line, _ := json.Marshal(u)
		if err := json.Unmarshal(line, &value); err != nil {
			t.Fatal(err)
		}
		eachText(value, func(text string) {
			if tty.Safe(text) != text {
				t.Errorf("%q is not safe in %s", text, line)
			}
		})
	}
}

// withoutIDs returns an update without the identifiers of the journal, which programs compare.
func withoutIDs(u sdk.SessionUpdate) sdk.SessionUpdate {
	for _, meta := range []map[string]any{metaOfUpdate(u)} {
		delete(meta, "member")
		delete(meta, "turnId")
	}
	return u
}

func metaOfUpdate(u sdk.SessionUpdate) map[string]any {
	switch {
	case u.AgentMessageChunk != nil:
		return metaOf(u.AgentMessageChunk.Meta)
	case u.UserMessageChunk != nil:
		return metaOf(u.UserMessageChunk.Meta)
	case u.ToolCall != nil:
		return metaOf(u.ToolCall.Meta)
	case u.ToolCallUpdate != nil:
		return metaOf(u.ToolCallUpdate.Meta)
	case u.Plan != nil:
		return metaOf(u.Plan.Meta)
	}
	return metaOf(u.SessionInfoUpdate.Meta)
}

func TestUsageIsThatOfTheMemberAndTheSession(t *testing.T) {
	usd, eur := &projection.Cost{Amount: 0.5, Currency: "USD"}, &projection.Cost{Amount: 1, Currency: "EUR"}
	for _, tt := range []struct {
		name  string
		turns []*projection.Usage
		want  string
	}{
		{"none", []*projection.Usage{nil}, ""},
		{"no window", []*projection.Usage{{Input: 1, Cost: usd}}, ""},
		{"no cost", []*projection.Usage{{Context: 5, Window: 9}}, "5/9"},
		{"a sum", []*projection.Usage{{Context: 5, Window: 9, Cost: usd}, {Cost: usd}, {Context: 2, Window: 7, Cost: usd}}, "5/9 0.5 USD 2/7 1.5 USD"},
		{"currencies", []*projection.Usage{{Cost: eur}, {Context: 2, Window: 7, Cost: usd}}, "2/7"},
	} {
		s := begin()
		for i, usage := range tt.turns {
			id := fmt.Sprint(i)
			s.turn(id, ada)
			s.add(projection.TurnEnded{TurnID: id, MemberID: "ada", FinishReason: projection.Done, Usage: usage})
		}
		var got []string
		all := replay(s.events())
		for _, u := range all {
			if u := u.UsageUpdate; u != nil {
				got = append(got, fmt.Sprintf("%d/%d", u.Used, u.Size))
				if u.Cost != nil {
					got = append(got, fmt.Sprint(u.Cost.Amount, " ", u.Cost.Currency))
				}
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		check(t, all)
	}
}

func eachText(value any, do func(string)) {
	switch v := value.(type) {
	case string:
		do(v)
	case []any:
		for _, of := range v {
			eachText(of, do)
		}
	case map[string]any:
		for key, of := range v {
			do(key)
			eachText(of, do)
		}
	}
}

func TestHeadingsShowAnyName(t *testing.T) {
	characters := rapid.StringOf(rapid.SampledFrom([]rune("\\`*_{}[]<>()#+-!|&~ \n\t1.aé壶\x00\x1b")))
	propertytest.Check(t, func(t *rapid.T) {
		name := characters.Draw(t, "name")
		s := begin()
		s.say(projection.Speaker{ID: "x", DisplayName: name, Type: projection.TypeAI}, "first")
		blocks := markdown.Parse(text(replay(s.events()))).Blocks
		want := strings.Join(strings.Fields(tty.SafeLine(name)), " ")
		if want == "" {
			want = "x"
		}
		if len(blocks) != 2 || len(blocks[0].Inlines) != 1 || blocks[0].Inlines[0].Kind != markdown.Strong {
			t.Fatalf("the heading of %q is %+v", name, blocks)
		}
		got := ""
		for _, in := range blocks[0].Inlines[0].Inlines {
			if in.Kind != markdown.Text {
				t.Fatalf("the heading of %q has %+v", name, in)
			}
			got += in.Text
		}
		if got != want {
			t.Fatalf("the heading of %q is %q", name, got)
		}
	})
}

func TestAnswersAreNoWarnings(t *testing.T) {
	tr := updates.New(updates.Options{Team: crew})
	got := tr.Answer("Team *crew*\nAda")
	if len(got) != 1 || got[0].AgentMessageChunk.Content.Text.Text != "> Team \\*crew\\*  \n> Ada\n\n" {
		t.Errorf("%+v", got)
	}
}

func TestNoticesFollowTheMessage(t *testing.T) {
	notice := app.Text("It is *slow*.").With(app.To("watch it", "tail", "s"), app.Help{Purpose: "retry", Command: hint.Hint{Kind: hint.Slash}})
	tr := updates.New(updates.Options{Team: crew, Command: func(h hint.Hint) string {
		if h.Kind == hint.Slash {
			return ""
		}
		return "agent-chatter " + hint.Join(h.Argv)
	}})
	const quote = "> ⚠️ It is \\*slow\\*.  \n> To watch it, type: `agent-chatter tail s`"
	s := begin()
	s.say(mia, "hello")
	all := play(tr, s.steps)
	all = append(all, tr.Notice(notice)...)
	s.steps = nil
	s.turn("1", ada)
	s.stream("1", "I ")
	all = append(all, play(tr, s.steps)...)
	if got := tr.Notice(notice); got != nil {
		t.Errorf("a notice in a message: %+v", got)
	}
	s.steps = nil
	s.stream("1", "see.")
	s.say(ada, "I see.")
	s.end("1", ada, projection.Done, "", "")
	all = append(all, play(tr, s.steps)...)
	all = append(all, tr.Notice(notice)...)
	if got := tr.Notice(app.Message{}); got != nil {
		t.Errorf("an empty notice: %+v", got)
	}
	if want := quote + "\n\n**Ada**\n\nI see.\n\n" + quote + "\n\n" + quote; text(all) != want {
		t.Errorf("the client has %q, want %q", text(all), want)
	}
	if got := replies(all); len(got) != 1 || got[0].said != "I see." {
		t.Errorf("the messages are %+v", got)
	}
	check(t, all)
}

// A notice about a turn whose text the client gets later follows that text.
func TestNoticesFollowTheirTurn(t *testing.T) {
	tr := updates.New(updates.Options{Team: crew})
	s := begin()
	s.say(mia, "hello")
	s.turn("1", ada)
	s.turn("2", bo)
	s.stream("1", "I look")
	s.say(bo, "I mend it.")
	s.end("2", bo, projection.Done, "", "")
	all := play(tr, s.steps)
	if got := tr.Notice(app.Text("Unknown members: cy.")); got != nil {
		t.Errorf("while another one speaks: %+v", got)
	}
	s.steps = nil
	s.say(ada, "I look")
	s.end("1", ada, projection.Done, "", "")
	all = append(all, play(tr, s.steps)...)
	all = append(all, tr.Notice(app.Text("Ada is next."))...)
	want := "**Ada**\n\nI look\n\n**Bo**\n\nI mend it.\n\n> ⚠️ Unknown members: cy.\n\n> ⚠️ Ada is next."
	if text(all) != want {
		t.Errorf("the client has %q, want %q", text(all), want)
	}
	check(t, all)
}

func TestReplayedSessionContinues(t *testing.T) {
	s := begin()
	s.say(mia, "hello")
	s.turn("1", ada)
	s.add(projection.TurnText{TurnID: "1", Text: "I look. [NEXT: bo]"})
	s.add(projection.ToolStarted{TurnID: "1", ToolID: "a", Name: "Bash"})
	crashed := s.steps
	s.steps = nil
	s.add(projection.SessionResumed{CWD: "/home/mia"})
	s.add(projection.ToolCompleted{TurnID: "1", ToolID: "a", Name: "Bash", Error: "interrupted"})
	s.end("1", ada, projection.Interrupted, "I look. [NEXT: bo]", "")
	s.say(mia, "continue")
	s.turn("2", bo)
	s.say(bo, "I continue.")
	s.end("2", bo, projection.Done, "", "")
	continued := s.steps

	tr := updates.New(updates.Options{Team: crew})
	var all []sdk.SessionUpdate
	for _, step := range crashed {
		all = append(all, tr.Replay(step.event)...)
	}
	all = append(append(all, tr.EndReplay()...), play(tr, continued)...)
	whole := session{steps: append(slices.Clone(crashed), continued...)}
	if diff := cmp.Diff(replies(all), replies(replay(whole.events())), cmp.AllowUnexported(message{})); diff != "" {
		t.Errorf("continued and replayed (-continued +replayed):\n%s", diff)
	}
	const want = "**Ada**\n\nI look. [NEXT: bo]\n\n> ⚠️ The reply of Ada is unfinished: the program ended.**Bo**\n\nI continue."
	if text(all) != want {
		t.Errorf("the client has %q", text(all))
	}

	var state projection.State
	for _, step := range crashed {
		state.Apply(step.event)
	}
	resumed := play(updates.Resume(updates.Options{Team: crew}, &state), continued)
	if want := "**Bo**\n\nI continue."; text(resumed) != want {
		t.Errorf("a client that resumed has %q", text(resumed))
	}
	for _, u := range resumed {
		if u.SessionInfoUpdate != nil && u.SessionInfoUpdate.Title != nil {
			t.Errorf("the title of a resumed session is sent again: %+v", u.SessionInfoUpdate)
		}
	}
}

func TestLongTextsAreDivided(t *testing.T) {
	s := begin()
	long := strings.Repeat("壶\x1b", 40_000)
	s.say(mia, long)
	s.say(ada, long)
	all := replay(s.events())
	check(t, all)
	for _, m := range messages(all) {
		if m.said != tty.Safe(long) {
			t.Errorf("%s said another text of %d bytes", m.member, len(m.said))
		}
	}
	for _, u := range all {
		line, _ := json.Marshal(u)
		if len(line) > 40<<10 {
			t.Errorf("an update has %d bytes", len(line))
		}
	}
}

func TestUnsavedEventsHaveNoSeq(t *testing.T) {
	s := begin()
	s.say(ada, "hello")
	said := s.steps[1].event
	tr := updates.New(updates.Options{Team: crew})
	for _, u := range tr.Event(coordinator.Event{Event: projection.DecodeEvent(said), Unsaved: true}) {
		if seq, ok := metaOfUpdate(u)["seq"]; ok {
			t.Errorf("the event has the seq %v", seq)
		}
	}
}

func BenchmarkReplay(b *testing.B) {
	var long bytes.Buffer
	if _, err := projectiontest.WriteSession(&long, 1000, 1); err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "01KAJ000000000000000000000.jsonl"), long.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	events := read(b, dir, "01KAJ000000000000000000000")
	b.SetBytes(int64(long.Len()))
	for b.Loop() {
		replay(events)
	}
}
