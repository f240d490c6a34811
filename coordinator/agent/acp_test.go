package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

// newACP is the engine, with all the time that a test has.
func newACP(t *testing.T) *agent.ACP {
	e := &agent.ACP{Grace: 2 * patience}
	t.Cleanup(e.Close)
	return e
}

// withHint returns the error with its hint as a user types it.
func withHint(err error) string {
	h, _ := hint.Of(err)
	if h.Kind == hint.Slash {
		return err.Error() + "\n/" + hint.Join(h.Argv)
	}
	return err.Error() + "\n" + hint.Join(h.Argv)
}

// speaks is a turn of the agent that does what the prompt says.
func speaks(t *testing.T, prompt string, habits ...agenttest.Habit) agent.Turn {
	return agent.Turn{ID: fmt.Sprintf("%s-%d", t.Name(), os.Getpid()), Dir: t.TempDir(), Prompt: prompt, Member: agenttest.Member(habits...)}
}

// again is the same turn with another prompt and id.
func again(turn agent.Turn, prompt string) agent.Turn {
	turn.ID += "-again"
	turn.Prompt = prompt
	return turn
}

// whole is all that a turn tells, an event a line, with texts joined.
func whole(ctx context.Context, e agent.Engine, turn agent.Turn) (told []string, err error) {
	text := ""
	for event, err := range e.Run(ctx, turn) {
		if err != nil {
			return append(told, text), err
		}
		if piece, ok := event.(agent.Text); ok {
			text += piece.Text
			continue
		}
		if event == (agent.Alive{}) {
			continue
		}
		if text != "" {
			told, text = append(told, text), ""
		}
		switch event := event.(type) {
		case agent.ToolStarted:
			told = append(told, fmt.Sprintf("%T {ID:%s Name:%s Input:%s}", event, event.ID, event.Name, event.Input))
		default:
			told = append(told, fmt.Sprintf("%T %+v", event, event))
		}
	}
	if text != "" {
		told = append(told, text)
	}
	return told, nil
}

func TestAnAgentOfTheProtocolAnswers(t *testing.T) {
	told, err := whole(within(t), newACP(t), speaks(t, "say Build a shelf. [NEXT: bob]"))
	want := "agent.Session {ID:session-1}\nBuild a shelf. [NEXT: bob]\nagent.Usage {InputTokens:12 OutputTokens:5}"
	if got := strings.Join(told, "\n"); err != nil || got != want {
		t.Errorf("it told\n%s\nand %v, want\n%s", got, err, want)
	}
}

// workplace is what the agent says of where it works.
type workplace struct{ session, dir, process, model string }

func where(t *testing.T, e agent.Engine, turn agent.Turn) workplace {
	t.Helper()
	fields := strings.Fields(mustReply(t, e, turn) + " -")
	return workplace{fields[0], fields[1], fields[2], fields[3]}
}

func TestTheProgramStaysBetweenTurnsAndEachIsASessionOfItsOwn(t *testing.T) {
	for _, habits := range [][]agenttest.Habit{nil, {agenttest.Unclosing}} {
		e, turn := newACP(t), speaks(t, "where", habits...)
		first, second := where(t, e, turn), where(t, e, again(turn, "where"))
		if first.process != second.process {
			t.Errorf("the processes are %s and %s", first.process, second.process)
		}
		if first.dir != turn.Dir || second.dir != turn.Dir {
			t.Errorf("it worked in %s and %s, want %s", first.dir, second.dir, turn.Dir)
		}
		if len(habits) > 0 && first.session == second.session {
			t.Errorf("both turns are in %s", first.session)
		}
		e.Close()
		if third := where(t, e, again(turn, "where")); third.process == first.process {
			t.Error("it went on when it had been closed")
		}
	}
}

func TestTwoMembersHaveAProgramEach(t *testing.T) {
	e, turn := newACP(t), speaks(t, "where")
	other := again(turn, "where")
	other.Member.ID = "other"
	if a, b := where(t, e, turn), where(t, e, other); a.process == b.process {
		t.Errorf("they share process %s", a.process)
	}
}

func TestAProgramThatHasEndedIsStartedAgain(t *testing.T) {
	for _, prompt := range []string{"leave", "crash"} {
		e, turn := newACP(t), speaks(t, prompt)
		if said, err := reply(within(t), e, turn); said == "" || (prompt == "leave") != (err == nil) {
			t.Errorf("%s: it said %q, %v", prompt, said, err)
		}
		if got := mustReply(t, e, again(turn, "say I am back.")); got != "I am back." {
			t.Errorf("%s: the next reply is %q", prompt, got)
		}
	}
}

func TestAnAnswerThatIsTheLastWordOfAProgramCounts(t *testing.T) {
	for range 20 {
		if got := mustReply(t, newACP(t), speaks(t, "leave")); got != "Goodbye." {
			t.Fatalf("the reply is %q", got)
		}
	}
}

func TestATurnEndsAsTheAgentOfTheProtocolSays(t *testing.T) {
	for _, tt := range []struct {
		name, prompt string
		habits       []agenttest.Habit
		said         string
		says, help   string // of the failure
	}{
		{"nothing special", "?", nil, "Hello.", "", ""},
		{"things that nobody knows", "blurt", nil, "Well.", "", ""},
		{"too long for its model", "stop max_tokens", nil, "Let me see.", "cut off", "longer reply"},
		{"too long for its model from the start", "mute max_tokens", nil, "", "the prompt may be too long", "name a file"},
		{"too many steps", "stop max_turn_requests", nil, "Let me see.", "limit of model requests", "/retry"},
		{"refusal", "stop refusal", nil, "Let me see.", "refuses", "other words"},
		{"cancelled by itself", "stop cancelled", nil, "Let me see.", "not requested", "/retry"},
		{"a reason of the future", "stop tired", nil, "Let me see.", "“tired”", "/retry"},
		{"an error", "fail Internal error: API Error: 400 no credit", nil, "", "API Error: 400 no credit", "/retry"},
		{"an error of the API", `fail {"error":{"code":400,"message":"no credit"}}`, nil, "", "no credit", "/retry"},
		{"too many requests", "fail 429 too many requests", nil, "", "429", "wait a while"},
		{"an error that is only a word", `error "boom"`, nil, "", `"boom"`, "/retry"},
		{"an error that says nothing", `error {}`, nil, "", "{}", "/retry"},
		{"an error with another code", `error {"code":"E7","message":"no credit"}`, nil, "", "no credit", "/retry"},
		{"no error", `error null`, nil, "", "it stopped for the reason “”", "/retry"},
		{"what it could not read", "unread", nil, "", "Parse error", "/retry"},
		{"a crash", "crash", nil, "Let me see.", "it exited with code 3 before its turn was finished: out of memory", "/retry"},
		{"rubbish with exit code 0", "?", []agenttest.Habit{agenttest.Rubbish}, "", "it exited with code 0 before its turn was finished, and printed “Welcome, my friend!”", `"engine" to "command"`},
		{"no login", "?", []agenttest.Habit{agenttest.LoggedOut}, "", "it requires a login: Authentication required", "log in"},
		{"another version", "?", []agenttest.Habit{agenttest.Older}, "", "version 0", ""},
		{"a line without measure", "line 70000000", nil, "", "a line of more than 67108864 bytes", "less"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			turn := speaks(t, tt.prompt, tt.habits...)
			turn.Member.AgentType = "opencode"
			said, err := reply(within(t), newACP(t), turn)
			if said != tt.said {
				t.Errorf("it said %q", said)
			}
			failure, failed := errors.AsType[*agent.FailureError](err)
			switch {
			case (tt.says == "") != (err == nil), err != nil && !failed:
				t.Errorf("got %v", err)
			case failed && (failure.Agent != "OpenCode" || !strings.Contains(failure.Reason, tt.says) || !strings.Contains(withHint(failure), tt.help)):
				t.Errorf("got %v, want %q and %q", err, tt.says, tt.help)
			}
		})
	}
}

func TestAProgramThatDoesNotSpeakTheProtocolIsNotWaitedForLong(t *testing.T) {
	e := &agent.ACP{Grace: time.Millisecond, Start: time.Millisecond}
	_, err := reply(within(t), e, speaks(t, "?", agenttest.Mute))
	if _, ok := errors.AsType[*agent.FailureError](err); !ok || !strings.Contains(err.Error(), "does not answer in the Agent Client Protocol") || !strings.Contains(err.Error(), "command") {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatIsNotThereSaysHowToInstallIt(t *testing.T) {
	for _, tt := range []struct{ agentType, says string }{
		{"claude", "npm install -g @agentclientprotocol/claude-agent-acp"},
		{"claude-code", "claude-agent-acp"},
		{"codex", "npm install -g @agentclientprotocol/codex-acp"},
		{"gemini", "npm install -g @google/gemini-cli"},
		{"opencode", "npm install -g opencode-ai"},
		{"mine", "no command"},
	} {
		turn := speaks(t, "?")
		turn.Member.AgentType, turn.Member.Command, turn.Member.Env = tt.agentType, "", map[string]string{"PATH": t.TempDir()}
		_, err := reply(within(t), newACP(t), turn)
		if _, ok := errors.AsType[*process.StartError](err); !ok || !strings.Contains(withHint(err), tt.says) {
			t.Errorf("%s: got %v, want %q", tt.agentType, err, tt.says)
		}
	}
}

func TestTheModelIsSetInTheSession(t *testing.T) {
	for _, habit := range []agenttest.Habit{agenttest.Models, agenttest.ModelOption} {
		turn := speaks(t, "where", habit)
		turn.Member.Model = "opus"
		if got := where(t, newACP(t), turn).model; got != "opus" {
			t.Errorf("%s: the model is %q", habit, got)
		}
	}
	turn := speaks(t, "where")
	turn.Member.Model = "opus"
	if _, err := reply(within(t), newACP(t), turn); err == nil || !strings.Contains(err.Error(), `omit the member's "model"`) {
		t.Errorf("an agent without a choice: %v", err)
	}
}

func TestHugePromptsAndRepliesPassThroughTheProtocol(t *testing.T) {
	e := newACP(t)
	prompt := "count\n" + strings.Repeat("日本語🙂 and \"more\". ", 10<<20/24)
	turn := speaks(t, prompt)
	if got := mustReply(t, e, turn); got != strconv.Itoa(len(prompt)) {
		t.Errorf("it got %s bytes of %d", got, len(prompt))
	}
	long := 100 << 20
	if testing.Short() {
		long = 10 << 20
	}
	total := 0
	for event, err := range e.Run(t.Context(), again(turn, "long "+strconv.Itoa(long))) {
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := event.(agent.Text); ok {
			total += len(text.Text)
		}
	}
	if total != long {
		t.Errorf("%d bytes came", total)
	}
}

func TestWhatAnAgentAsksLeaveForIsDecidedByTheTurn(t *testing.T) {
	for _, tt := range []struct {
		name   string
		permit func(context.Context, agent.Permission) bool
		want   string
	}{
		{"allowed", func(context.Context, agent.Permission) bool { return true }, "selected this-time"},
		{"refused", func(context.Context, agent.Permission) bool { return false }, "selected never"},
		{"nobody decides", nil, "selected never"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked []agent.Permission
			turn := speaks(t, "ask rm -r /")
			if tt.permit != nil {
				turn.Permit = func(ctx context.Context, p agent.Permission) bool {
					asked = append(asked, p)
					return tt.permit(ctx, p)
				}
			}
			told, err := whole(within(t), newACP(t), turn)
			if err != nil || len(told) != 5 || !strings.Contains(told[1], `ToolStarted {ID:t1 Name:execute`) || !strings.Contains(told[2], "ToolCompleted {ID:t1") || told[3] != tt.want {
				t.Errorf("it told %q, %v", told, err)
			}
			if tt.permit != nil && (len(asked) != 1 || asked[0].Title != "rm -r /" || asked[0].ToolID != "t1" || asked[0].Tool != "execute") {
				t.Errorf("asked %+v", asked)
			}
		})
	}
}

func TestAQuestionOfAnotherSessionIsNotAskedInThisTurn(t *testing.T) {
	turn := speaks(t, "late rm -r /")
	turn.Permit = func(context.Context, agent.Permission) bool {
		t.Error("it was asked")
		return true
	}
	if told, err := whole(within(t), newACP(t), turn); err != nil || len(told) != 3 || told[1] != "cancelled " {
		t.Errorf("it told %q, %v", told, err)
	}
}

func TestAQuestionEndsWithTheTurnThatIsStopped(t *testing.T) {
	e, turn := newACP(t), speaks(t, "ask rm -r /")
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	turn.Permit = func(asked context.Context, _ agent.Permission) bool {
		cancel(errEnoughSaid)
		<-asked.Done()
		return true // too late
	}
	said, err := reply(ctx, e, turn)
	if !errors.Is(err, errEnoughSaid) || said != "cancelled " {
		t.Errorf("it said %q, %v", said, err)
	}
	if got := mustReply(t, e, again(turn, "say on")); got != "on" {
		t.Errorf("the next reply is %q", got)
	}
}

func TestAQuestionEndsAlthoughNobodyHearsTheAgentMeanwhile(t *testing.T) {
	e, turn := newACP(t), speaks(t, "urge rm -r /")
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	begun, ended := make(chan struct{}), make(chan struct{})
	turn.Permit = func(asked context.Context, _ agent.Permission) bool {
		close(begun)
		<-asked.Done()
		close(ended)
		return false
	}
	var last error
	for event, err := range e.Run(ctx, turn) {
		last = err
		if event == (agent.Alive{}) {
			select {
			case <-begun: // whoever asks a person hears nothing else until there is an answer
				cancel(errEnoughSaid)
				<-ended
			default:
			}
		}
	}
	if !errors.Is(last, errEnoughSaid) {
		t.Errorf("the last error is %v", last)
	}
	if got := mustReply(t, e, again(turn, "say on")); got != "on" {
		t.Errorf("the next reply is %q", got)
	}
}

func TestAnAgentThatIsCancelledStaysForTheNextTurn(t *testing.T) {
	e, turn := newACP(t), speaks(t, "where")
	process := where(t, e, turn).process
	for _, prompt := range []string{"hang", "slow 100000"} {
		ctx, cancel := context.WithCancelCause(within(t))
		var last error
		for event, err := range e.Run(ctx, again(turn, prompt)) {
			last = err
			if _, ok := event.(agent.Text); ok {
				cancel(errEnoughSaid)
			}
		}
		cancel(nil)
		if !errors.Is(last, errEnoughSaid) {
			t.Errorf("%s: the last error is %v", prompt, last)
		}
	}
	if got := where(t, e, again(turn, "where")).process; (got == process) != sweeps {
		t.Errorf("the process was %s and is %s", process, got)
	}
}

func TestLeavingTheLoopCancelsTheAgent(t *testing.T) {
	e, turn := newACP(t), speaks(t, "hang")
	for event, err := range e.Run(within(t), turn) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := event.(agent.Text); ok {
			break
		}
	}
	for range e.Run(within(t), again(turn, "hang")) {
		break // at once
	}
	if got := mustReply(t, e, again(turn, "say on")); got != "on" {
		t.Errorf("the next reply is %q", got)
	}
}

func TestAnAgentOfTheProtocolTakesAsMuchAsItIsKnownTo(t *testing.T) {
	for _, tt := range []struct {
		agentType string
		bytes     int
		excess    int
	}{
		{"codex", 1 << 20, 0},
		{"codex-acp", 1<<20 + 7, 7},
		{"gemini", 4<<20 - 64<<10, 0},
		{"gemini", 4<<20 - 64<<10 + 7, 7},
		{"claude", 10 << 20, 0},
		{"opencode", 10 << 20, 0},
		{"somebody", 10 << 20, 0},
	} {
		e, turn := newACP(t), agent.Turn{Prompt: strings.Repeat("x", tt.bytes), Member: agent.Member{AgentType: tt.agentType, Command: "/nowhere"}}
		if got := e.Excess(turn.Member, turn.Prompt); got != tt.excess {
			t.Errorf("%s: %d bytes are %d too many, want %d", tt.agentType, tt.bytes, got, tt.excess)
		}
		if _, err := reply(within(t), e, turn); strings.Contains(err.Error(), "the prompt is too long: the limit is ") != (tt.excess > 0) {
			t.Errorf("%s: %d bytes: got %v", tt.agentType, tt.bytes, err)
		}
	}
}
