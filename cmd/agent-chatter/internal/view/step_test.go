package view

import (
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

func TestPlainCalls(t *testing.T) {
	call := Call{conversation.Call{Started: projection.ToolStarted{Name: "Bash"}}}
	for _, tt := range []struct {
		completed *projection.ToolCompleted
		want      string
	}{
		{nil, "  Bash"}, {&projection.ToolCompleted{Output: "done"}, "  Bash"},
		{&projection.ToolCompleted{Error: "error\nmore"}, "  Bash (failed: error)"},
	} {
		call.Result = tt.completed
		if got := call.Plain(Style{}); len(got) != 1 || got[0] != tt.want {
			t.Errorf("%+v: %q, want %q", tt.completed, got, tt.want)
		}
	}
}

func TestStatesAndChangesHaveStyles(t *testing.T) {
	dim, red, green := ansi.Style{Dim: true}, ansi.Style{Color: ansi.Red}, ansi.Style{Color: ansi.Green}
	write := projection.ToolStarted{Name: "Edit", Input: []byte(`{"old_string":"a\nb","new_string":"a\nc"}`)}
	for _, tt := range []struct {
		name string
		call Call
		want []ansi.Style // of the end of each line
	}{
		{"ok", Call{conversation.Call{Result: &projection.ToolCompleted{Output: "done"}}}, []ansi.Style{dim, dim}},
		{"failed", Call{conversation.Call{Result: &projection.ToolCompleted{Error: "error"}}}, []ansi.Style{red, red}},
		{"no result", Call{conversation.Call{Over: true}}, []ansi.Style{dim}},
		{"more lines", Call{conversation.Call{Result: &projection.ToolCompleted{Output: "1\n2\n3\n4\n5"}}}, []ansi.Style{dim, dim, dim, dim, dim}},
		{"changes", Call{conversation.Call{Started: write}}, []ansi.Style{{}, dim, red, green}},
	} {
		lines := tt.call.Lines(Style{Width: 80, Profile: ansi.Color16})
		if len(lines) != len(tt.want) {
			t.Fatalf("%s: %+v", tt.name, lines)
		}
		for i, line := range lines {
			if last := line[len(line)-1]; last.Text != "" && last.Style != tt.want[i] {
				t.Errorf("%s, line %d: %+v", tt.name, i, last)
			}
		}
	}
}

func TestFigures(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0ms", 99 * time.Millisecond: "99ms", 100 * time.Millisecond: "0.1s", 59900 * time.Millisecond: "59.9s",
		time.Minute: "1m 00s", 61 * time.Second: "1m 01s", 3599 * time.Second: "59m 59s", time.Hour: "1h 00m", 90 * time.Minute: "1h 30m",
	} {
		if got := DurationText(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
	for n, want := range map[int64]string{999: "999", 1000: "1.0k", 999_949: "999.9k", 999_950: "1.0M", 12_340_000: "12.3M"} {
		if got := CountText(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
