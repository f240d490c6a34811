package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// happens applies events to the panel and the transcript of a model.
func happens(m *Model, payloads ...projection.Payload) (shown []string) {
	for _, p := range payloads {
		r := projection.Record(noon, p)
		e := projection.DecodeEvent(journal.Event{Time: r.Time, Type: r.Type, Data: r.Data})
		m.Panel.Apply(e, strings.ToUpper)
		if m.Transcript != nil {
			shown = append(shown, m.lines(m.Transcript.Apply(e), 80)...)
		}
	}
	return shown
}

// newPanel returns the model of a panel of these members, whose turns have their ids.
func newPanel(members ...string) *Model {
	m := newModel()
	m.Prompt, m.Status.Escape, m.Transcript = "", true, &view.Transcript{}
	m.Transcript.WholePanels()
	for i, id := range members {
		happens(m, projection.TurnStarted{
			TurnID: id, MemberID: id, Panel: &projection.Panel{ID: "p", Index: i + 1, Of: len(members)},
		})
	}
	return m
}

func uses(turn, id, tool string) projection.Payload {
	return projection.ToolStarted{TurnID: turn, ToolID: id, Name: tool}
}

func ends(turn string, reason projection.FinishReason) projection.Payload {
	return projection.TurnEnded{
		TurnID: turn, MemberID: turn, FinishReason: reason, DurationMS: 12_300,
		Usage: &projection.Usage{Input: 4000, Output: 120},
	}
}

func TestPanelRows(t *testing.T) {
	m := newPanel("ada", "bea", "cy", "a long name "+apptest.Hostile)
	happens(m, uses("ada", "1", "Read"), uses("ada", "2", "Bash"), projection.ToolCompleted{TurnID: "ada", ToolID: "2"})
	m.Panel.Ask("bea", 1)
	happens(m, uses("cy", "1", "Read"), ends("cy", projection.Done))
	check := func(columns int, want string) {
		t.Helper()
		if got := strings.Join(m.panelRows(columns, noon.Add(3*time.Second)), "\n"); got != want {
			t.Errorf("in %d columns:\n%s\nwant:\n%s", columns, got, want)
		}
	}
	check(60, `▸ 1 ⠴ ADA             uses Read 3s · 2 tools
  2 ? BEA             asks 3s
  3 ✓ CY              done 12s · 1 tool · 4.1k tokens
  4 ⠴ A LONG NAME A␛… thinks 3s`)
	check(38, `▸ 1 ⠴ ADA       uses Read 3s · 2 tools
  2 ? BEA       asks 3s
  3 ✓ CY        done 12s · 1 tool
  4 ⠴ A LONG N… thinks 3s`)
	m.Panel.Ask("bea", -1)
	happens(m, ends("ada", projection.Failed), ends("bea", projection.Cancelled))
	check(38, `  1 ✗ ADA       failed 12s · 2 tools
  2 – BEA       cancelled 12s
  3 ✓ CY        done 12s · 1 tool
▸ 4 ⠴ A LONG N… thinks 3s`)
	happens(m, ends("a long name "+apptest.Hostile, projection.Done))
	check(38, "")
}

func TestKeysThatChooseATurn(t *testing.T) {
	for _, tt := range []struct{ keys, shown, text string }{
		{"", "ada", ""},
		{"2", "bea", ""},
		{"3", "ada", ""}, // has ended: the first one stays
		{"<tab>", "bea", ""},
		{"<tab><tab>", "di", ""}, // without the one that has ended
		{"<tab><tab><tab>", "ada", ""},
		{"<s-tab>", "di", ""},
		{"<tab><s-tab>", "ada", ""},
		{"5", "ada", "5"}, // there is none
		{"a2<tab>", "ada", "a2"},
		{" 2", "ada", " 2"},
		{"2a<bs>4", "di", ""},
	} {
		m := newPanel("ada", "bea", "cy", "di")
		happens(m, ends("cy", projection.Done))
		press(t, m, tt.keys)
		if got := m.Panel.shown().turn; got != tt.shown || m.Editor.Text() != tt.text {
			t.Errorf("%s: it shows %s and the text is %q", tt.keys, got, m.Editor.Text())
		}
	}
	m := newPanel("ada", "bea")
	m.Question = &Question{Choices: permission}
	if press(t, m, "<tab>2"); m.Panel.shown().turn != "ada" {
		t.Error("while a member asks, Tab and digits are not for the question")
	}
}

// While turns run at the same time, the text of one is shown, and each is printed whole when it ends.
func TestPanelStreamsOneTurn(t *testing.T) {
	m := newPanel("ada", "bea")
	for i := range 3 {
		m.Transcript.Stream("ada", fmt.Sprintf("from ada %d\n\n", i))
		m.Transcript.Stream("bea", fmt.Sprintf("from bea %d\n\n", i))
	}
	shows := func(rows int, want string) {
		t.Helper()
		if early, held := m.Held(80, rows); len(early) > 0 || strings.Join(held, "|") != want {
			t.Errorf("printed is %q, and %q is held", early, held)
		}
	}
	shows(24, "ada|from ada 0||from ada 1||from ada 2")
	press(t, m, "2")
	shows(24, "bea|from bea 0||from bea 1||from bea 2")
	m.Transcript.Stream("bea", "and this")
	shows(2, "|and this")
	shown := happens(m, projection.MessageAppended{TurnID: "bea", Message: projection.Message{
		ID: "m", Speaker: projection.Speaker{ID: "bea", DisplayName: "BEA", Type: projection.TypeAI},
		Content: "from bea 0\n\nfrom bea 1\n\nfrom bea 2\n\nand this",
	}})
	if len(shown) > 0 {
		t.Errorf("before its end, %q is printed", shown)
	}
	want := "bea|from bea 0||from bea 1||from bea 2||and this|— 12.3s · 4.0k tokens in · 120 out"
	if got := strings.Join(happens(m, ends("bea", projection.Done)), "|"); got != want {
		t.Errorf("at its end, %q is printed, want %q", got, want)
	}
	shows(24, "|ada|from ada 0||from ada 1||from ada 2")
}

// The list of calls has those of the turns that run.
func TestCallsOfAPanelAreListed(t *testing.T) {
	m := newPanel("ada", "bea")
	happens(m, uses("bea", "1", "Read"), projection.ToolCompleted{TurnID: "bea", ToolID: "1", Name: "Read", Output: "x"})
	for range 2 { // also when it has ended
		if calls := m.Transcript.Calls(); len(calls) != 1 || calls[0].Started.Name != "Read" {
			t.Errorf("the calls are %+v", calls)
		}
		happens(m, ends("bea", projection.Done))
	}
}

// Escape stops the turn that is shown; soon after, or if it is the only one, all.
func TestEscapeInAPanel(t *testing.T) {
	c, stopped := newConsole(), []string{}
	defer c.Watch(func(member string) { stopped = append(stopped, member+".") }, func() {}, nil)()
	check := func(want string) {
		t.Helper()
		if got := strings.Join(stopped, " "); got != want {
			t.Errorf("stopped is %q, want %q", got, want)
		}
	}
	c.model = *newPanel("ada", "bea", "cy")
	c.update(key('2', 0))
	c.update(keyNames["esc"])
	if check("bea."); c.cancelled || !strings.Contains(c.model.statusRow(80, noon), "esc: stop all") {
		t.Errorf("cancelled is %v, and the status is %q", c.cancelled, c.model.statusRow(80, noon))
	}
	c.model.stops = false
	c.model.Question = &Question{Choices: append(permission, KeyChoice{Key: '\x1b'}), Member: "cy"}
	c.update(keyNames["esc"])
	check("bea. cy.")
	c.model.Question = nil
	c.update(keyNames["esc"])
	if check("bea. cy. ."); !c.cancelled {
		t.Error("not all are cancelled")
	}
	c.model.stops = false
	happens(&c.model, ends("bea", projection.Cancelled), ends("cy", projection.Cancelled))
	c.update(keyNames["esc"])
	check("bea. cy. . .")
	c.model.Status.Escape = false
	c.update(keyNames["esc"])
	check("bea. cy. . .")
}

// What others print while a member asks follows the answer.
func TestQuestionsStayTogether(t *testing.T) {
	c := newConsole()
	c.Print("before")
	print, end := c.Hold()
	print("Ada asks")
	for range 3 {
		c.Print(strings.Repeat("from Bea", maxPending/16)) // without a goroutine that draws
	}
	print("  Allowed.")
	if got := printed(c); got != "before|Ada asks|  Allowed." {
		t.Errorf("while Ada asks, %.60q is printed", got)
	}
	if end(); !strings.HasPrefix(printed(c), "from Bea") {
		t.Error("after it, what Bea says is not printed")
	}
}

// The same line by line.
func TestQuestionsStayTogetherLineByLine(t *testing.T) {
	var out strings.Builder
	p := &Printer{Out: &out, Model: Model{Style: view.Style{Plain: true}, Transcript: &view.Transcript{}}}
	say := func(text string) {
		p.Say(func(m *Model) []view.Block { return m.Transcript.Message(projection.Message{Content: text}) })
	}
	end := p.Hold()
	if say("from Bea"); out.Len() > 0 {
		t.Errorf("while Ada asks, %q is printed", out.String())
	}
	end()
	if say("more"); strings.Count(out.String(), "from Bea") != 1 || !strings.HasSuffix(out.String(), "more\n") {
		t.Errorf("after it, %q is printed", out.String())
	}
}
