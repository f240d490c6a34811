package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

func TestToolText(t *testing.T) {
	for _, tt := range []struct{ name, input, want string }{
		{"Bash", `{"description":"List it","command":"ls -l"}`, "Bash: ls -l"},
		{"shell", `{"command":["bash","-lc","ls -l"],"workdir":"/"}`, "shell: bash -lc ls -l"},
		{"Read", `{"file_path":"/a/b.go","limit":10}`, "Read: /a/b.go"},
		{"Grep", `{"path":"/a","pattern":"x+"}`, "Grep: x+"},
		{"mystery", `{"depth":3,"wide":true}`, `mystery: {"depth":3,"wide":true}`},
		{"mystery", `["a",1]`, `mystery: ["a",1]`},
		{"mystery", `{"command":null,"path":"x"}`, "mystery: x"},
		{"mystery", `{"command":[],"cmd":"","depth":1}`, `mystery: {"command":[],"cmd":"","depth":1}`},
		{"mystery", `{}`, "mystery"},
		{"mystery", ``, "mystery"},
		{"a\x1b[31mb", `{"command":"c\u001b[2Jd"}`, "a␛[31mb: c␛[2Jd"},
		{"Write", `{"command":"` + strings.Repeat("é", 300) + `"}`, "Write: " + strings.Repeat("é", 199) + "…"},
	} {
		if got := ToolText(projection.ToolStarted{Name: tt.name, Input: []byte(tt.input)}); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.name, tt.input, got, tt.want)
		}
	}
}

// shown returns lines without styles.
func shown(lines []ansi.Line) string {
	var all []string
	for _, line := range lines {
		all = append(all, ansi.NoColor.Encode(line))
	}
	return strings.Join(all, "|")
}

// numbered returns so many lines that are added.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "|  %2d + x", i+1)
	}
	return b.String()
}

func TestCallLines(t *testing.T) {
	started := func(name, input string) projection.ToolStarted {
		return projection.ToolStarted{Name: name, Input: []byte(input)}
	}
	written := func(n int) projection.ToolStarted {
		return started("Write", `{"file_path":"a","content":"`+strings.Repeat(`x\n`, n)+`"}`)
	}
	ok := &projection.ToolCompleted{Output: "done"}
	failed := &projection.ToolCompleted{Output: "done", Error: "no such file"}
	cut := &projection.ToolCompleted{Output: "1\n2\n3\n4\n5\n6\n", Error: "1\n2\n3\n4…"}
	ls := started("Bash", `{"command":"ls"}`)
	long := &projection.ToolCompleted{Output: strings.Repeat("word ", 20) + "\n" + strings.Repeat("x", 100)}
	for _, tt := range []struct {
		name  string
		call  Call
		whole bool
		want  string
	}{
		{"running", Call{conversation.Call{Started: ls}}, false, "● Bash  ls"},
		{"without a result", Call{conversation.Call{Started: ls, Over: true}}, false, "● Bash  ls  no result"},
		{"with a result", Call{conversation.Call{Started: ls, Result: ok}}, false, "● Bash  ls  ok|  done"},
		{"with its time", Call{conversation.Call{Started: ls, Result: ok, Time: time.Unix(1, 0), Took: time.Minute}}, false,
			"● Bash  ls  ok 1m 00s|  done"},
		{"failed", Call{conversation.Call{Started: ls, Result: failed}}, false, "● Bash  ls  failed|  no such file"},
		{"failed, whole", Call{conversation.Call{Started: ls, Result: failed}}, true, "● Bash  failed|  ls|  done|  no such file"},
		{"failed, and its error is the beginning of the output", Call{conversation.Call{Started: ls, Result: cut}}, false,
			"● Bash  ls  failed|  1|  2|  3|  … 3 more lines"},
		{"an input of two lines", Call{conversation.Call{Started: started("Bash", `{"command":"ls\nrm"}`)}}, false, "● Bash  ls rm"},
		{"an input of two lines, whole", Call{conversation.Call{Started: started("Bash", `{"command":"ls\nrm"}`)}}, true, "● Bash|  ls|  rm"},
		{"an output of four lines", Call{conversation.Call{Started: ls, Result: &projection.ToolCompleted{Output: "\n1\n2\n3\n4\n"}}}, false,
			"● Bash  ls  ok|  1|  2|  3|  4"},
		{"an output of five lines", Call{conversation.Call{Started: ls, Result: &projection.ToolCompleted{Output: "1\n2\n3\n4\n5"}}}, false,
			"● Bash  ls  ok|  1|  2|  3|  … 2 more lines"},
		{"an output of five lines, whole", Call{conversation.Call{Started: ls, Result: &projection.ToolCompleted{Output: "1\n2\n3\n4\n5"}}}, true,
			"● Bash  ok|  ls|  1|  2|  3|  4|  5"},
		{"long lines", Call{conversation.Call{Started: ls, Result: long}}, false,
			"● Bash  ls  ok|  " + strings.Repeat("word ", 15) + "w…|  " + strings.Repeat("x", 76) + "…"},
		{"long lines, whole", Call{conversation.Call{Started: ls, Result: long}}, true,
			"● Bash  ok|  ls|  " + strings.Repeat("word ", 14) + "word|word word word word word|" +
				strings.Repeat("x", 79) + "|" + strings.Repeat("x", 21)},
		{"17 changed lines", Call{conversation.Call{Started: written(17), Result: ok}}, false,
			"● Write  a  ok" + numbered(17)},
		{"18 changed lines", Call{conversation.Call{Started: written(18), Result: ok}}, false,
			"● Write  a  ok" + numbered(16) + "|  … 2 more lines"},
		{"18 changed lines, whole", Call{conversation.Call{Started: written(18), Result: ok}}, true,
			"● Write  ok|  a" + numbered(18) + "|  done"},
		{"a todo list", Call{conversation.Call{Started: started("TodoWrite", `{}`), Result: ok}}, false, ""},
		{"a todo list that failed", Call{conversation.Call{Started: started("TodoWrite", `{}`), Result: failed}}, false,
			"● TodoWrite  failed|  no such file"},
		{"a todo list, whole", Call{conversation.Call{Started: started("TodoWrite", `{}`), Result: ok}}, true, "● TodoWrite  ok|  done"},
	} {
		if got := shown(tt.call.Lines(Style{Width: 80, Whole: tt.whole})); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestCallsEndInColors(t *testing.T) {
	done, failed := &projection.ToolCompleted{}, &projection.ToolCompleted{Error: "error"}
	for _, tt := range []struct {
		call Call
		want ansi.Style
	}{
		{Call{conversation.Call{}}, ansi.Style{Color: ansi.Yellow}},
		{Call{conversation.Call{Over: true}}, ansi.Style{Dim: true}},
		{Call{conversation.Call{Result: done}}, ansi.Style{Color: ansi.Green}},
		{Call{conversation.Call{Result: failed}}, ansi.Style{Color: ansi.Red}},
	} {
		if got := tt.call.Lines(Style{})[0][0]; !strings.HasPrefix(got.Text, callMark) || got.Style != tt.want {
			t.Errorf("%+v: %+v", tt.call, got)
		}
	}
}

func TestTurnEnds(t *testing.T) {
	usage := func(u projection.Usage) *projection.TurnEnded {
		return &projection.TurnEnded{FinishReason: projection.Done, Usage: &u}
	}
	for _, tt := range []struct {
		name    string
		end     *projection.TurnEnded
		replied bool
		want    string // "": nothing
	}{
		{"not recorded", nil, false, "✗ unfinished"},
		{"not recorded, after a reply", nil, true, ""},
		{"nothing known", &projection.TurnEnded{FinishReason: projection.Done}, true, ""},
		{"the least duration", &projection.TurnEnded{FinishReason: projection.Done, DurationMS: 1}, true, "— 1ms"},
		{"tokens", usage(projection.Usage{Input: 1, CachedRead: 20, CachedWrite: 300, Output: 4, Thought: 50}), true,
			"— 321 tokens in · 54 out"},
		{"one token each", usage(projection.Usage{Input: 1, Output: 1}), true, "— 1 tokens in · 1 out"},
		{"no tokens", usage(projection.Usage{}), true, ""},
		{"a cost", usage(projection.Usage{Cost: &projection.Cost{Amount: 0.5, Currency: "EUR"}}), true, "— 0.50 EUR"},
		{"failed", &projection.TurnEnded{FinishReason: projection.Failed, Error: "429\nmore", DurationMS: 1200}, true,
			"✗ unfinished: 429 · 1.2s"},
		{"cancelled", &projection.TurnEnded{FinishReason: projection.Cancelled}, true, "✗ unfinished: cancelled"},
	} {
		got := ""
		if end, ok := EndOf(tt.end, tt.replied); ok {
			got = shown(end.Lines(Style{Width: 80}))
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestAmounts(t *testing.T) {
	for amount, want := range map[float64]string{
		0: "0.00", 0.00004: "<0.0001", 0.0001: "0.0001", 0.5: "0.50", 0.125: "0.125", 1.23456: "1.2346", 100: "100.00",
	} {
		if got := Amount(amount); got != want {
			t.Errorf("%v: got %s, want %s", amount, got, want)
		}
	}
}
