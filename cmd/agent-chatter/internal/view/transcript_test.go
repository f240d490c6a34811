package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/conversation/conversationtest"
	"github.com/agent-chatter/agent-chatter/projection/marker"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// goldenJournals are the journals of every version of the format, those of the manual, and the goldenSessions.
func goldenJournals(t testing.TB) map[string][]journal.Event {
	t.Helper()
	journals := goldenSessions()
	for _, pattern := range []string{
		"../../../../projection/testdata/journals/v*[0-9].jsonl", "../../../../projection/testdata/journals/at-once.jsonl",
		"../../../../projection/testdata/journals/panel.jsonl", "../../guide/testdata/sessions/*/*.jsonl",
	} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d journals, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
			reader, err := journal.NewDir(filepath.Dir(path), journal.Options{}).Reader(id, journal.Position{})
			if err != nil {
				t.Fatal(err)
			}
			for e, err := range reader.All() {
				if err != nil {
					t.Fatal(err)
				}
				e.Data = slices.Clone(e.Data)
				journals[id] = append(journals[id], e)
			}
			reader.Close()
		}
	}
	return journals
}

// a session builds the events of a session, a second apart.
type session struct{ events []journal.Event }

func (s *session) add(p projection.Payload) {
	r := projection.Record(noon.Add(time.Duration(len(s.events))*time.Second), p)
	s.events = append(s.events, journal.Event{Seq: uint64(len(s.events) + 1), Type: r.Type, Data: r.Data, Time: r.Time})
}

var (
	mia = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	ada = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
	bo  = projection.Speaker{ID: "bo", Name: "bo", DisplayName: "Bo", Type: projection.TypeAI}
)

func (s *session) create() {
	members := []projection.Member{}
	for _, m := range []projection.Speaker{mia, ada, bo} {
		members = append(members, projection.Member{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type})
	}
	s.add(projection.SessionCreated{Format: 1, SessionID: "s", Team: projection.Team{ID: "t", Members: members}})
}

func (s *session) say(by projection.Speaker, content string) {
	s.add(projection.NewMessage("m", noon, by, content, nil))
}

func (s *session) call(turn, id, name, input, output, failure string) {
	s.add(projection.ToolStarted{TurnID: turn, ToolID: id, Name: name, Input: json.RawMessage(input)})
	s.add(projection.ToolCompleted{TurnID: turn, ToolID: id, Name: name, Output: output, Error: failure})
}

// reply is a turn of one piece of text.
func (s *session) reply(by projection.Speaker, content string) {
	s.add(projection.TurnStarted{TurnID: "t" + by.ID, MemberID: by.ID})
	s.say(by, content)
	s.add(projection.TurnEnded{TurnID: "t" + by.ID, MemberID: by.ID, FinishReason: projection.Done, DurationMS: 1200})
}

// wholeSession is a session in which everything happens.
func wholeSession() []journal.Event {
	var s session
	s.create()
	s.say(mia, "Please *look* at the kettle:\n\n1. the plug\n2. the cord")
	s.add(projection.TurnStarted{TurnID: "t1", MemberID: "ada"})
	s.add(projection.TurnText{TurnID: "t1", Text: "I look at it.\n\n"})
	s.add(projection.PlanUpdated{TurnID: "t1", Entries: []projection.PlanEntry{
		{Content: "Look at the plug", Status: projection.InProgress}, {Content: "Boil water", Status: projection.Pending}}})
	s.call("t1", "1", "Bash", `{"command":"go test ./..."}`, "ok  kettle\nok  cord\nok  plug\nok  lid\n", "")
	s.add(projection.ToolStarted{TurnID: "t1", ToolID: "2", Name: "Read", Input: json.RawMessage(`{"file_path":"/a.go"}`)})
	s.add(projection.TurnText{TurnID: "t1", Text: "It was `off`.\n\n```go\nfunc main() {\n\tboil()\n}\n```\n\n| a "})
	s.add(projection.ToolCompleted{TurnID: "t1", ToolID: "2", Error: "no such file"})
	s.add(projection.TurnText{TurnID: "t1", Text: "| b |\n|---|--:|\n| c | d |\n\n- one\n- two\n\n> said\n"})
	s.say(ada, "I look at it.\n\nIt was `off`.\n\n```go\nfunc main() {\n\tboil()\n}\n```\n\n| a | b |\n|---|--:|\n| c | d |"+
		"\n\n- one\n- two\n\n> said\n\nOver to you, and that is **all**.")
	s.add(projection.TurnEnded{TurnID: "t1", MemberID: "ada", FinishReason: projection.Done, DurationMS: 65_000,
		Usage: &projection.Usage{Input: 800, CachedRead: 12_000, Output: 340, Thought: 56,
			Cost: &projection.Cost{Amount: 0.0425, Currency: "USD"}}})
	s.add(projection.TurnStarted{TurnID: "t2", MemberID: "bo"})
	s.add(projection.TurnText{TurnID: "t2", Text: "As `[NEXT: ada]` says, "})
	s.add(projection.ToolStarted{TurnID: "t2", ToolID: "3", Name: "shell"})
	s.add(projection.TurnEnded{TurnID: "t2", MemberID: "bo", FinishReason: projection.Cancelled, DurationMS: 700,
		Partial: "As `[NEXT: ada]` says, I al"})
	s.add(projection.TurnStarted{TurnID: "t3", MemberID: "bo"})
	s.add(projection.TurnText{TurnID: "t3", Text: "# Then\n\nI was inter"})
	return s.events
}

func render(blocks []Block, s Style) []string {
	var lines []string
	for _, b := range blocks {
		lines = append(lines, Render(b, s)...)
	}
	return lines
}

// fold returns the blocks of a session from its events alone.
func fold(events []journal.Event) []Block {
	var t Transcript
	var blocks []Block
	for _, e := range events {
		blocks = append(blocks, t.Apply(projection.DecodeEvent(e))...)
	}
	return append(blocks, t.Close()...)
}

// live returns the blocks of a session whose replies are streamed in chunks, as they are returned.
func live(events []journal.Event, chunks func(text string) []string) []Block {
	var t Transcript
	var blocks []Block
	recorded := map[string]string{} // by the ids of turns
	stream := func(turn, text string) {
		for _, chunk := range chunks(text) {
			blocks = append(blocks, t.Stream(turn, chunk)...)
		}
	}
	rest := func(turn, whole string) { // the text since the last turn.text
		if rest, ok := strings.CutPrefix(whole, recorded[turn]); ok {
			stream(turn, rest)
		}
	}
	for _, e := range events {
		payload, _ := projection.Decode(e)
		switch p := payload.(type) {
		case projection.TurnText:
			stream(p.TurnID, p.Text)
			recorded[p.TurnID] += p.Text
		case projection.MessageAppended:
			rest(cmp.Or(p.TurnID, answered(&t, p)), p.Message.Content)
		case projection.TurnEnded:
			rest(p.TurnID, p.Partial)
		}
		blocks = append(blocks, t.Apply(projection.DecodeEvent(e))...)
	}
	return append(blocks, t.Close()...)
}

// answered returns the open turn of a message that does not name it.
func answered(t *Transcript, p projection.MessageAppended) string {
	for _, turn := range slices.Backward(t.Open()) {
		if turn.Speaker.ID == p.Message.Speaker.ID && !turn.Replied() {
			return turn.ID
		}
	}
	return ""
}

// checkLive checks that the lines of a session that is streamed in any chunks equal those of its fold.
func checkLive(t *rapid.T, events []journal.Event) {
	got := live(events, func(text string) (chunks []string) {
		for text != "" {
			n := rapid.IntRange(1, min(len(text), rapid.SampledFrom([]int{1, 10, len(text)}).Draw(t, "most"))).Draw(t, "n")
			chunks, text = append(chunks, text[:n]), text[n:]
		}
		return chunks
	})
	s := Style{Width: rapid.IntRange(20, 200).Draw(t, "width"), Plain: rapid.Bool().Draw(t, "plain")}
	if rapid.Bool().Draw(t, "colors") {
		s.Profile = ansi.Color16
	}
	if got, want := render(got, s), render(fold(events), s); !slices.Equal(got, want) {
		t.Fatalf("it shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLiveLinesEqualTheFold(t *testing.T) {
	for name, events := range goldenJournals(t) {
		t.Run(name, func(t *testing.T) {
			propertytest.Check(t, func(t *rapid.T) { checkLive(t, events) })
		})
	}
}

// Any number of turns may be open.
func TestLiveLinesOfAnySessionEqualTheFold(t *testing.T) {
	texts := []string{"Boil the water.", "One.\n\n- two\n", "", "\n ", "[NEXT: bo] go on", "```go\nfunc f() {}\n", "many words "}
	propertytest.Check(t, func(t *rapid.T) {
		var s session
		s.create()
		for _, p := range conversationtest.Draw(t, texts) {
			s.add(p)
		}
		checkLive(t, s.events)
	})
}

func TestLiveLinesOfAnyReplyEqualTheFold(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "é", "你", " ", "\n", "\n\n", "- ", "1. ", "> ", "```", "```go\n", "    ", "# ", "|", "|-|", "*", "`", "---", "[NEXT: bo]", "[NE",
		"[a](http://b)", "\t", "\x1b[2J", "/*", "\u202e", strings.Repeat("longest", 5), strings.Repeat("longest", 300),
	}), 1, 30)
	propertytest.Check(t, func(t *rapid.T) {
		var s session
		s.create()
		s.add(projection.TurnStarted{TurnID: "t", MemberID: "ada"})
		before, after := strings.Join(words.Draw(t, "before"), ""), strings.Join(words.Draw(t, "after"), "")
		s.add(projection.TurnText{TurnID: "t", Text: before})
		s.call("t", "1", "Bash", "{}", "done", "")
		s.add(projection.TurnText{TurnID: "t", Text: after})
		switch rapid.IntRange(0, 2).Draw(t, "end") {
		case 0:
			s.say(ada, marker.Parse(before+after).Content)
		case 1:
			s.add(projection.TurnEnded{TurnID: "t", MemberID: "ada", FinishReason: projection.Cancelled, Partial: before + after})
		}
		checkLive(t, s.events)
		if names := slices.DeleteFunc(fold(s.events), func(b Block) bool { _, ok := b.content.(Name); return !ok }); len(names) > 1 {
			t.Fatalf("the reply is shown %d times", len(names))
		}
	})
}

func TestMarkerInFencedCodeDoesNotHoldTheReply(t *testing.T) {
	const text = "```\n[NEXT: bo]\n```\n\nThat was code.\n\nSo "
	var tr Transcript
	tr.Apply(record(projection.TurnStarted{TurnID: "t", MemberID: "ada"}))
	got := strings.Join(render(append(tr.Stream("t", text), tr.Stream("t", "[NEXT: bo] more")...), Style{}), "|")
	if want := "ada|  [NEXT: bo]||That was code."; got != want { // what follows is held
		t.Errorf("it shows %s, want %s", got, want)
	}
}

// A marker in the line of a fence may be none in code: a backtick in that line makes it no fence.
func TestMarkerInTheLineOfAFenceIsHeld(t *testing.T) {
	const before, after = "```[NEXT: bo]", "`"
	var s session
	s.create()
	s.add(projection.TurnStarted{TurnID: "t", MemberID: "ada"})
	s.add(projection.TurnText{TurnID: "t", Text: before})
	s.call("t", "1", "Bash", "{}", "done", "")
	s.add(projection.TurnText{TurnID: "t", Text: after})
	s.say(ada, marker.Parse(before+after).Content)
	if got := strings.Join(render(fold(s.events), Style{}), "|"); strings.Contains(got, "NEXT") {
		t.Errorf("it shows %s", got)
	}
}

// An unfinished reply, the blanks at its end and an older version of a todo list are not known when plain lines are
// printed.
func TestPlainLinesEqualThoseOfItems(t *testing.T) {
	unfinished := regexp.MustCompile(` \(unfinished[^)]*\):`)
	for name, events := range goldenJournals(t) {
		if name == "conversation" || name == "v1-2" || name == "tools" { // they have todo lists, or a turn without text
			continue
		}
		want := unfinished.ReplaceAllString(strings.Join(itemLines(t, events, Style{Plain: true}), "\n"), ":")
		want = strings.ReplaceAll(want, " \n", "\n")
		if got := strings.Join(render(fold(events), Style{Plain: true}), "\n"); got != want {
			t.Errorf("%s: it shows\n%s\nwant\n%s", name, got, want)
		}
	}
}

// itemLines returns the lines of a session as replay prints them in a pipe.
func itemLines(t *testing.T, events []journal.Event, s Style) (lines []string) {
	var tr Transcript
	for i, err := range new(conversation.Conversation).Read(projection.Brief(projectiontest.Sequence(events, nil))) {
		if err != nil {
			t.Fatal(err)
		}
		i.Text = strings.TrimRight(i.Text, "\n")
		lines = append(lines, render(tr.Item(i), s)...)
	}
	return lines
}

// answer returns a message or, without its text, an unfinished reply, with steps.
func answer(by projection.Speaker, text string, partial bool, steps ...conversation.Step) *conversation.Item {
	i := &conversation.Item{Kind: projection.RowTurn, Turn: &conversation.Turn{ID: "t"}, Speaker: by, Text: text, Steps: steps}
	if !partial {
		i.Message = &projection.Message{Speaker: by, Content: text}
	}
	return i
}

func callStep(at int64, name, input, failure string) conversation.Step {
	c := conversation.Call{Started: projection.ToolStarted{Name: name, Input: []byte(input)}}
	if failure != "" {
		c.Result = &projection.ToolCompleted{Error: failure}
	}
	return conversation.Step{At: at, Call: &c}
}

func planStep(at int64, more int, entries ...projection.PlanEntry) conversation.Step {
	return conversation.Step{At: at, Plan: &projection.PlanUpdated{Entries: entries, More: more}}
}

func TestPlainItems(t *testing.T) {
	hostile := "a\x1b[31m \u202eb"
	by := projection.Speaker{ID: "ada", DisplayName: "Ada"}
	for _, tt := range []struct {
		name string
		item *conversation.Item
		want string
	}{
		{"lines", answer(by, "# one  \n\n    two "+hostile+"\n", false), "Ada: # one  ||    two a␛[31m �b|"},
		{"no text", answer(by, "", false), "Ada: "},
		{"an unfinished reply", answer(by, "I", true), "Ada (unfinished): I"},
		{"a tool", answer(by, "I look. Done.", false, callStep(7, "Bash", `{"command":"ls"}`, "")),
			"Ada: I look.|  Bash: ls|Ada: Done."},
		{"a tool after the text", answer(by, "I look.", false, callStep(7, "Bash", `{"command":"ls"}`, "")), "Ada: I look.|  Bash: ls"},
		{"a tool that failed", answer(by, "", false, callStep(0, hostile, "", hostile+"\nmore")),
			"  a␛[31m �b (failed: a␛[31m �b)|Ada: "},
		{"a todo list", answer(by, "Done.", false, planStep(9, 0,
			projection.PlanEntry{Content: hostile, Status: projection.Completed},
			projection.PlanEntry{Content: "write", Status: projection.InProgress}, projection.PlanEntry{Content: "test"})),
			"Ada: Done.|  [x] a␛[31m �b|  [>] write|  [ ] test"},
	} {
		if got := strings.Join(render(new(Transcript).Item(tt.item), Style{Plain: true}), "|"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The exceptions follow: what is released early (see above), link definitions, and journals of earlier versions.

func TestDefinitionsAfterTheirUseDifferLive(t *testing.T) {
	var s session
	s.create()
	s.reply(ada, "See [a].\n\nThen\n\n[a]: http://b\n\nAnd [a].")
	shown := func(blocks []Block) string { return strings.Join(render(blocks, Style{}), "|") }
	byLine := func(text string) []string { return strings.SplitAfter(text, "\n") }
	if got, want := shown(live(s.events, byLine)), "Ada|See [a].||Then||And a (http://b).|— 1.2s"; got != want {
		t.Errorf("live it shows %s, want %s", got, want)
	}
	if got, want := shown(fold(s.events)), "Ada|See a (http://b).||Then||And a (http://b).|— 1.2s"; got != want {
		t.Errorf("replayed it shows %s, want %s", got, want)
	}
}

func TestDefinitionsHaveNoEffectOnOtherMessages(t *testing.T) {
	var s session
	s.create()
	s.say(mia, "[a]: http://b\n\nI say [a].")
	s.reply(ada, "[c]: http://d\n\nI say [a].")
	s.reply(bo, "I say [c].")
	shown := strings.Join(render(fold(s.events), Style{}), "|")
	if want := "Mia|I say a (http://b).||Ada|I say [a].|— 1.2s||Bo|I say [c].|— 1.2s"; shown != want {
		t.Errorf("it shows %s, want %s", shown, want)
	}
}

// Journals of earlier versions have the text before a tool after it, or with the message only.
func TestTextRecordedAfterItsToolDiffersLive(t *testing.T) {
	var s session
	s.create()
	s.add(projection.TurnStarted{TurnID: "t", MemberID: "ada"})
	s.call("t", "1", "Bash", "", "", "")
	s.say(ada, "I look. Done.")
	var tr Transcript
	blocks := append(tr.Apply(projection.DecodeEvent(s.events[0])), tr.Apply(projection.DecodeEvent(s.events[1]))...)
	blocks = append(blocks, tr.Stream("t", "I look. ")...)
	blocks = append(append(blocks, tr.Apply(projection.DecodeEvent(s.events[2]))...), tr.Apply(projection.DecodeEvent(s.events[3]))...)
	blocks = append(append(blocks, tr.Stream("t", "Done.")...), tr.Apply(projection.DecodeEvent(s.events[4]))...)
	if got, want := render(blocks, Style{}), []string{"Ada", "I look.", "", "● Bash  ok 1.0s", "", "Done."}; !slices.Equal(got, want) {
		t.Errorf("live it shows %q, want %q", got, want)
	}
	if got, want := render(fold(s.events), Style{}), []string{"Ada", "● Bash  ok 1.0s", "", "I look. Done."}; !slices.Equal(got[:4], want) {
		t.Errorf("replayed it shows %q, want %q", got, want)
	}
}

func TestReleasedLinesLoseNothing(t *testing.T) {
	racetest.SkipSequential(t)
	const most = 4
	words := strings.Repeat("word and *some* more of `them`, ", 60)
	for name, text := range map[string]string{
		"a paragraph": words,
		"an item":     "- a\n- > " + words,
		"a word":      strings.Repeat("wörd", 500),
		"a table":     "| a | b |\n|---|---|\n" + strings.Repeat("| cell | other |\n", 50),
		"code":        "```\n" + strings.Repeat("x y\n", 50),
	} {
		var tr Transcript
		s := Style{Width: 40}
		tr.Apply(record(projection.TurnStarted{TurnID: "t", MemberID: "ada"}))
		var blocks []Block
		for _, r := range text {
			blocks = append(blocks, tr.Stream("t", string(r))...)
			blocks = append(blocks, tr.Release(s, most)...)
			if n := len(render(tr.Held(), s)); n > most {
				t.Fatalf("%s: it holds %d lines", name, n)
			}
		}
		blocks = append(blocks, tr.Close()...)
		shown := letters(strings.Join(render(blocks, s), ""))
		if name == "a table" { // its header is repeated
			shown = strings.ReplaceAll(shown, "ab", "")
			text = strings.Replace(text, "| a | b |", "", 1)
		}
		if want := "ada" + letters(text) + "unfinished"; shown != want {
			t.Errorf("%s: it shows\n%s\nwant\n%s", name, shown, want)
		}
	}
}

func TestReleasedParagraphStaysOne(t *testing.T) {
	racetest.SkipSequential(t)
	text := strings.TrimSpace(strings.Repeat("a - b * c # d > e 1. f | g + h = i ~ j ", 20))
	for width := 20; width < 80; width++ {
		var tr Transcript
		s := Style{Width: width}
		tr.Apply(record(projection.TurnStarted{TurnID: "t", MemberID: "ada"}))
		blocks := tr.Stream("t", text)
		for range 20 {
			blocks = append(blocks, tr.Release(s, max(1, len(render(tr.Held(), s))-1))...)
		}
		blocks = append(blocks, tr.Close()...)
		shown := strings.Fields(strings.Join(render(blocks, s), " "))
		if got := strings.Join(shown[1:len(shown)-2], " "); got != text {
			t.Fatalf("at %d columns it shows\n%s", width, got)
		}
	}
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, s)
}

func record(p projection.Payload) projection.Event {
	var s session
	s.add(p)
	return projection.DecodeEvent(s.events[0])
}

func TestReleasedCallIsShownAgainWithItsResult(t *testing.T) {
	var tr Transcript
	tr.Apply(record(projection.TurnStarted{TurnID: "t", MemberID: "ada"}))
	tr.Apply(record(projection.ToolStarted{TurnID: "t", ToolID: "1", Name: "Bash"}))
	tr.Stream("t", "So far.")
	released := render(tr.Release(Style{}, 2), Style{})
	after := render(tr.Apply(record(projection.ToolCompleted{TurnID: "t", ToolID: "1", Output: "done"})), Style{})
	if got, want := append(released, after...), []string{
		"● Bash", "", "So far.", "", "● Bash  ok 0ms", "  done",
	}; !slices.Equal(got, want) {
		t.Errorf("it shows %q, want %q", got, want)
	}
}

func TestMembersHaveStableColors(t *testing.T) {
	color := func(tr *Transcript, by projection.Speaker) string {
		blocks := tr.Message(projection.Message{Speaker: by, Content: "x"})
		return strings.TrimPrefix(render(blocks, Style{Profile: ansi.Color16})[0], "\x1b[1;")
	}
	of := &team.Team{Members: []team.Member{
		{ID: "mia", DisplayName: "Mia"}, {ID: "ada", DisplayName: "Ada", ThemeColor: "#00ff00"}, {ID: "bo", DisplayName: "Bo"},
	}}
	zoe, xan := projection.Speaker{ID: "zoe", DisplayName: "Zoe"}, projection.Speaker{ID: "xan", DisplayName: "Xan"}
	for _, want := range []struct {
		by    projection.Speaker
		color string
	}{{mia, "36mMia"}, {ada, "92mAda"}, {bo, "32mBo"}, {zoe, "94mZoe"}, {xan, "34mXan"}} {
		if got := color(NewTranscript(of), want.by); !strings.HasPrefix(got, want.color) {
			t.Errorf("%s: %q, want %q", want.by.ID, got, want.color)
		}
	}
}

func TestItemShowsStepsAndIsUnfinished(t *testing.T) {
	var tr Transcript
	lines := render(tr.Message(projection.Message{Speaker: mia, Content: "Go."}), Style{})
	lines = append(lines, render(tr.Item(answer(ada, "I look. I d", true,
		callStep(7, "Bash", "", "no such file"), planStep(7, 2, projection.PlanEntry{Content: "Look"}))), Style{})...)
	if want := []string{
		"Mia", "Go.", "", "Ada", "I look.", "", "● Bash  failed", "  no such file", "", "○ Look", "  … and 2 more", "", "I d",
		"✗ unfinished",
	}; !slices.Equal(lines, want) {
		t.Errorf("it shows %q, want %q", lines, want)
	}
}

func TestCallsThatHaveEnded(t *testing.T) {
	var tr Transcript
	for _, e := range wholeSession() {
		tr.Apply(projection.DecodeEvent(e))
	}
	calls := tr.Calls()
	last := BlockOf(calls[len(calls)-1])
	if got := strings.Join(Render(last, Style{Width: 80, Whole: true}), "|"); got != "● Read  failed 2.0s|  /a.go|  no such file" {
		t.Errorf("%d calls, %s", len(calls), got)
	}
}

func ExampleTranscript() {
	var t Transcript
	t.Apply(record(projection.TurnStarted{TurnID: "t", MemberID: "Ada"}))
	for _, chunk := range []string{"- one\n- two\n", "\nAnd"} {
		for _, b := range t.Stream("t", chunk) {
			fmt.Println("final:", Render(b, Style{Width: 80}))
		}
		for _, b := range t.Held() {
			fmt.Println("held: ", Render(b, Style{Width: 80}))
		}
	}
	// Output:
	// final: [Ada]
	// held:  [• one]
	// held:  [• two]
	// final: [• one]
	// final: [• two]
	// held:  [ And]
}
