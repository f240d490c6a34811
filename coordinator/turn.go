package coordinator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

const (
	// textInterval is how much of a reply a killed process loses at most.
	textInterval = 2 * time.Second
	// toolOutput is how much of a tool's output is recorded, in bytes.
	toolOutput = 64 << 10
	// leastWeighed is how long a reply becomes before its length matters, in bytes.
	leastWeighed = 1 << 20
)

var (
	errTimeout  = errors.New("it took longer than the team allows; to ask again, type /retry, and to allow more, raise maxAgentResponseTime in the team file")
	errIdle     = errors.New("nothing was heard of it for longer than its maxAgentIdleTime allows; to ask again, type /retry, and to wait longer, raise that in the team file")
	errNoAnswer = errors.New("it ended without an answer")
	errNoEngine = errors.New("there is no such engine")
)

// turn asks one agent and records what becomes of it.
// It reports whether the queue goes on.
func (c *Coordinator) turn(ctx context.Context, next item) (more bool, err error) {
	t := &turn{c: c, item: next, id: c.newID(), started: c.o.Now(), text: c.secrets.Stream(), asked: make(chan asked)}
	c.setStatus(Active)
	err = c.conv.record(c.records(append(c.decisions(), projection.TurnStarted{
		TurnID: t.id, MemberID: next.member.ID, AgentType: next.member.AgentType, Model: next.member.Model,
		TriggerMessageID: next.trigger.id,
	})...)...)
	if err != nil {
		return false, err
	}
	// What is said so far must outlive whatever the agent does.
	c.reportFailure(c.conv.save())
	c.o.Events.TurnStarted(next.member)
	c.rounds++
	defer c.sayReplaced()
	err = t.finish(ctx, t.ask(ctx))
	return t.goesOn, err
}

// turn is one agent at work.
type turn struct {
	c       *Coordinator
	item    item
	id      string
	started time.Time
	text    *redact.Stream  // of the reply, as it comes
	reply   strings.Builder // without secrets
	flushed int             // how much of reply is recorded as turn.text
	weighed int             // how long reply may become before bounded looks again
	usage   *projection.Usage
	session string // the agent's own name of its session
	asked   chan asked
	goesOn  bool // the queue does, behind the reply
}

// ask runs the agent and records its events, until it is done or fails.
func (t *turn) ask(ctx context.Context) error {
	engine, ok := t.c.o.Engines[t.item.member.EngineName()]
	if !ok {
		return fmt.Errorf("%q: %w", t.item.member.EngineName(), errNoEngine)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	question := t.question(engine)
	question.Permit = t.permit
	came := make(chan result)
	go func() {
		defer close(came)
		for e, err := range engine.Run(ctx, question) {
			came <- result{e, err}
		}
	}()
	return t.listen(came, stop)
}

// result is one step of an engine.
type result struct {
	event agent.Event
	err   error
}

// listen records what comes until nothing more does. A step that cannot be
// recorded stops the agent.
func (t *turn) listen(came <-chan result, stop context.CancelCauseFunc) (failure error) {
	tick := time.NewTicker(textInterval)
	defer tick.Stop()
	silence := newSilence(t.item.member.MaxAgentIdleTime)
	defer silence.stop()
	patience := newPatience(t.c.team.MaxAgentResponseTime)
	defer patience.pause()
	for {
		var err error
		select {
		case r, ok := <-came:
			if !ok {
				return failure
			}
			silence.heard(r.event)
			if err = r.err; err == nil && failure == nil {
				err = t.hear(r.event)
			}
		case a := <-t.asked:
			patience.pause() // a person may take a while
			err = t.decide(a)
			patience.goOn()
			silence.heard(nil)
		case <-patience.over:
			stop(errTimeout)
		case <-silence.tooLong:
			stop(errIdle) // the engine says what was in the way
		case <-tick.C:
			err = t.flush()
		}
		if err != nil && failure == nil {
			failure = err
			stop(err)
		}
	}
}

// say takes in a part of the reply, as it may be kept and shown.
func (t *turn) say(text string) error {
	if text == "" {
		return nil
	}
	t.reply.WriteString(text)
	t.c.o.Events.Text(t.item.member, text)
	return t.bounded()
}

// hear takes in one event of the agent.
func (t *turn) hear(e agent.Event) error {
	switch e := e.(type) {
	case agent.Text:
		return t.say(t.text.Next(e.Text))
	case agent.ToolStarted:
		return t.record(projection.ToolStarted{TurnID: t.id, ToolID: e.ID, Name: e.Name, Input: boundedInput(e.Input)})
	case agent.ToolCompleted:
		return t.record(t.toolCompleted(e))
	case agent.Usage:
		t.usage = &projection.Usage{InputTokens: e.InputTokens, OutputTokens: e.OutputTokens}
	case agent.Session:
		t.session = strings.ToValidUTF8(e.ID, "\uFFFD")
	}
	return nil
}

// bounded is the error that stops an agent whose reply is longer than any line
// may be, before it fills the memory. It looks each time the reply has doubled.
func (t *turn) bounded() error {
	if t.reply.Len() < max(t.weighed, leastWeighed) {
		return nil
	}
	t.weighed = 2 * t.reply.Len()
	return replyError(t.c.conv.log.Fits(t.c.records(projection.TurnText{TurnID: t.id, Text: strings.ToValidUTF8(t.reply.String(), "\uFFFD")})...))
}

// tooLongReply is a journal.ErrTooLong in words for who waits for the reply.
type tooLongReply struct{ *journal.TooLongError }

func (e tooLongReply) Error() string {
	return fmt.Sprintf("its reply is longer than the %d bytes that a session can hold: ask for less at a time, or for a file; journal.maxLine in config.json allows more", e.Limit)
}

func (e tooLongReply) Unwrap() error { return e.TooLongError }

// replyError says of an error that it comes from a reply that is too long.
func replyError(err error) error {
	var tooLong *journal.TooLongError
	if errors.As(err, &tooLong) {
		return tooLongReply{tooLong}
	}
	return err
}

// boundedInput leaves out what a tool was given when that is long, or could not
// stand in a journal.
func boundedInput(input []byte) []byte {
	if len(input) > toolOutput || !utf8.Valid(input) || !json.Valid(input) {
		return nil
	}
	return input
}

func (t *turn) toolCompleted(e agent.ToolCompleted) projection.ToolCompleted {
	p := projection.ToolCompleted{TurnID: t.id, ToolID: e.ID, Name: e.Name, Error: e.Error}
	var whole bool
	if p.Output, whole = t.c.boundedOutput(e.Output); !whole {
		p.OutputBytes = int64(len(e.Output))
	}
	return p
}

// flush records what was said since the last time.
func (t *turn) flush() error {
	text := t.reply.String()[t.flushed:]
	if text == "" {
		return nil
	}
	t.flushed = t.reply.Len()
	return t.record(projection.TurnText{TurnID: t.id, Text: strings.ToValidUTF8(text, "\uFFFD")})
}

func (t *turn) record(p projection.Payload) error {
	return t.c.conv.record(t.c.records(p)...)
}

// finish records the end of the turn, and the reply when it is whole.
func (t *turn) finish(ctx context.Context, failure error) error {
	end := projection.TurnEnded{
		TurnID: t.id, MemberID: t.item.member.ID, FinishReason: projection.Done,
		DurationMS: t.c.o.Now().Sub(t.started).Milliseconds(), Usage: t.usage,
		AgentSession: t.session,
	}
	if failure == nil {
		failure = t.say(t.text.Rest())
	} else {
		_ = t.say(t.text.Truncated())
	}
	reply := strings.TrimRight(t.reply.String(), " \t\r\n")
	if failure == nil && reply == "" {
		failure = errNoAnswer
	}
	if failure == nil {
		failure = t.answer(reply, end)
	}
	if failure == nil {
		t.c.o.Events.TurnEnded(t.item.member, end)
		return nil
	}
	return t.fail(end, reason(ctx, failure), failure)
}

// answer makes the reply a message and obeys its markers.
func (t *turn) answer(reply string, end projection.TurnEnded) error {
	c, m := t.c, t.c.markers(reply)
	member := t.item.member
	said := projection.NewMessage(c.newID(), c.o.Now(), speaker(member), m.Content, c.routing(m))
	payloads := []projection.Payload{said, end}
	if m.HasTask && member.AllowTeamTask {
		payloads = []projection.Payload{said, c.taskSet(m.Task), end}
	}
	if err := c.conv.record(c.records(payloads...)...); err != nil {
		return replyError(err)
	}
	c.last, c.waiting = said.Message.ID, ""
	c.o.Events.Said(said.Message)
	t.sayIgnored(m)
	t.route(m, said.Message)
	return nil
}

// route puts whom the reply names into the queue. When none of them is known, or
// the task is done, a human is next.
func (t *turn) route(m marker.Message, said projection.Message) {
	c, trigger := t.c, triggerFrom(said)
	trigger.answers = t.item.trigger.id
	addressed := c.enqueue(m, trigger)
	t.goesOn = addressed > 0 || len(m.Next) == 0
	if word := t.item.member.DoneWord; word != "" && isDone(m.Content, word) {
		c.decide(c.queue.drop(func(w item) bool { return w.member.Type != team.Human }, "the task is done")...)
		c.o.Events.Notice(Notice{Kind: TaskDone, Names: []string{t.item.member.DisplayName}})
	}
}

// doneLines is how many lines of a reply may say that the task is done, the last
// ones.
const doneLines = 3

// isDone reports whether the word stands alone on one of the last lines.
func isDone(reply, word string) bool {
	lines := strings.Split(strings.TrimSpace(reply), "\n")
	return slices.ContainsFunc(lines[max(0, len(lines)-doneLines):], func(line string) bool {
		return strings.TrimSpace(line) == word
	})
}

// sayIgnored says which markers of the reply only humans may write.
func (t *turn) sayIgnored(m marker.Message) {
	names := []string{t.item.member.DisplayName}
	if m.From != "" {
		t.c.o.Events.Notice(Notice{Kind: NotHuman, Names: names})
	}
	if m.HasTask && !t.item.member.AllowTeamTask {
		t.c.o.Events.Notice(Notice{Kind: TaskRefused, Names: names})
	}
}

// fail records a turn without a reply. What was said of one is kept, as far as
// a line holds it.
func (t *turn) fail(end projection.TurnEnded, why projection.FinishReason, failure error) error {
	end.FinishReason = why
	end.Partial = strings.ToValidUTF8(t.reply.String(), "\uFFFD")
	if why != projection.Cancelled {
		text := failure.Error()
		if h, ok := hint.Of(failure); ok && h.Kind == hint.Run { // until listeners get the hint itself
			text += "; type: " + hint.Join(h.Argv)
		}
		end.Error = strings.ToValidUTF8(t.c.secrets.Text(text), "\uFFFD")
	}
	t.c.waiting = ""
	err := t.record(end)
	for tooLong := (*journal.TooLongError)(nil); errors.As(err, &tooLong) && end.Partial != ""; {
		end.PartialBytes = int64(t.reply.Len())
		end.Partial = strings.ToValidUTF8(end.Partial[:shorter(len(end.Partial), tooLong)], "")
		err = t.record(end)
	}
	t.c.o.Events.TurnEnded(t.item.member, end)
	return errors.Join(&TurnError{Member: t.item.member, Reason: why, Err: failure}, err)
}

// shorter is how many of so many bytes of a text are tried next, when a line with all of them
// is too long: as many as fit when all of the text takes as much room, and a little less.
func shorter(length int, e *journal.TooLongError) int {
	return max(0, int(int64(length)*int64(e.Limit)/int64(e.Bytes))-length/1000-1)
}

// reason tells the ways apart in which a turn does not end well.
func reason(ctx context.Context, failure error) projection.FinishReason {
	switch {
	case errors.Is(failure, errTimeout), errors.Is(failure, errIdle):
		return projection.TimedOut
	case ctx.Err() != nil:
		return projection.Cancelled
	}
	return projection.Failed
}

// question is what the engine is asked.
func (t *turn) question(engine agent.Engine) agent.Turn {
	m, prompt := t.item.member, t.c.promptFor(engine, t.item)
	t.c.o.Events.Prompted(m, prompt)
	return agent.Turn{
		ID: t.id, Prompt: prompt, Dir: t.c.workDir(m),
		Said:   agent.Said{Speaker: t.item.trigger.speaker, Text: t.item.trigger.text},
		Member: m.ForEngine(t.c.after(m)),
	}
}

func (c *Coordinator) workDir(m team.Member) string {
	if m.BaseDir != "" {
		return m.BaseDir
	}
	return c.o.CWD
}

// after is the name of the member that stands behind m in the team, the first
// human behind the last agent.
func (c *Coordinator) after(m team.Member) string {
	for i, other := range c.team.Members {
		if other.ID == m.ID && i+1 < len(c.team.Members) {
			return c.team.Members[i+1].Name
		}
	}
	human, _ := c.team.FirstHuman()
	return human.Name
}
