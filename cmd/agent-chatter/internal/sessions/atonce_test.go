package sessions

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation/conversationtest"
)

// printed writes a session to a home and returns what a command prints of it.
func printed(t *testing.T, payloads []projection.Payload, run func(*app.App) error) string {
	t.Helper()
	home := t.TempDir()
	dir := journal.NewDir(filepath.Join(home, "sessions", "kitchen"), journal.Options{})
	if err := conversationtest.Write(dir, apptest.AliceID, payloads...); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	a, err := app.New(app.IO{Stdout: &stdout, Stderr: &stderr}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	if err := run(a); err != nil || stderr.Len() > 0 {
		t.Fatalf("%v, %s", err, stderr.String())
	}
	return stdout.String()
}

// onTerminal prints a replay as on a terminal.
func onTerminal(a *app.App) error {
	r, err := view.OpenReplay(context.Background(), a, apptest.AliceID)
	if err != nil {
		return err
	}
	return printBlocks(a.Stdout, r.Events(context.Background()), 1, view.Style{Width: 80})
}

// Turns that were open at the same time follow each other, each with its speaker, text, call and end.
func TestTurnsAtOnceAreShown(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(*app.App) error
		each func(i, n int, turn conversationtest.Turn) string // of the turns in their order
	}{
		{"replay", (&Replay{Output: "text"}).Run, func(_, _ int, turn conversationtest.Turn) string {
			return fmt.Sprintf("%s: %s\n  Bash: %s\n%[1]s: %[4]s\n", turn.DisplayName, turn.Before, turn.Command, turn.After)
		}},
		{"replay on a terminal", onTerminal, func(i, n int, turn conversationtest.Turn) string {
			return fmt.Sprintf("\n%s\n%s\n\n● Bash  %s  ok %d.0s\n  %s\n\n%s\n— %d.0s\n", turn.DisplayName, turn.Before, turn.Command,
				n, turn.Output, turn.After, i+1)
		}},
		{"replay as JSON", (&Replay{Output: "json"}).Run, func(i, n int, turn conversationtest.Turn) string {
			return fmt.Sprintf(`{"seq":%d,"id":"m-%s-%s","timestamp":"2026-11-21T12:00:00.000Z","speaker":{"id":"%[2]s","name":"%[4]s",`+
				`"displayName":"%[4]s","type":"ai"},"content":"%s","steps":[{"seq":%d,"at":%d,"toolId":"item_1","name":"Bash","ended":true}]}`+"\n",
				2+5*n+2*(n-1-i)+1, turn.Speaker.ID, turn.ID, turn.DisplayName, turn.Text(), 2+2*n+i+1, len(turn.Before))
		}},
	} {
		for _, n := range []int{2, 4} {
			payloads, turns := conversationtest.AtOnce(n)
			want := ""
			for i, turn := range turns {
				want += test.each(i, n, turn)
			}
			got := printed(t, payloads, test.run)
			_, got, _ = strings.Cut(got, "Please look.")
			_, got, _ = strings.Cut(got, "\n")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s of %d turns (-want +got):\n%s", test.name, n, diff)
			}
		}
	}
}

// Search and tail show events, which are in the order of the ends.
func TestEventsOfTurnsAtOnce(t *testing.T) {
	for _, n := range []int{2, 4} {
		payloads, turns := conversationtest.AtOnce(n)
		hits := ""
		var ends []string
		for i := range turns {
			turn, seq := turns[n-1-i], 3+5*n+2*i
			hits += fmt.Sprintf("0T1A  %d  %s  %s\n", seq, turn.DisplayName, turn.Text())
			ends = append(ends, fmt.Sprintf("  %d  message.appended  %s: %s\n", seq, turn.DisplayName, turn.Text()),
				fmt.Sprintf("  %d  turn.ended  %s done\n", seq+1, turn.Speaker.ID))
		}
		if diff := cmp.Diff(hits, printed(t, payloads, (&Search{Text: "done by", Output: "text"}).Run)); diff != "" {
			t.Errorf("search of %d turns (-want +got):\n%s", n, diff)
		}
		got := printed(t, payloads, (&Tail{N: 2 * n, Output: "text"}).Run)
		for _, end := range ends {
			if strings.Count(got, end) != 1 {
				t.Errorf("tail of %d turns lacks %q:\n%s", n, end, got)
			}
		}
	}
}

// In a panel, an event that does not name its member is printed with it, also if the turn began before.
func TestTailNamesTheMembersOfAPanel(t *testing.T) {
	payloads, turns := conversationtest.AtOnce(3)
	for i, p := range payloads {
		if p, ok := p.(projection.TurnStarted); ok {
			p.Panel = &projection.Panel{ID: "p", Index: 1, Of: 3}
			payloads[i] = p
		}
	}
	of := map[string]string{}
	for _, turn := range turns {
		of[turn.ID] = turn.Speaker.ID
	}
	for _, n := range []int{8, 100} {
		got := printed(t, payloads, (&Tail{N: n, Output: "text"}).Run)
		for i, p := range payloads {
			text, ok := p.(projection.TurnText)
			if !ok || len(payloads)-i > n {
				continue
			}
			want := fmt.Sprintf("  %d  turn.text  %s  %s\n", i+1, of[text.TurnID], text.Text)
			if strings.Count(got, want) != 1 {
				t.Errorf("of the last %d events, tail lacks %q:\n%s", n, want, got)
			}
		}
	}
}

// An agent may call tools after its message.
func TestReplayHasToolsAfterTheMessage(t *testing.T) {
	payloads, turns := conversationtest.AtOnce(1)
	turn := turns[0]
	payloads = append(payloads[:2:2], projection.TurnStarted{TurnID: turn.ID, MemberID: turn.Speaker.ID},
		projection.NewMessage("m", time.Time{}, turn.Speaker, "I write it.", nil),
		projection.ToolStarted{TurnID: turn.ID, ToolID: "1", Name: "Bash", Input: []byte(`{"command":"cat plug.txt"}`)},
		projection.ToolCompleted{TurnID: turn.ID, ToolID: "1", Name: "Bash", Output: "written"},
		projection.TurnEnded{TurnID: turn.ID, MemberID: turn.Speaker.ID, FinishReason: projection.Done, DurationMS: 1200})
	for _, test := range []struct {
		name string
		run  func(*app.App) error
		want string
	}{
		{"replay", (&Replay{Output: "text"}).Run, "Ada: I write it.\n  Bash: cat plug.txt\n"},
		{"replay on a terminal", onTerminal, "\nAda\nI write it.\n\n● Bash  cat plug.txt  ok 1.0s\n  written\n— 1.2s\n"},
		{"replay as JSON", (&Replay{Output: "json"}).Run,
			`"content":"I write it.","steps":[{"seq":5,"at":11,"toolId":"1","name":"Bash","ended":true}]}` + "\n"},
	} {
		if got := printed(t, payloads, test.run); !strings.HasSuffix(got, test.want) {
			t.Errorf("%s: it shows\n%s\nand does not end with\n%s", test.name, got, test.want)
		}
	}
}
