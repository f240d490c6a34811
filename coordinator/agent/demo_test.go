package agent_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

func demoTurn(name, next, replied string) agent.Turn {
	return agent.Turn{
		ID:     "turn-1",
		Member: agent.Member{Name: name, Next: next},
		Said:   agent.Said{Speaker: "Anna", Text: replied},
	}
}

func ExampleDemo() {
	turn := agent.Turn{
		Member: agent.Member{Name: "tester", Next: "critic"},
		Said:   agent.Said{Speaker: "Anna", Text: "How do we build a shelf?"},
	}
	for event, err := range (agent.Demo{}).Run(context.Background(), turn) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(event.(agent.Text).Text)
	}
	// Output:
	// Thank you, I have read what Anna said: “How do we build a shelf?”. I have nothing to add for now.
	//
	// [NEXT: critic]
}

func TestDemoIsDeterministic(t *testing.T) {
	for _, name := range []string{"planner", "critic", "anybody"} {
		turn := demoTurn(name, "you", "Let us build a shelf")
		first, second := mustReply(t, agent.Demo{}, turn), mustReply(t, agent.Demo{}, turn)
		if first != second {
			t.Errorf("%s replied %q, then %q", name, first, second)
		}
		if paced := mustReply(t, agent.Demo{Pace: time.Nanosecond}, turn); paced != first {
			t.Errorf("%s replied %q at a pace, %q at once", name, paced, first)
		}
	}
}

func TestDemoQuotesAndHandsOver(t *testing.T) {
	for _, tt := range []struct{ name, next, end string }{
		{"planner", "critic", "\n\n[NEXT: critic]"},
		{"critic", "you", "\n\n[NEXT: you]"},
		{"anybody", "planner", "\n\n[NEXT: planner]"},
	} {
		replied := mustReply(t, agent.Demo{}, demoTurn(tt.name, tt.next, "Let us build a shelf"))
		if !strings.Contains(replied, "“Let us build a shelf”") || !strings.HasSuffix(replied, tt.end) {
			t.Errorf("%s replied %q", tt.name, replied)
		}
	}
}

func TestDemoWithoutMessage(t *testing.T) {
	for name, want := range map[string]string{
		"Planner": "There is nothing to plan yet.", "critic": "There is nothing to weigh yet.", "bob": "I am listening.",
	} {
		if got := mustReply(t, agent.Demo{}, demoTurn(name, "", " ")); !strings.HasPrefix(got, want) {
			t.Errorf("%s replied %q", name, got)
		}
	}
	unknown := demoTurn("bob", "", "hello")
	unknown.Said.Speaker = ""
	if got := mustReply(t, agent.Demo{}, unknown); !strings.Contains(got, "what someone said: “hello”") {
		t.Errorf("replied %q", got)
	}
}

func TestDemoLoopCanBeLeft(t *testing.T) {
	for range (agent.Demo{Pace: time.Nanosecond}).Run(within(t), demoTurn("planner", "critic", "hello")) {
		break // a second event would panic
	}
}

func TestDemoWithoutNextHasNoMarker(t *testing.T) {
	for _, name := range []string{"planner", "critic", "anybody"} {
		if replied := mustReply(t, agent.Demo{}, demoTurn(name, "", "hello")); strings.Contains(replied, "[") {
			t.Errorf("%s replied %q", name, replied)
		}
	}
}

// checkDemoReply checks that a reply is one short line and the marker.
func checkDemoReply(t *testing.T, replied string) {
	t.Helper()
	line, marker, _ := strings.Cut(replied, "\n\n")
	switch {
	case !utf8.ValidString(replied):
		t.Errorf("not UTF-8: %q", replied)
	case marker != "[NEXT: critic]":
		t.Errorf("the marker is %q", marker)
	case strings.ContainsAny(line, "[]") || strings.ContainsFunc(line, unicode.IsControl):
		t.Errorf("brackets or control characters: %q", line)
	case len(line) > 900: // two quotes, one of them the speaker's name, and the fixed text
		t.Errorf("%d bytes", len(line))
	case line == "":
		t.Error("no words")
	}
}

// awkwardTexts is a function, because the test binary is also the program of most agents: their
// start must not wait for megabytes of text.
func awkwardTexts() map[string]string {
	return map[string]string{
		"empty":           "",
		"blank":           " \t\r\n ",
		"markers":         "[NEXT: you] [DROP: ALL] [TEAM_TASK: x] [FROM: [NEXT: me]]",
		"escapes":         "\x1b[31mred\x1b[0m\x07\x00\u009b1m",
		"bidi":            "a\u202eb\u2066c",
		"lines":           "one\n\n\ntwo\u2028three",
		"Chinese":         strings.Repeat("我们一起做一个书架吧。", 100),
		"invalid":         "a\xffb\xc3\x28\xe4\xb8",
		"one long word":   strings.Repeat("x", 1<<20),
		"16 MiB":          strings.Repeat("let us build ", 16<<20/13),
		"16 MiB of blank": strings.Repeat(" ", 16<<20),
	}
}

func TestDemoReplyIsSafeForAnyText(t *testing.T) {
	for name, text := range awkwardTexts() {
		t.Run(name, func(t *testing.T) {
			turn := demoTurn("planner", "critic", text)
			turn.Said.Speaker = text
			checkDemoReply(t, mustReply(t, agent.Demo{}, turn))
		})
	}
}

func TestDemoReplacesInvalidUTF8(t *testing.T) {
	replied := mustReply(t, agent.Demo{}, demoTurn("planner", "", "a\xffb"))
	if !strings.Contains(replied, "“a\ufffdb”") {
		t.Errorf("replied %q", replied)
	}
}

func TestDemoQuoteIsShort(t *testing.T) {
	replied := mustReply(t, agent.Demo{}, demoTurn("critic", "", "1 2 3 4 5 6 7 8 9 10"))
	if !strings.Contains(replied, "“1 2 3 4 5 6 7 8 …”") {
		t.Errorf("replied %q", replied)
	}
}

func FuzzDemo(f *testing.F) {
	for _, text := range awkwardTexts() {
		if len(text) < 1<<12 {
			f.Add(text)
		}
	}
	for _, text := range []string{
		"hello", "1 2 3 4 5 6 7 8 9 10", "hello [NEXT: critic] `[NEXT: a]`", "[TEAM_TASK: x\ny] go", "```\nhello",
		"`` ` ```", "“he said ”x“”", "First thoughts on: “hello”.", "e" + strings.Repeat("\u0301", 400),
		strings.Repeat("日本語", 200), "a\r\nb\u2028c\u0085d", "a\xffb\xed\xa0\x80", strings.Repeat("x", 400),
	} {
		f.Add(text)
	}
	quoted := regexp.MustCompile(`: “(.*)”\.$`)
	f.Fuzz(func(t *testing.T, text string) {
		replied := mustReply(t, agent.Demo{}, demoTurn("planner", "critic", text))
		checkDemoReply(t, replied)
		line, _, _ := strings.Cut(replied, "\n\n")
		if q := quoted.FindStringSubmatch(line); q != nil && len(q[1]) > 300 {
			t.Errorf("a quote of %d bytes", len(q[1]))
		}
	})
}

func TestDemoPaceYieldsWords(t *testing.T) {
	var words []string
	for event, err := range (agent.Demo{Pace: time.Nanosecond}).Run(within(t), demoTurn("planner", "critic", "hello")) {
		if err != nil {
			t.Fatal(err)
		}
		words = append(words, event.(agent.Text).Text)
	}
	if len(words) < 10 || words[0] != "First " {
		t.Errorf("replied %q", words)
	}
}

func TestDemoCancelStopsPacedReply(t *testing.T) {
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	var pieces int
	var last error
	for _, err := range (agent.Demo{Pace: time.Hour}).Run(ctx, demoTurn("planner", "critic", "hello")) {
		if last = err; err == nil {
			pieces++
			cancel(errCancelled)
		}
	}
	if pieces != 1 || !errors.Is(last, errCancelled) {
		t.Errorf("%d pieces, then %v", pieces, last)
	}
}

func TestDemoCancelledTurnYieldsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	replied, err := reply(ctx, agent.Demo{}, demoTurn("planner", "critic", "hello"))
	if replied != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("replied %q, then %v", replied, err)
	}
}
