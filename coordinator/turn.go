package coordinator

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

const (
	// textInterval is the interval in which streamed text is recorded: what a killed process
	// loses at most.
	textInterval = 2 * time.Second
	// maxReply is the length of the longest reply, in bytes. Each reply takes several times its length
	// in memory.
	maxReply = 16 << 20
	// maxUnsaved is how much a turn records before it saves, in bytes.
	maxUnsaved = 8 << 20
	// checkedLength is the length of a reply, in bytes, from which on it is checked to fit into
	// the journal.
	checkedLength = 1 << 20
	// doneLines is how many lines at the end of a reply may be the done word.
	doneLines = 3
)

// turn is one run of an agent.
type turn struct {
	c       *Coordinator
	item    item
	id      string
	started time.Time
	seen    uint64          // the seq of the newest message when it started
	sum     string          // projection.State.History then
	text    *redact.Stream  // replaces secrets in the streamed reply
	reply   strings.Builder // without secrets
	flushed int             // how much of reply is recorded as turn.text
	unsaved int             // bytes of events since the last save
	checkAt int             // the length of reply at which it is checked next
	usage   *projection.Usage
	passed  *BudgetError // nil: usage has passed no limit
	// The SHA-256 of the prompt and of its instructions; "" before the agent is started.
	prompt, instructions string
	plan                 projection.PlanUpdated // the last one
	session              string                 // the agent's session ID
	point                string                 // the end of the turn in it
	attached             *attached              // nil: the agent has no session that it keeps
	pictures             []agent.Image          // of the prompt
	requests             chan permissionRequest
	questions            questions
	steering             steering
	idle                 *idleTimeout
	timeout              *turnTimeout
	files                *fileTurn     // nil: its files are not captured
	over                 chan struct{} // closed when the agent has ended
	ctx                  context.Context
	cancel               context.CancelCauseFunc // ends ctx

	// Set by prepare: what the agent runs, and the id of its session that was gone.
	ready agent.Turn
	run   func(context.Context, agent.Turn) iter.Seq2[agent.Event, error]
	gone  string
}

// handle handles one event of the agent.
func (t *turn) handle(e agent.Event) error {
	if t.passed != nil && continues(e) {
		return t.passed
	}
	switch e := e.(type) {
	case agent.Text:
		return t.write(t.text.Next(e.Text))
	case agent.ToolStarted:
		if err := t.endText(); err != nil {
			return err
		}
		return t.record(projection.ToolStarted{TurnID: t.id, ToolID: e.ID, Name: e.Name, Input: e.Input})
	case agent.ToolCompleted:
		return t.record(projection.ToolCompleted{
			TurnID: t.id, ToolID: e.ID, Name: e.Name, Error: e.Error, Output: e.Output,
			OutputBytes: int64(len(e.Output)) + e.Omitted,
		})
	case agent.Bypassed:
		return t.record(projection.PermissionBypassed{TurnID: t.id, ToolID: e.ToolID, Name: e.Tool, Title: e.Title})
	case agent.Plan:
		return t.recordPlan(e)
	case agent.Usage:
		t.usage = t.usageOf(e)
		t.passed = t.c.passed()
	case agent.Point:
		t.point = e.ID
	case agent.Compacted:
		return t.record(projection.AgentCompacted{
			TurnID: t.id, MemberID: t.item.member.ID, Before: max(0, e.Before), After: max(0, e.After),
		})
	case agent.SessionStarted:
		t.session = e.ID
		if t.attached != nil && t.attached.unnamed && e.ID != "" {
			return t.recordNamed(e.ID)
		}
	case agent.Taken:
		return t.take(e.ID)
	case agent.Unsupported:
		if e.Setting == agent.SettingImages {
			t.notTaken()
			return nil
		}
		t.c.notifyUnsupported(t.item.member, e.Setting)
	case agent.Notice:
		t.c.notifyOfAgent(t.item.member, e.Text)
	case agent.Retry:
		e.Reason = t.c.bounded(e.Reason, maxError)
		t.c.notify(Retrying{t.item.member, e})
	}
	return nil
}

// recordPlan records a todo list after the text that precedes it, unless it is the last one again.
func (t *turn) recordPlan(p agent.Plan) error {
	updated := projection.PlanUpdated{TurnID: t.id, Entries: make([]projection.PlanEntry, len(p.Entries))}
	for i, e := range p.Entries {
		updated.Entries[i] = projection.PlanEntry{
			Content: e.Content, Status: projection.PlanStatus(e.Status), Priority: e.Priority,
		}
	}
	updated = t.c.recordablePlan(updated)
	if updated.More == t.plan.More && slices.Equal(updated.Entries, t.plan.Entries) {
		return nil
	}
	t.plan = updated
	return errors.Join(t.flush(), t.record(updated))
}

// write adds text without secrets to the reply. It returns an error if the reply exceeds maxReply, or
// the journal's limit, which it checks whenever the length has doubled.
func (t *turn) write(text string) error {
	if text == "" {
		return nil
	}
	before := t.reply.String()
	kept := text
	if room := maxReply - len(before); len(text) > room { // otherwise an incomplete rune at the end is kept
		kept = runecut.Prefix(text, room)
	}
	t.reply.WriteString(kept)
	t.c.o.Listener.Text(t.id, t.item.member, validAfter(before, kept))
	if len(kept) < len(text) {
		return errReplyTooLong
	}
	if t.reply.Len() < max(t.checkAt, checkedLength) {
		return nil
	}
	t.checkAt = 2 * t.reply.Len()
	text = validUTF8(t.reply.String())
	return replyError(t.c.conv.log.Fits(t.c.records(projection.TurnText{TurnID: t.id, Text: text})...))
}

// replyError converts a *journal.TooLongError to a *replyTooLongError.
func replyError(err error) error {
	var tooLong *journal.TooLongError
	if errors.As(err, &tooLong) {
		return &replyTooLongError{tooLong}
	}
	return err
}

// endText records the text before a tool or a message. It is complete: no secret continues after it.
func (t *turn) endText() error { return errors.Join(t.write(t.text.Truncated()), t.flush()) }

// flush records the text that was streamed since the last flush.
func (t *turn) flush() error {
	reply := t.reply.String()
	text := validAfter(reply[:t.flushed], reply[t.flushed:])
	t.flushed = len(reply)
	if text == "" {
		return nil
	}
	return t.record(projection.TurnText{TurnID: t.id, Text: text})
}

// record records an event. It saves after maxUnsaved bytes: the journal keeps in memory what is not
// saved.
func (t *turn) record(p projection.Payload) error {
	records := t.c.records(p)
	err := t.c.conv.record(records...)
	if t.unsaved += len(records[0].Data); t.unsaved >= maxUnsaved && err == nil {
		t.unsaved = 0
		t.c.save()
	}
	return err
}

// finish records the end of the turn, with the reply if it is complete. It reports whether the queue
// continues.
func (t *turn) finish(ctx context.Context, failure error) (more bool, err error) {
	end := projection.TurnEnded{
		TurnID: t.id, MemberID: t.item.member.ID, FinishReason: projection.Done,
		DurationMS: (time.Since(t.started) - t.questions.waited).Milliseconds(), Usage: t.usage,
		PromptSHA256: t.prompt, Instructions: t.instructions, AgentSession: t.session, Point: t.point,
	}
	if failure == nil {
		failure = t.write(t.text.Rest())
	} else {
		_ = t.write(t.text.Truncated())
	}
	reply := strings.TrimRight(t.reply.String(), " \t\r\n")
	if failure == nil && reply == "" {
		failure = errNoReply
	}
	if failure == nil {
		more, failure = t.appendReply(reply, end)
	}
	if failure == nil {
		return more, nil
	}
	return false, t.fail(end, finishReason(ctx, failure), failure)
}

// appendReply appends the reply as a message and applies its markers. It reports whether the queue
// continues.
func (t *turn) appendReply(reply string, end projection.TurnEnded) (more bool, err error) {
	c, m := t.c, t.c.parse(reply)
	member := t.item.member
	said := projection.NewMessage(newID(), time.Now(), speaker(member), m.Content, c.routing(m))
	said.TurnID = t.id
	payloads := []projection.Payload{said, end}
	if m.HasTask && member.AllowTeamTask {
		payloads = []projection.Payload{said, c.taskSet(m.Task), end}
	}
	if err := c.conv.record(c.records(payloads...)...); err != nil {
		return false, replyError(err)
	}
	c.last, c.waiting = said.Message.ID, ""
	if m.From != "" {
		c.notify(FromIgnored{member})
	}
	if m.HasTask && !member.AllowTeamTask {
		c.notify(TaskIgnored{member})
	}
	more = t.route(m, said)
	return t.requeue() || more, nil
}

// route queues the members that the reply addresses. It returns false if it addresses only unknown
// ones: a human is next. If the task is done, only humans stay in the queue.
func (t *turn) route(m marker.Message, said projection.MessageAppended) (more bool) {
	c, trigger := t.c, newTrigger(entryOf(said))
	trigger.repliesTo = t.item.trigger.id
	addressed := c.enqueue(m, trigger)
	lines := strings.Split(strings.TrimSpace(m.Content), "\n")
	lines = lines[max(0, len(lines)-doneLines):]
	word := t.item.member.DoneWord
	isWord := func(line string) bool { return strings.TrimSpace(line) == word }
	if word != "" && slices.ContainsFunc(lines, isWord) {
		agents := func(i item) bool { return i.member.Type != team.Human }
		c.noteChanges(c.queue.drop(agents, "the task is done")...)
		c.notify(TaskDone{t.item.member})
	}
	return addressed > 0 || len(m.Next) == 0
}

// fail records the end of a turn without a complete reply. As much of the partial reply is kept as
// fits into a line.
func (t *turn) fail(end projection.TurnEnded, reason projection.FinishReason, failure error) error {
	message := t.c.bounded(failure.Error(), maxError)
	detail := message
	if f := (*agent.FailureError)(nil); errors.As(failure, &f) {
		detail = t.c.bounded(f.Detail(), maxError)
	}
	end.FinishReason = reason
	end.Partial = validUTF8(t.reply.String())
	if reason != projection.Cancelled {
		end.Error = message
	}
	t.c.waiting = ""
	err := t.record(end)
	for tooLong := (*journal.TooLongError)(nil); errors.As(err, &tooLong) && end.Partial != ""; {
		end.PartialBytes = int64(t.reply.Len())
		// As much as fits if all bytes of the text take the same space in the line, and a little less.
		n := len(end.Partial)
		n = max(0, int(int64(n)*int64(tooLong.Limit)/int64(tooLong.Bytes))-n/1000-1)
		end.Partial = runecut.Prefix(end.Partial, n)
		err = t.record(end)
	}
	turnErr := &TurnError{
		Member: t.item.member, Reason: reason, Message: message, Detail: detail, Err: failure,
		Partial: err == nil && end.Partial != "",
	}
	t.c.notify(turnErr)
	return errors.Join(turnErr, err)
}

func finishReason(ctx context.Context, failure error) projection.FinishReason {
	var timeout *timeoutError
	switch {
	case errors.As(failure, &timeout):
		return projection.TimedOut
	case ctx.Err() != nil:
		return projection.Cancelled
	}
	return projection.Failed
}

// input returns the turn for the engine without its prompt, and the instructions of the prompt. Its errors are those of
// instruct.
func (t *turn) input() (agent.Turn, instructed, error) {
	c, m := t.c, t.item.member
	next, err := c.instruct(t.item)
	if err != nil {
		return agent.Turn{}, next, err
	}
	next.seen = t.seen
	t.instructions = next.hash()
	if before := c.conv.state.Instructions[m.ID]; before != "" && before != t.instructions {
		c.notify(InstructionsChanged{m})
	}
	member := m.ForEngine(c.memberAfter(m))
	if c.o.Asks && m.AsksWhenUnset() {
		member.Permissions = agent.Ask
	}
	if w, ok := c.worktree(m); ok {
		member.Env = worktreeEnv(member.Env, w.WorktreeCreated)
	}
	return agent.Turn{
		ID: t.id, Dir: t.dir(), Limit: c.team.MaxAgentResponseTime, Guard: c.o.Guard,
		Said:   agent.Said{Speaker: t.item.trigger.speaker, Text: t.item.trigger.text},
		Member: member, MCPServers: c.mcpServers(m), Editor: c.o.Editor,
	}, next, nil
}

// dir returns the working directory of the turn.
func (t *turn) dir() string { return t.c.dirOf(t.item.member) }

// dirOf returns the working directory of a member's agent.
func (c *Coordinator) dirOf(m team.Member) string {
	dir := c.baseDirOf(m)
	if w, ok := c.worktree(m); ok {
		dir = dirInWorktree(w, dir)
	}
	return dir
}

// baseDirOf returns the directory of a member, of which it may have a worktree.
func (c *Coordinator) baseDirOf(m team.Member) string { return cmp.Or(m.BaseDir, c.o.CWD) }

// memberAfter returns the name of the member after m in the team, or of the first human.
func (c *Coordinator) memberAfter(m team.Member) string {
	for i, other := range c.team.Members {
		if other.ID == m.ID && i+1 < len(c.team.Members) {
			return c.team.Members[i+1].Name
		}
	}
	human, _ := c.team.FirstHuman()
	return human.Name
}
