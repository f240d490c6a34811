package coordinator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// lastEnd returns the last turn.ended.
func (s *fixture) lastEnd() projection.TurnEnded {
	s.t.Helper()
	ends := payloads[projection.TurnEnded](s.t, s.recorder.appended)
	if len(ends) == 0 {
		s.t.Fatal("no turn has ended")
	}
	return ends[len(ends)-1]
}

func TestCancelEndsTurnAndClearsQueue(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		ctx, cancel := context.WithCancel(context.Background())
		s := start(t, store, cancels(cancel, "half a reply [NEXT: eve] [TEAM_TASK: no]"))
		err := s.Say(ctx, "you", "hello [NEXT: ada, bob]")
		failed := turnError(t, err, "ada", projection.Cancelled)
		if !errors.Is(failed, context.Canceled) {
			t.Errorf("the reason is %v", failed.Err)
		}
		s.checkMembers("ada") // neither bob, who was in the queue, nor anybody whom the partial reply named
		if s.Waiting() != "you" || len(s.Queue()) != 0 || s.Status().Phase != coordinator.Paused ||
			s.recorder.count("notice QueueCleared [Bob]") != 1 {
			t.Errorf("waiting %q, queue %v, status %v, notified %q",
				s.Waiting(), s.Queue(), s.Status(), s.recorder.lines)
		}
		end := s.lastEnd()
		if end.FinishReason != projection.Cancelled || end.Partial != "half a reply [NEXT: eve] [TEAM_TASK: no]" ||
			end.Error != "" {
			t.Errorf("the turn ended with %+v", end)
		}
		session := s.Session()
		if session.Stats.Messages != 1 || session.TeamTask != nil || session.Stats.Rounds != 0 ||
			!slices.Equal(session.Interrupted, []string{"ada"}) {
			t.Errorf("the session is %+v", session)
		}
		s.say("and now?")
		s.checkMembers("ada", "ada")
		if strings.Contains(s.engine.prompt(), "half a reply") {
			t.Errorf("the partial reply is in the prompt:\n%s", s.engine.prompt())
		}
	})
}

func TestTurnErrorTellsWhetherPartOfReplyIsKept(t *testing.T) {
	for _, reply := range []string{"", "half"} {
		ctx, cancel := context.WithCancel(context.Background())
		s := start(t, &store.Memory{}, cancels(cancel, reply))
		err := turnError(t, s.Say(ctx, "you", "hello"), "ada", projection.Cancelled)
		if kept := s.lastEnd().Partial != ""; err.Partial != kept || kept != (reply != "") {
			t.Errorf("reply %q: kept is %v, and the error says %v", reply, kept, err.Partial)
		}
	}
}

// The agent has replied when the turn is canceled: its message stays, and the next agent does not
// start.
func TestCancelBetweenTurnsStartsNoAgent(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := start(t, &store.Memory{}, calls(cancel, says("a1")))
	turnError(t, s.Say(ctx, "you", "hello [NEXT: ada, bob]"), "bob", projection.Cancelled)
	s.checkMembers("ada")
	if n := s.recorder.count("turn of bob"); n != 0 {
		t.Errorf("notified %q", s.recorder.lines)
	}
	if n := len(payloads[projection.TurnStarted](t, s.recorder.appended)); n != 1 {
		t.Errorf("%d turns started", n)
	}
	if s.Waiting() != "you" || len(s.Queue()) != 0 || s.recorder.saves() != 1 {
		t.Errorf("waiting %q, queue %v, notified %q", s.Waiting(), s.Queue(), s.recorder.lines)
	}
	if got := s.Session().Stats; got.Messages != 2 {
		t.Errorf("%d messages", got.Messages)
	}
	s.say("continue")
	s.checkMembers("ada", "ada")
}

func TestMessageWithCanceledContextIsKept(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := start(t, &store.Memory{})
	turnError(t, s.Say(ctx, "you", "hello"), "ada", projection.Cancelled)
	s.checkMembers()
	if got := s.Session(); got.Stats.Messages != 1 || s.Status().Phase != coordinator.Paused {
		t.Errorf("the session is %+v", got)
	}
}

// waits returns a turn that streams a part of a reply and then blocks until its context is done.
func waits(part string) turnFunc {
	return func(ctx context.Context, _ agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			if part == "" || yield(agent.Text{Text: part}, nil) {
				<-ctx.Done()
				yield(nil, fmt.Errorf("the turn was stopped: %w", context.Cause(ctx)))
			}
		}
	}
}

func TestLongTurnTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFixture(t, &store.Memory{}, waits("half [NEXT: bob]"))
		team := testTeam()
		team.MaxAgentResponseTime = 1500 * time.Millisecond
		s.setTeam(team, "")
		err := s.Say(context.Background(), "you", "hello [NEXT: ada, bob]")
		turnError(t, err, "ada", projection.TimedOut)
		checkRetryHint(t, err)
		end := s.lastEnd()
		if end.FinishReason != projection.TimedOut || end.Partial != "half [NEXT: bob]" || end.Error == "" ||
			end.DurationMS != 1500 {
			t.Errorf("the turn ended with %+v", end)
		}
		if !strings.Contains(end.Error, "no reply within 1.5s; raise maxAgentResponseTime") {
			t.Errorf("the error is %q", end.Error)
		}
		s.checkMembers("ada")
		if n := s.recorder.count("notice QueueCleared [Bob]"); n != 1 || len(s.Queue()) > 0 {
			t.Errorf("queue %v, notified %q", s.Queue(), s.recorder.lines)
		}
		s.say("again [NEXT: bob]") // nothing is locked
		s.checkMembers("ada", "bob")
	})
}

func TestReplyIsRecordedWhileStreaming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slowly := func(context.Context, agent.Turn) iter.Seq2[agent.Event, error] {
			return func(yield func(agent.Event, error) bool) {
				for range 5 { // a word a second
					time.Sleep(time.Second - time.Millisecond)
					if !yield(agent.Text{Text: "word "}, nil) {
						return
					}
				}
			}
		}
		s := start(t, &store.Memory{}, slowly)
		s.say("tell me")
		var texts []string
		for _, p := range payloads[projection.TurnText](t, s.recorder.appended) {
			texts = append(texts, p.Text)
		}
		checkEqual(t, "turn.text", texts, []string{"word word ", "word word "}) // at most one in two seconds
		if got := s.messages()[1].Content; got != "word word word word word" {
			t.Errorf("the message is %q", got)
		}
	})
}

func TestFailedTurnRecordsReason(t *testing.T) {
	broken := errors.New("exit status 3: no credit \xff")
	for _, test := range []struct {
		name     string
		turnFunc turnFunc
		partial  string
		want     string
	}{
		{"an error", yields(broken), "", "exit status 3: no credit \uFFFD"},
		{
			"an error after a part", yields(broken, agent.Text{Text: "half [NEXT: bob]"}), "half [NEXT: bob]",
			"exit status 3: no credit \uFFFD",
		},
		{"an empty answer", yields(nil), "", "it ended without an answer"},
		{"a blank answer", says(" \n\t "), " \n\t ", "it ended without an answer"},
		{
			"a failure of the agent", yields(&agent.FailureError{Agent: "Ada", Reason: "no credit"}), "",
			"Ada failed: no credit",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, &store.Memory{}, test.turnFunc)
			failed := turnError(t, s.Say(context.Background(), "you", "hello [NEXT: ada, bob]"), "ada", projection.Failed)
			if failed.Message != test.want || failed.Detail != strings.TrimPrefix(test.want, "Ada failed: ") {
				t.Errorf("the error is %q, in detail %q", failed.Message, failed.Detail)
			}
			end := s.lastEnd()
			if end.FinishReason != projection.Failed || end.Partial != test.partial || end.Error != test.want {
				t.Errorf("the turn ended with %+v", end)
			}
			s.checkMembers("ada")
			if s.Waiting() != "you" || s.Status().Phase != coordinator.Paused || s.recorder.saves() != 1 {
				t.Errorf("waiting %q, status %v, notified %q", s.Waiting(), s.Status(), s.recorder.lines)
			}
			s.say("never mind [NEXT: bob]") // one agent's error does not lock later messages
			s.checkMembers("ada", "bob")
		})
	}
}

func TestUnknownEngineFailsTurn(t *testing.T) {
	s := newFixture(t, &store.Memory{})
	team := testTeam()
	team.Members[0].Engine = "acp"
	s.setTeam(team, "")
	failed := turnError(t, s.Say(context.Background(), "you", "hello"), "ada", projection.Failed)
	if !strings.Contains(failed.Error(), `"acp"`) {
		t.Errorf("the error is %v", failed)
	}
	s.say("hello [NEXT: bob]")
	s.checkMembers("bob")
}

func TestRetryRepeatsMessage(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		s := start(t, store, yields(errors.New("broken"), agent.Text{Text: "half"}))
		turnError(t, s.Say(context.Background(), "you", "hello [NEXT: bob]"), "bob", projection.Failed)
		first := s.engine.prompt()
		id := s.stop()

		s = resume(t, store, id)
		if err := s.Retry(context.Background()); err != nil {
			t.Fatal(err)
		}
		s.checkMembers("bob")
		if s.engine.prompt() != first {
			t.Errorf("the prompt is\n%s\nwant\n%s", s.engine.prompt(), first)
		}
		if err := s.Retry(context.Background()); !errors.Is(err, coordinator.ErrNothingToRetry) {
			t.Errorf("retry after a finished turn: %v", err)
		}
	})
}

func TestToolsAndUsageAreRecordedInOrder(t *testing.T) {
	d := onDisk(t, 0)
	input := json.RawMessage(`{ "for": "needle" }`)
	s := start(t, d, yields(nil,
		agent.SessionStarted{ID: "s-1"}, agent.Text{Text: "Let me "}, agent.ToolStarted{ID: "c1", Name: "grep", Input: input},
		agent.ToolCompleted{ID: "c1", Name: "grep", Output: "line 1\n\x1b[31mline 2\xff"},
		agent.ToolStarted{ID: "c2", Name: "make"}, agent.ToolCompleted{ID: "c2", Name: "make", Error: "exit 2"},
		agent.Usage{Input: 10, Output: 1}, agent.Text{Text: "see."}, agent.Usage{Input: 20, Output: 5}))
	s.say("find it")
	checkEqual(t, "the events", s.recorder.types(), []string{
		"session.created", "message.appended", "turn.started", "turn.text",
		"tool.started", "tool.completed", "tool.started", "tool.completed", "message.appended", "turn.ended",
	})
	events := d.events(s.Session().ID)
	turnID := payloads[projection.TurnStarted](t, events)[0].TurnID
	checkEqual(t, "the starts", payloads[projection.ToolStarted](t, events), []projection.ToolStarted{
		{TurnID: turnID, ToolID: "c1", Name: "grep", Input: json.RawMessage(`{"for":"needle"}`)},
		{TurnID: turnID, ToolID: "c2", Name: "make"},
	})
	checkEqual(t, "the ends", payloads[projection.ToolCompleted](t, events), []projection.ToolCompleted{
		{TurnID: turnID, ToolID: "c1", Name: "grep", Output: "line 1\n\x1b[31mline 2\uFFFD"},
		{TurnID: turnID, ToolID: "c2", Name: "make", Error: "exit 2"},
	})
	checkEqual(t, "the agent's session", s.lastEnd().AgentSession, "s-1")
	checkEqual(t, "the usage", s.lastEnd().Usage, &projection.Usage{Input: 20, Output: 5})
	if got := s.Session().Stats; got.Tools != 2 || got.Usage.Input != 20 || got.Usage.Output != 5 {
		t.Errorf("the statistics are %+v", got)
	}
	s.say("again")
	if strings.Contains(s.engine.prompt(), "line 1") {
		t.Errorf("a tool's output is in the prompt:\n%s", s.engine.prompt())
	}
}

// If the process is killed later in the turn, the results of its tools are not lost.
func TestToolResultsAreOnDiskDuringTurn(t *testing.T) {
	d := onDisk(t, 0)
	var during []string
	s := start(t, d, func(context.Context, agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			// The last of them is received when the one before it has been recorded.
			for _, e := range []agent.Event{
				agent.Text{Text: "I look."}, agent.ToolStarted{ID: "c1", Name: "grep"},
				agent.ToolCompleted{ID: "c1", Name: "grep", Output: "line 1"}, agent.Alive{},
			} {
				if !yield(e, nil) {
					return
				}
			}
			paths, _ := filepath.Glob(filepath.Join(d.dir(), "*.jsonl"))
			for _, e := range d.events(strings.TrimSuffix(filepath.Base(paths[0]), ".jsonl")) {
				during = append(during, e.Type)
			}
			yield(agent.Text{Text: "Found."}, nil)
		}
	})
	s.say("find it")
	checkEqual(t, "the events in the file", during, []string{
		"session.created", "message.appended", "turn.started", "turn.text", "tool.started", "tool.completed",
	})
}

func TestToolOutputIsBounded(t *testing.T) {
	const bound = 64 << 10
	long := strings.Repeat("é", bound) // the bound is in the middle of no rune
	s := start(t, &store.Memory{}, yields(nil,
		agent.ToolStarted{ID: "c1", Name: "cat", Input: json.RawMessage(`"` + long + `"`)},
		agent.ToolCompleted{ID: "c1", Name: "cat", Output: "x" + long},
		agent.ToolCompleted{ID: "c2", Name: "cat", Output: long[:bound]},
		agent.Text{Text: "done"}))
	s.say("show me")
	if got := payloads[projection.ToolStarted](t, s.recorder.appended)[0].Input; got != nil {
		t.Errorf("%d bytes of input", len(got))
	}
	ends := payloads[projection.ToolCompleted](t, s.recorder.appended)
	if got := ends[0]; got.Output != "x"+long[:bound-2] || got.OutputBytes != int64(len(long)+1) {
		t.Errorf("%d bytes of output, recorded length %d", len(got.Output), got.OutputBytes)
	}
	if got := ends[1]; got.Output != long[:bound] || got.OutputBytes != 0 {
		t.Errorf("%d bytes of output within the limit, recorded length %d", len(got.Output), got.OutputBytes)
	}
}

func TestInvalidToolInputIsOmitted(t *testing.T) {
	for _, input := range []string{"{", "not json", "{}{}", "\"\xff\""} {
		s := start(t, &store.Memory{}, yields(nil,
			agent.ToolStarted{ID: "c1", Name: "cat", Input: json.RawMessage(input)}, agent.Text{Text: "done"}))
		s.say("go")
		if got := payloads[projection.ToolStarted](t, s.recorder.appended); len(got) != 1 || got[0].Input != nil {
			t.Errorf("the recorded input of %q is %+v", input, got)
		}
	}
}

func TestUnfinishedToolIsHarmless(t *testing.T) {
	s := start(t, &store.Memory{}, yields(nil, agent.ToolStarted{ID: "c1", Name: "sleep"}, agent.Text{Text: "done"}))
	s.say("go", "again")
	s.checkMembers("ada", "ada")
}

// maxLine fits only the events of a short conversation.
const maxLine = 2 << 10

func TestTooLongReplyFailsOnlyTheTurn(t *testing.T) {
	d := onDisk(t, maxLine)
	s := start(t, d, says("short"), says(strings.Repeat("long ", maxLine)))
	s.say("hello")
	failed := turnError(t, s.Say(context.Background(), "you", "tell me everything"), "ada", projection.Failed)
	if !errors.Is(failed, journal.ErrTooLong) {
		t.Errorf("the error is %v", failed)
	}
	end := s.lastEnd()
	reply := strings.TrimRight(strings.Repeat("long ", maxLine), " ")
	if end.FinishReason != projection.Failed || len(end.Partial) < maxLine-700 ||
		!strings.HasPrefix(reply, end.Partial) || end.PartialBytes < int64(len(reply)) {
		t.Errorf("%d bytes, recorded length %d: %+v", len(end.Partial), end.PartialBytes, end)
	}
	if !strings.Contains(end.Error, "ask for less") {
		t.Errorf("its error is %q", end.Error)
	}
	s.say("in short?")
	s.checkComplete(d, "you: hello", "ada: short", "you: tell me everything", "you: in short?", "ada: ok")
	resume(t, d, s.stop()).Stop("")
}

func TestEndlessReplyIsStopped(t *testing.T) {
	d := onDisk(t, maxLine)
	said := 0
	s := start(t, d, func(ctx context.Context, _ agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			for text := strings.Repeat("on and ", 1000); ctx.Err() == nil; said += len(text) {
				if !yield(agent.Text{Text: text}, nil) {
					return
				}
			}
			yield(nil, context.Cause(ctx))
		}
	})
	failed := turnError(t, s.Say(context.Background(), "you", "hello"), "ada", projection.Failed)
	if !errors.Is(failed, journal.ErrTooLong) || said > 4<<20 {
		t.Errorf("after %d bytes the error is %v", said, failed)
	}
	s.say("again")
	s.checkComplete(d, "you: hello", "you: again", "ada: ok")
}

// Control characters take six bytes each in a line.
func TestPartialReplyIsKeptAsFarAsItFits(t *testing.T) {
	d := onDisk(t, maxLine)
	s := start(t, d, yields(errors.New("broken"), agent.Text{Text: strings.Repeat("\x01", maxLine)}))
	turnError(t, s.Say(context.Background(), "you", "hello"), "ada", projection.Failed)
	if end := s.lastEnd(); end.Partial == "" || end.Error != "broken" || end.PartialBytes != maxLine {
		t.Errorf("the turn ended with %.200v", end)
	}
	if got := s.Session().Interrupted; !slices.Equal(got, []string{"ada"}) {
		t.Errorf("the interrupted members are %q", got)
	}
	s.say("again")
	if events := d.events(s.Session().ID); len(payloads[projection.TurnEnded](t, events)) != 2 {
		t.Error("a turn is open")
	}
}

func TestTooLongToolFailsOnlyTheTurn(t *testing.T) {
	d := onDisk(t, maxLine)
	s := start(t, d, func(ctx context.Context, _ agent.Turn) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) {
			if yield(agent.Text{Text: "before "}, nil) &&
				yield(agent.ToolCompleted{ID: "c1", Output: strings.Repeat("x", maxLine)}, nil) {
				<-ctx.Done() // as an agent that does not react to the cancellation at once
				yield(agent.Text{Text: "after"}, nil)
				yield(nil, context.Cause(ctx))
			}
		}
	})
	failed := turnError(t, s.Say(context.Background(), "you", "hello"), "ada", projection.Failed)
	if !errors.Is(failed, journal.ErrTooLong) {
		t.Errorf("the error is %v", failed)
	}
	if end := s.lastEnd(); end.Partial != "before " {
		t.Errorf("the turn ended with %+v", end)
	}
	s.say("again")
	d.checkMessages(s.Session().ID, "you: hello", "you: again", "ada: ok")
}

func TestTooLongMessageIsRejectedWhileUnsaved(t *testing.T) {
	d := onDisk(t, maxLine)
	s := start(t, d)
	d.FailFrom(1, syscall.ENOSPC)
	s.say("hello")
	if err := s.Say(context.Background(), "you", strings.Repeat("long ", maxLine)); !errors.Is(err,
		journal.ErrTooLong) {
		t.Errorf("the error is %v", err)
	}
	d.Heal()
	s.say("again")
	if s.Status().Unsaved {
		t.Error("unsaved after the disk works again")
	}
	s.checkComplete(d, "you: hello", "ada: ok", "you: again", "ada: ok")
}

func TestTooLongMessageIsRejected(t *testing.T) {
	d := onDisk(t, maxLine)
	long := strings.Repeat("long ", maxLine)
	s := start(t, d)
	if err := s.Say(context.Background(), "you", long); !errors.Is(err, journal.ErrTooLong) {
		t.Errorf("the first message: %v", err)
	}
	s.checkClean(s.Team())
	s.say("hello")
	if err := s.Say(context.Background(), "you", long); !errors.Is(err, journal.ErrTooLong) {
		t.Errorf("a later message: %v", err)
	}
	s.say("again")
	s.checkMembers("ada", "ada")
	s.checkComplete(d, "you: hello", "ada: ok", "you: again", "ada: ok")
	id := s.stop()

	s = resume(t, d, id)
	if err := s.Say(context.Background(), "you", long); !errors.Is(err, journal.ErrTooLong) {
		t.Errorf("the first message after a restore: %v", err)
	}
	s.say("third")
	if n := len(payloads[projection.SessionResumed](t, d.events(id))); n != 1 {
		t.Errorf("%d session.resumed", n)
	}
}

func TestEmptyMessageIsRejected(t *testing.T) {
	s := start(t, &store.Memory{})
	for _, text := range []string{"", "  ", "\n\t"} {
		if err := s.Say(context.Background(), "you", text); !errors.Is(err, coordinator.ErrEmptyMessage) {
			t.Errorf("%q: %v", text, err)
		}
	}
	s.checkClean(s.Team())
}

func TestAnyReplyIsKept(t *testing.T) {
	for name, said := range map[string]string{
		"invalid UTF-8":   "a\xff\xfe\xc3(b",
		"NUL":             "a\x00b",
		"escapes":         "\x1b[2J\x1b]0;title\x07\u009b31m\r\nline",
		"HTML":            `<script>alert("&amp;")</script>`,
		"separators":      "a\u2028b\u2029c\ufeffd",
		"surrogates":      "a\xed\xa0\x80b \U0001F9D1\u200D\U0001F680",
		"what JSON means": `{"seq":1,"sum":"00000000"}` + "\n" + `,"sum":"12345678"}`,
		"indentation":     "    code\n\n\n\tmore",
	} {
		t.Run(name, func(t *testing.T) {
			d := onDisk(t, 0)
			s := start(t, d, says(said))
			s.say(said)
			id := s.stop()
			valid := strings.ToValidUTF8(said, "\uFFFD")
			d.checkMessages(id, "you: "+valid, "ada: "+valid)
			for _, p := range payloads[projection.MessageAppended](t, d.events(id)) {
				if exact := string(p.Raw); valid != said && exact != said || valid == said && exact != "" {
					t.Errorf("the exact bytes are %q, want %q", exact, said)
				}
			}
			again := resume(t, d, id)
			again.say("continue")
			lines := regexp.MustCompile(`([\n\r\x{2028}\x{2029}])([^\n\r\x{2028}\x{2029}])`)
			indented := lines.ReplaceAllString(valid, "$1  $2")
			if !strings.Contains(again.engine.prompt(), "Ada: "+indented) {
				t.Errorf("the prompt is %q", again.engine.prompt())
			}
		})
	}
}

func TestStreamedTextIsThatOfTheMessage(t *testing.T) {
	tool := agent.ToolStarted{ID: "c", Name: "run"}
	for _, parts := range [][]string{
		{"bad \xff\xfe end"},
		{"\x9b", " alone"},
		{"one \xff", "\xfe run", " and\xe4", "\xb8", "\xff", "another \xff"},
		{"no run: \xff", "\uFFFD", "\xff", "", "é", "\xff"},
		{"\x00\x1b[31m\b\r\u009b\u202e", "a\xe4\xb8\xad"},
		{"cut off \xe4\xb8"},
	} {
		var texts, withTools []agent.Event
		for _, part := range parts {
			texts = append(texts, agent.Text{Text: part})
			withTools = append(withTools, agent.Text{Text: part}, tool) // records the text so far
		}
		for _, events := range [][]agent.Event{texts, withTools} {
			s := start(t, &store.Memory{}, yields(nil, events...))
			s.say("hello")
			want := strings.ToValidUTF8(strings.Join(parts, ""), "\uFFFD")
			if got := s.recorder.streamed.String(); got != want {
				t.Errorf("%q: streamed are %q, want %q", parts, got, want)
			}
			recorded := ""
			for _, p := range payloads[projection.TurnText](t, s.recorder.appended) {
				recorded += p.Text
			}
			if len(events) > len(parts) && recorded != want {
				t.Errorf("%q: recorded are %q, want %q", parts, recorded, want)
			}
		}
	}
}

func TestSixteenMebibyteReplyIsKept(t *testing.T) {
	d := onDisk(t, 0)
	human, reply := strings.Repeat("q", 16<<20), strings.Repeat("a", 16<<20)
	s := start(t, d, says(reply))
	s.say(human)
	if prompt := s.engine.prompt(); !strings.HasSuffix(prompt, "Message from You:\n"+human+"\n") {
		t.Errorf("the prompt has %d bytes", len(prompt))
	}
	id := s.stop()
	snapshot, err := d.Load(t.Context(), "ensemble", id)
	if err != nil || len(snapshot.Context.Messages) != 2 || snapshot.Context.Messages[0].Content != human ||
		snapshot.Context.Messages[1].Content != reply {
		t.Errorf("the session differs from the messages: %v", err)
	}
	again := resume(t, d, id)
	again.say("too long?")
	if got := len(again.engine.prompt()); got > 10<<10 {
		t.Errorf("the next prompt has %d bytes", got)
	}
}

func TestEngineGetsTurn(t *testing.T) {
	s := newFixture(t, &store.Memory{})
	team := testTeam()
	team.Members[0].Command, team.Members[0].Args, team.Members[0].BaseDir = "prog", []string{"-x"}, "/base"
	s.setTeam(team, "")
	s.say("hello [NEXT: ada, bob]")
	ada, bob := s.engine.turns[0], s.engine.turns[1]
	if ada.Dir != "/base" || bob.Dir != "/somewhere" {
		t.Errorf("the directories are %s and %s", ada.Dir, bob.Dir)
	}
	if ada.ID == "" || ada.ID == bob.ID || ada.ID != payloads[projection.TurnStarted](t,
		s.recorder.appended)[0].TurnID {
		t.Errorf("the turns are %s and %s", ada.ID, bob.ID)
	}
	checkEqual(t, "the message", ada.Said, agent.Said{Speaker: "You", Text: "hello"})
	checkEqual(t, "ada", ada.Member, agent.Member{ID: "ada", Name: "ada", DisplayName: "Ada", AgentType: "x",
		Command: "prog", Args: []string{"-x"}, Next: "bob"})
	if bob.Member.Next != "you" || bob.Member.Model != "m1" {
		t.Errorf("bob is %+v", bob.Member)
	}
	team = without(without(testTeam(), "you"), "bob")
	slices.Reverse(team.Members)
	s.setTeam(team, "")
	s.say("hello")
	if next := s.engine.turns[2].Member.Next; next != "eve" {
		t.Errorf("after the last member of the team comes %q", next)
	}
}

// checkRetryHint checks that an error has the command that reruns the turn.
func checkRetryHint(t *testing.T, err error) {
	t.Helper()
	if h, ok := hint.Of(err); !ok || h.Kind != hint.Slash || !slices.Equal(h.Argv, []string{"retry"}) {
		t.Errorf("the hint is %+v", h)
	}
}

func TestReplyIsCutAt16MiB(t *testing.T) {
	const limit = 16 << 20
	said := make([]agent.Event, 20)
	for i := range said {
		said[i] = agent.Text{Text: strings.Repeat("word ", 1<<20/5)}
	}
	s := start(t, &store.Memory{}, yields(nil, said...))
	failed := turnError(t, s.Say(t.Context(), "you", "hello"), "ada", projection.Failed)
	if !strings.Contains(failed.Message, "the reply exceeds 16777216 bytes") {
		t.Errorf("the error is %q", failed.Message)
	}
	if n := len(s.lastEnd().Partial); n > limit || n < limit-10 {
		t.Errorf("%d bytes are kept", n)
	}
}
