package view

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// streamedReplies are replies in which something looks like a marker, or is one.
var streamedReplies = []string{
	"Well.",
	"Over to you. [NEXT: bea]",
	"[NEXT: bea]\n\n    Over to you.",
	"[drop: all] [Next: bea!P1]",
	"An array begins with a [",
	"or with a[1] and ends in a [ne",
	"To hand over write `[NEXT: bea]` at the end.\n\n[NEXT: cy] is mine, and `that [DROP: ALL]` is not.",
	"```\n[NEXT: bea]\n```\nThat was code. [NEXT: cy] And this is the end.",
	"[TEAM_TASK: none] [FROM: me] stay",
	"blanks \t\n\n in between [NEXT: bea]\n",
	"a\xff\xfe b [NEXT: bea]",
}

// watching returns a screen that streams replies, and its output.
func watching() (*Screen, *strings.Builder) {
	shown := &strings.Builder{}
	a := &app.App{IO: app.IO{Stdout: shown, Stderr: io.Discard, NoColor: true}}
	return &Screen{App: a, Team: &team.Team{Members: []team.Member{{ID: "ada", DisplayName: "Ada"}}}, Terminal: true}, shown
}

// stream streams a reply of Ada in chunks of size bytes.
func stream(s *Screen, reply string, size int) team.Member {
	ada := team.Member{ID: "ada", DisplayName: "Ada"}
	s.Event(event(projection.TurnStarted{MemberID: ada.ID}))
	for reply != "" {
		piece := reply[:min(size, len(reply))]
		reply = reply[len(piece):]
		s.Text(ada, piece)
	}
	return ada
}

func TestStreamedReplyEqualsMessage(t *testing.T) {
	for _, reply := range streamedReplies {
		for _, size := range []int{1, 3, len(reply)} {
			s, shown := watching()
			stream(s, reply, size)
			content := strings.ToValidUTF8(marker.Parse(reply).Content, "\uFFFD")
			said(s, content)
			s.Event(event(projection.TurnEnded{MemberID: "ada", FinishReason: projection.Done}))
			if got, want := shown.String(), "Ada: "+content+"\n"; !strings.HasSuffix(got, want) ||
				len(got) > len(want) && !strings.Contains(reply, "\xff") {
				t.Errorf("of %q in pieces of %d bytes it shows\n%q, want\n%q", reply, size, got, want)
			}
		}
	}
}

// cancelling is an output that cancels the turn as soon as it is written to.
type cancelling struct {
	strings.Builder
	cancel func()
}

func (c *cancelling) Write(p []byte) (int, error) {
	c.cancel()
	return c.Builder.Write(p)
}

// The agent has sent a long word at once, which takes seconds to print.
func TestRestOfALongPieceIsNotPrintedAfterCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, _ := watching()
	shown := &cancelling{cancel: cancel}
	s.App.Stdout, s.Cancelled = shown, ctx.Done()
	stream(s, strings.Repeat("x", 20*printedAtOnce), 20*printedAtOnce)
	if n := shown.Len(); n > 2*printedAtOnce {
		t.Errorf("%d bytes were printed after the cancellation, the piece has %d", n, 20*printedAtOnce)
	}
}

func TestInterruptedReplyIsShown(t *testing.T) {
	for _, reply := range streamedReplies[:len(streamedReplies)-1] {
		s, shown := watching()
		stream(s, reply, 1)
		s.Event(event(projection.TurnEnded{MemberID: "ada", FinishReason: projection.Cancelled, Partial: reply}))
		if got, want := shown.String(), "Ada: "+strings.TrimRight(reply, blanks)+"\n"; got != want {
			t.Errorf("it shows %q, want %q", got, want)
		}
	}
}

func TestReplyIsShownWhileStreaming(t *testing.T) {
	s, shown := watching()
	stream(s, "word by word [as it comes] [NEXT: bea", 1)
	if got := shown.String(); got != "Ada: word by word [as it comes]" {
		t.Errorf("it shows %q", got)
	}
}

func TestCancelledReplyIsNotPrintedToItsEnd(t *testing.T) {
	s, shown := watching()
	cancelled := make(chan struct{})
	s.Cancelled = cancelled
	const long = 10 * printedAtOnce
	stream(s, strings.Repeat("é", long/2), long)
	if n := strings.Count(shown.String(), "é"); n != long/2 {
		t.Errorf("before, %d of %d letters are shown", n, long/2)
	}
	close(cancelled)
	stream(s, strings.Repeat("é", long/2), long)
	if n := strings.Count(shown.String(), "é"); n != long/2+printedAtOnce/2 {
		t.Errorf("after, %d more letters are shown, want %d", n-long/2, printedAtOnce/2)
	}
}

// Blanks are held back, since they may be the last ones, and a bracket, since it may open a marker.
func TestHeldTextIsNotScannedAgain(t *testing.T) {
	for _, reply := range []string{
		strings.Repeat(" ", 1<<20), strings.Repeat(" ", 1<<20) + "[NEX", strings.Repeat("[ ", 1<<19),
		"[NEXT: " + strings.Repeat("x", 1<<20),
	} {
		var r streamed
		var shown strings.Builder
		for _, b := range []byte(reply) { // scanning all for each byte would take hours
			shown.WriteString(r.pass(string([]byte{b})))
		}
		if got := shown.String() + r.held.String(); got != reply {
			t.Errorf("%.20q…: %d of %d bytes are shown or held", reply, len(got), len(reply))
		}
	}
}

func TestToolsAreShownBetweenText(t *testing.T) {
	s, shown := watching()
	ada := stream(s, "I look.\n\n", 3)
	s.Event(event(projection.ToolStarted{TurnID: "t", ToolID: "1", Name: "Bash",
		Input: []byte(`{"command":"ls\n-l","timeout":3}`)}))
	s.Event(event(projection.ToolStarted{TurnID: "t", ToolID: "2", Name: "Think"}))
	s.Text(ada, "Nothing is")
	s.Text(ada, " there.")
	said(s, "I look.\n\nNothing is there.")
	s.Event(event(projection.TurnEnded{MemberID: "ada", FinishReason: projection.Done}))
	if got, want := shown.String(), "Ada: I look.\n  Bash: ls -l\n  Think\nAda: Nothing is there.\n"; got != want {
		t.Errorf("it shows\n%q, want\n%q", got, want)
	}
}

func TestToolsAreNoPartOfReply(t *testing.T) {
	s, shown := watching()
	s.Terminal = false
	s.Event(event(projection.ToolStarted{TurnID: "t", ToolID: "1", Name: "Bash"}))
	if shown.Len() > 0 {
		t.Errorf("without a terminal it shows %q", shown)
	}
}

func said(s *Screen, content string) {
	s.Event(event(projection.MessageAppended{Message: projection.Message{
		Speaker: projection.Speaker{DisplayName: "Ada"}, Content: content,
	}}))
}

func event(p projection.Payload) coordinator.Event { return coordinator.Event{Payload: p} }
