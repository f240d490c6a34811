package coordinator

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A member's agent remembers its turns in a session of its own program, which the journal knows from agent.attached
// events. Such a session is a cache: it is continued only if the journal proves that what the agent has seen is a
// prefix of this conversation, and the prompt brings what followed. Otherwise a new session gets the first prompt, with
// the newest messages.

// continuation is a session of an agent that a turn can continue, and what its prompt brings.
type continuation struct {
	base     projection.Attachment // what the agent has seen
	origin   agent.Origin
	repeated bool // its last turn is unfinished: the messages of that turn are sent again
	untold   bool // it has not seen the member's instructions: they are sent, too
	first    bool // with the first prompt, since no turn of the session was finished
	entries  []projection.Entry
}

// attached is the session of a running turn.
type attached struct {
	resident *resident
	event    projection.AgentAttached
	total    *projection.Cost // of the session before the turn; nil: unknown, or new
	unnamed  bool             // the event is not recorded yet: the agent has not said the id of its session
}

// attach starts or continues the session of the turn's agent, and records that. It returns the prompt. gone is the id
// of a session that was found not to exist any more.
func (t *turn) attach(
	ctx context.Context, engine agent.SessionEngine, input agent.Turn, next instructed, gone string,
) (prompt string, err error) {
	c, m := t.c, t.item.member
	basis, reason := c.basis(input, next), ""
	waiting := c.residents.take(c, m.ID)
	endWaiting := func() {
		if waiting != nil {
			c.residents.end(waiting)
			waiting = nil
		}
	}
	defer func() { endWaiting() }()
	if waiting != nil && (waiting.launch != c.launch(input) || !waiting.session.Alive()) {
		endWaiting()
	}
	for _, known := range slices.Backward(c.conv.state.Attached[m.ID]) {
		use, why := c.continuation(known, basis, next, engine)
		switch {
		case known.Last.AgentSession == gone:
			why = projection.ReasonGone
		case why != "":
		case waiting != nil && use.origin.Way == agent.Resume && waiting.session.ID() == use.origin.ID:
			t.attached, waiting = &attached{resident: waiting}, nil
			return t.continued(use, basis, next, engine), nil
		default:
			endWaiting() // it may hold the session
			if why, err = whyNot(use, t.open(ctx, engine, input, use.origin)); err != nil {
				return "", err
			}
			if why == "" {
				return t.continued(use, basis, next, engine), nil
			}
		}
		reason = cmp.Or(reason, why)
	}
	endWaiting()
	if use, ok := c.imported(basis, next, engine); ok && gone == "" {
		why, err := whyNot(use, t.open(ctx, engine, input, use.origin))
		if err != nil {
			return "", err
		}
		if why == "" {
			return t.continued(use, basis, next, engine), nil
		}
		reason = cmp.Or(reason, why)
	}
	if err := t.open(ctx, engine, input, agent.Origin{}); err != nil {
		return "", err
	}
	prompt, from := t.firstPrompt(engine, next, cmp.Or(reason, projection.ReasonFirst))
	t.recordAttached(projection.AttachNew, cmp.Or(reason, projection.ReasonFirst), "", from, basis)
	return prompt, nil
}

// whyNot returns why a session cannot be continued, as the error of Open says; another error is returned.
func whyNot(use continuation, failure error) (why string, err error) {
	switch {
	case errors.Is(failure, agent.ErrGone):
		return projection.ReasonGone, nil
	case errors.Is(failure, agent.ErrBusy):
		return projection.ReasonBusy, nil
	case errors.Is(failure, agent.ErrUnsupported) && use.origin.Way == agent.Fork && !use.untold:
		return projection.ReasonCopied, nil
	case errors.Is(failure, agent.ErrUnsupported):
		return projection.ReasonUnsupported, nil
	}
	return "", failure
}

// open starts the program of the turn's agent.
func (t *turn) open(ctx context.Context, engine agent.SessionEngine, input agent.Turn, from agent.Origin) error {
	c := t.c
	r := &resident{owner: c, memberID: t.item.member.ID, turnID: t.id, launch: c.launch(input)}
	c.residents.makeRoom(r)
	session, err := engine.Open(ctx, input, from)
	if err != nil {
		c.residents.end(r)
		return err
	}
	r.session = session
	c.noteModels(r)
	t.attached = &attached{resident: r}
	return nil
}

// detach lets the program of the turn wait for the next one, or ends it if it cannot take another turn.
func (t *turn) detach() {
	if t.attached == nil {
		return
	}
	r := t.attached.resident
	t.attached = nil
	t.c.noteModels(r)
	if r.session.Alive() {
		t.c.residents.keep(r)
	} else {
		t.c.residents.end(r)
	}
}

// continued records that the turn continues a session, and returns its prompt.
func (t *turn) continued(use continuation, basis projection.Basis, next instructed, engine agent.Engine) string {
	c, r := t.c, t.attached.resident
	way := projection.AttachContinued
	point := ""
	switch {
	case use.untold:
		way, point = projection.AttachImported, use.origin.Point
	case r.session.ID() != use.origin.ID:
		way, point = projection.AttachForked, use.origin.Point
	case r.turnID == t.id:
		way = projection.AttachResumed
	}
	t.attached.total = use.base.Total
	if use.first {
		prompt, from := t.firstPrompt(engine, next, "")
		t.recordAttached(way, "", point, from, basis)
		return textStopped + "\n\n" + prompt
	}
	t.pictures = t.images(use.entries)
	prompt, from := c.deltaPrompt(next, use, basis), c.conv.state.LastMessage+1
	if len(use.entries) > 0 {
		from = use.entries[0].Seq
	}
	t.recordAttached(way, "", point, from, basis)
	return prompt
}

// recordAttached records the session of the turn, whose prompt brings the messages from a seq on. It is saved before
// the prompt is sent: what an agent may have seen is known after a crash.
func (t *turn) recordAttached(way projection.AttachWay, reason, point string, from uint64, basis projection.Basis) {
	c := t.c
	e := projection.AgentAttached{
		TurnID: t.id, MemberID: t.item.member.ID, Way: way, AgentSession: t.attached.resident.session.ID(),
		Point: point, Reason: reason, SessionID: c.conv.log.SessionID(),
		From: from, Seen: t.seen, Sum: t.sum, Basis: basis,
	}
	if started := t.attached.resident.turnID; started != t.id {
		e.Resident = started
	}
	t.attached.event = e
	// Crash before the session has an id leaves no attachment: it is never continued.
	if t.attached.unnamed = e.AgentSession == ""; !t.attached.unnamed {
		c.reportFailure(t.recordNamed(e.AgentSession))
	}
}

// recordNamed records the session of the turn, which has an id.
func (t *turn) recordNamed(id string) error {
	t.attached.unnamed = false
	e := &t.attached.event
	e.AgentSession = id
	e.Host = t.c.hostOf(*e)
	err := t.record(*e)
	t.c.save()
	// Crash here leaves an attachment whose turn has no end: the session has seen the prompt, or not.
	return err
}

// continuation returns how a session of a member's agent can be used, or why it cannot.
func (c *Coordinator) continuation(
	known projection.AgentSession, basis projection.Basis, next instructed, engine agent.Engine,
) (use continuation, why string) {
	use = continuation{base: known.Last, repeated: known.Last.Ended != projection.Done}
	if use.repeated && known.Done != nil {
		use.base.Basis = known.Done.Basis // the last prompt may not have been delivered
		use.base.Reply = known.Done.Reply
	}
	use.origin = agent.Origin{Way: agent.Resume, ID: known.Last.AgentSession}
	if !use.repeated {
		use.origin.Point = known.Last.End
	}
	if known.Last.SessionID != c.conv.log.SessionID() { // another copy of the session may continue it
		if known.Done == nil || known.Done.End == "" {
			return use, projection.ReasonCopied
		}
		use = continuation{base: *known.Done, origin: agent.Origin{
			Way: agent.Fork, ID: known.Done.AgentSession, Point: known.Done.End,
		}}
	}
	use.first = use.repeated && known.Done == nil && known.Began == projection.AttachNew
	if use.repeated && known.Done == nil && known.Began == projection.AttachImported {
		use.untold, use.base.Team, use.base.Task, use.base.Restore = true, "", "", ""
	}
	switch base := use.base; {
	case base.Host != c.hostOf(base.AgentAttached):
		return use, projection.ReasonHost
	case !base.Fits:
		return use, projection.ReasonHistory
	case base.Settings != basis.Settings:
		return use, projection.ReasonSettings
	case base.Instructions != basis.Instructions:
		return use, projection.ReasonInstructions
	case c.hasSecrets(base, basis):
		return use, projection.ReasonSecrets
	case tooFull(base, next.member):
		return use, projection.ReasonFull
	case use.first:
		return use, ""
	}
	return c.withUnseen(use, basis, next, engine)
}

// withUnseen adds what the prompt of a continuation brings, or returns why that is too long.
func (c *Coordinator) withUnseen(
	use continuation, basis projection.Basis, next instructed, engine agent.Engine,
) (_ continuation, why string) {
	fits := false
	if use.entries, fits = c.unseen(use, next, c.windowOf(next.member)); !fits {
		return use, projection.ReasonFull
	}
	limited, ok := engine.(agent.Limited)
	if ok && limited.Excess(next.member.ForEngine(""), c.deltaPrompt(next, use, basis)) > 0 {
		return use, projection.ReasonFull
	}
	return use, ""
}

// imported returns how the first turn of the first member with a program can continue that program's session, which was
// imported: with a fork, so that the session stays as it is. It returns false if it cannot.
func (c *Coordinator) imported(
	basis projection.Basis, next instructed, engine agent.Engine,
) (use continuation, ok bool) {
	o, m := c.conv.state.Origin, next.member
	if o == nil || !o.Fits || o.Host != OriginHost(c.homeKey, o.Source, o.ImportOrigin) {
		return use, false
	}
	runs := func(other team.Member) bool { return other.EngineName() == o.Source }
	if i := slices.IndexFunc(c.team.Members, runs); i < 0 || c.team.Members[i].ID != m.ID {
		return use, false
	}
	isDone := func(s projection.AgentSession) bool { return s.Done != nil }
	if slices.ContainsFunc(c.conv.state.Attached[m.ID], isDone) {
		return use, false
	}
	use = continuation{
		origin: agent.Origin{Way: agent.Fork, ID: o.AgentSession, Point: o.Point}, untold: true,
	}
	use.base.Seen = o.Seen
	if c.hasSecrets(use.base, basis) {
		return use, false
	}
	use, why := c.withUnseen(use, basis, next, engine)
	return use, why == ""
}

// AttachedHost returns projection.AgentAttached.Host with the key of the home.
func AttachedHost(key []byte, e projection.AgentAttached) string {
	return keyedHash(key, "host", e.SessionID, e.MemberID, e.AgentSession, e.Sum)
}

// OriginHost returns projection.ImportOrigin.Host with the key of the home.
func OriginHost(key []byte, source string, o projection.ImportOrigin) string {
	return keyedHash(key, "origin", source, o.AgentSession, o.Point, o.Sum)
}

// tooFull reports whether an agent's context is so long that a new session costs less.
func tooFull(a projection.Attachment, m team.Member) bool {
	limit := m.MaxContext
	if limit == 0 {
		limit = a.Window / 2
	}
	return limit > 0 && a.Context > limit
}

// hasSecrets reports whether messages that an agent has seen have what is a secret now.
func (c *Coordinator) hasSecrets(a projection.Attachment, now projection.Basis) bool {
	if a.Secrets == now.Secrets || now.Secrets == "" {
		return false
	}
	for e, err := range c.conv.log.Backward() {
		if err != nil {
			return true
		}
		p, _ := projection.Decode(e)
		said, ok := p.(projection.MessageAppended)
		if ok && e.Seq <= a.Seen && c.secrets.Text(said.Message.Content) != said.Message.Content {
			return true
		}
	}
	return false
}

// unseen returns the messages that a continued agent has not seen, without secrets. It returns false if they do not fit
// into limit bytes, besides the triggering one.
func (c *Coordinator) unseen(use continuation, next instructed, limit int) ([]projection.Entry, bool) {
	from := use.base.Seen + 1
	if use.repeated {
		from = use.base.From
	}
	state := c.conv.state
	entries := state.Recent
	complete := len(entries) == state.Stats.Messages || len(entries) > 0 && entries[0].Seq <= from
	if !complete && state.LastMessage >= from {
		if c.conv.unsaved() {
			return nil, false
		}
		var err error
		entries, err = readNewest(c.conv.log, func(oldest projection.Entry, _, bytes int) bool {
			return oldest.Seq <= from || bytes > limit+maxReply
		})
		if err != nil {
			return nil, false
		}
	}
	unseen, bytes := []projection.Entry(nil), 0
	for _, e := range entries {
		isOther := e.Seq < from || next.isAfter(e)
		if isOther || e.Seq == use.base.Reply || !use.repeated && slices.Contains(use.base.Steered, e.Seq) {
			continue
		}
		e = *c.withoutSecrets(e)
		unseen = append(unseen, e)
		if e.ID != next.trigger.id {
			bytes += len(e.Content)
		}
	}
	return unseen, bytes <= limit
}

// basis returns what the session of an agent depends on besides the conversation.
func (c *Coordinator) basis(input agent.Turn, next instructed) projection.Basis {
	b := projection.Basis{
		Settings: c.hash(next.member.EngineName(), input.Dir, input.Member.Command, input.Member.Args,
			input.Member.Env, os.Getenv("HOME"), os.Getenv("CODEX_HOME"), os.Getenv("CLAUDE_CONFIG_DIR")),
		Instructions: next.hash(), Secrets: c.secrets.Fingerprint(c.homeKey), Team: c.hash(c.roster(next.member)),
	}
	if task := c.conv.state.Task; task != nil {
		b.Task = c.hash(*task)
	}
	if n := len(c.conv.state.Restores); n > 0 {
		b.Restore = c.conv.state.Restores[n-1].RestoreID
	}
	return b
}

// launch returns a hash of what a program is started with.
func (c *Coordinator) launch(input agent.Turn) string {
	return c.hash(input.Dir, input.Member, input.MCPServers, input.Editor != nil)
}

// loadHomeKey gets the key of the home, or makes one for this conversation.
func (c *Coordinator) loadHomeKey() {
	if c.homeKey == nil && c.o.HomeKey != nil {
		c.homeKey = c.o.HomeKey()
	}
	if c.homeKey == nil {
		c.homeKey, c.ephemeral = []byte(rand.Text()), true
	}
}

// hostOf returns what only this home on this machine can write into an attachment: a session of an agent is used only
// there, and only for the conversation for which it was recorded. A journal from elsewhere cannot name another one.
func (c *Coordinator) hostOf(e projection.AgentAttached) string {
	return AttachedHost(c.homeKey, e)
}

// hash returns a hash of values with the secret key of the home, in hex.
func (c *Coordinator) hash(values ...any) string { return keyedHash(c.homeKey, values...) }

func keyedHash(key []byte, values ...any) string {
	mac := hmac.New(sha256.New, key)
	_ = json.NewEncoder(mac).Encode(values) // strings, lists and maps cannot fail
	return fmt.Sprintf("%x", mac.Sum(nil)[:8])
}
