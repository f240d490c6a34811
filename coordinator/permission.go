package coordinator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/projection"
)

// permissionRequest is a request for permission of a running agent.
type permissionRequest struct {
	ctx        context.Context // done when the agent does not wait for the answer any more
	permission agent.Permission
	questions  []agent.Question // of the permission, as the agent knows them
	grant      chan<- agent.Grant

	hash  requestHash
	asked time.Time // when it began to wait for the user; zero: it did not

	device string // on which the user answered; "": the terminal
}

// requestHash is equal for requests to do the same.
type requestHash [sha256.Size]byte

func hashRequest(memberID string, p agent.Permission) requestHash {
	return sha256.Sum256(fmt.Appendf(nil, "%q %q", memberID, []any{p.Tool, p.Title, p.Input, p.Edits, p.Questions}))
}

// userAnswer is the answer of the user to a request.
type userAnswer struct {
	request permissionRequest
	answer  Answer
	late    bool // neither the agent nor the turn waits for it
}

// questions are those that a turn asks the user at the same time. While there are any, the time of the turn
// stands still.
type questions struct {
	// By what they ask for. The values are further requests to do the same, which wait for the answer.
	open    map[requestHash][]permissionRequest
	answers chan userAnswer // one for each open question
	since   time.Time       // when the first of the open ones was asked
	waited  time.Duration   // while there were any, before since
}

func newQuestions() questions {
	return questions{open: map[requestHash][]permissionRequest{}, answers: make(chan userAnswer)}
}

// permit is called on goroutines of the engine. It passes the request to the goroutine of the
// Coordinator.
func (t *turn) permit(ctx context.Context, p agent.Permission) agent.Grant {
	grant := make(chan agent.Grant, 1)
	select {
	case t.requests <- permissionRequest{ctx: ctx, permission: p, grant: grant}:
	case <-ctx.Done():
		return agent.Refused
	}
	select {
	case grant := <-grant:
		return grant
	case <-ctx.Done():
		return agent.Refused
	}
}

// request decides a request for permission. ctx is done when the turn ends.
func (t *turn) request(ctx context.Context, r permissionRequest) error {
	r.hash = hashRequest(t.item.member.ID, r.permission)
	p, clean := &r.permission, t.c.secrets.Text
	r.questions, p.Questions = p.Questions, cleanQuestions(p.Questions, clean)
	p.Tool, p.Title, p.Input = clean(p.Tool), clean(p.Title), t.c.secrets.JSON(p.Input)
	for i, e := range p.Edits {
		p.Edits[i] = agent.FileEdit{Path: clean(e.Path), Old: clean(e.Old), New: clean(e.New)}
	}
	return t.decide(ctx, r)
}

// decide answers a request as the member's permissions or an earlier answer say, or asks the user.
func (t *turn) decide(ctx context.Context, r permissionRequest) error {
	m, asks := t.item.member, len(r.questions) > 0 // what the user decides each time
	switch {
	case r.ctx.Err() != nil || ctx.Err() != nil:
		return t.grant(r, agent.Refused, projection.ByDefault)
	case !asks && t.permitted(r.permission):
		return t.grant(r, agent.AllowedOnce, projection.ByPolicy)
	case m.Permissions == agent.Deny, m.Permissions == agent.ReadOnly && !asks:
		t.c.notify(PermissionDenied{m, r.action()})
		return t.grant(r, agent.Refused, projection.ByPolicy)
	case !asks && t.c.allowed[r.hash] != "":
		return t.grant(r, agent.AllowedOnce, projection.ByPerson)
	}
	if r.asked.IsZero() {
		r.asked = time.Now()
	}
	if same, asked := t.questions.open[r.hash]; asked {
		t.questions.open[r.hash] = append(same, r)
		return nil
	}
	t.ask(ctx, r)
	return nil
}

// permitted reports whether the member's permissions allow what a request asks for, without a question. What the agent
// says of the tool is believed.
func (t *turn) permitted(p agent.Permission) bool {
	switch t.item.member.Permissions {
	case agent.Allow, agent.Bypass:
		return true
	case agent.ReadOnly:
		return (p.Kind == agent.KindRead || p.Kind == agent.KindSearch) && len(p.Edits) == 0
	case agent.Edit:
		outside := func(e agent.FileEdit) bool { return !within(t.dir(), e.Path) }
		return p.Kind == agent.KindEdit && p.Omitted == 0 && len(p.Edits) > 0 && !slices.ContainsFunc(p.Edits, outside)
	}
	return false
}

// within reports whether a file is in a directory, also after links were followed.
func within(dir, path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return false
	}
	parent := filepath.Clean(path)
	var rest []string
	for { // of a file that does not exist yet, the directory that does
		resolved, err := filepath.EvalSymlinks(parent)
		if err == nil {
			parent = filepath.Join(append([]string{resolved}, rest...)...)
			break
		}
		if _, err := os.Lstat(parent); err == nil || parent == filepath.Dir(parent) {
			return false // a link to nothing, or to what cannot be known
		}
		rest = slices.Insert(rest, 0, filepath.Base(parent))
		parent = filepath.Dir(parent)
	}
	relative, err := filepath.Rel(dir, parent)
	return err == nil && filepath.IsLocal(relative) && relative != "."
}

func (r permissionRequest) action() string { return cmp.Or(r.permission.Title, r.permission.Tool) }

// ask asks the user on another goroutine, so that what happens in the meantime is recorded.
func (t *turn) ask(ctx context.Context, r permissionRequest) {
	if len(t.questions.open) == 0 {
		t.questions.since = time.Now()
		t.timeout.stop()
		t.idle.hold()
	}
	t.questions.open[r.hash] = nil
	go func() { // ends with the turn, which waits for the answers
		asked, withdraw := context.WithCancel(r.ctx)
		defer withdraw()
		defer context.AfterFunc(ctx, withdraw)()
		answer := t.c.o.Listener.Ask(asked, Question{t.id, t.item.member, r.permission})
		t.questions.answers <- userAnswer{r, answer, asked.Err() != nil}
	}()
}

// answer passes the answer of the user on and records it. It decides the requests that have waited for it.
func (t *turn) answer(ctx context.Context, a userAnswer) error {
	same := t.questions.open[a.request.hash]
	delete(t.questions.open, a.request.hash)
	if len(t.questions.open) == 0 {
		t.questions.waited += time.Since(t.questions.since)
		t.timeout.restart()
		t.idle.release()
	}
	grant, by := t.granted(a)
	a.request.device = a.answer.Device
	err := t.grant(a.request, grant, by)
	for _, r := range same {
		err = errors.Join(err, t.decide(ctx, r))
	}
	return err
}

// granted returns what the answer of the user grants. An answer that is too late grants nothing.
func (t *turn) granted(a userAnswer) (agent.Grant, projection.Decider) {
	r := a.request
	if a.late || r.ctx.Err() != nil {
		return agent.Refused, projection.ByDefault
	}
	decision := a.answer.Decision
	switch {
	case decision == Unanswered:
		t.c.notify(PermissionUnanswered{t.item.member, r.action(), len(r.questions) > 0})
		return agent.Refused, projection.ByDefault
	case len(r.questions) > 0 && decision != Refused:
		return r.answered(a.answer.Answers, t.c.secrets.Text)
	}
	switch decision {
	case AllowedForSession:
		if r.permission.Omitted == 0 { // otherwise different requests may look the same
			t.c.allowed[r.hash] = t.item.member.ID
		}
		if r.permission.Session {
			return agent.AllowedForSession, projection.ByPerson
		}
		return agent.AllowedOnce, projection.ByPerson
	case AllowedAlways:
		if r.permission.Always != "" {
			return agent.AllowedAlways, projection.ByPerson
		}
		return agent.AllowedOnce, projection.ByPerson
	case Allowed:
		return agent.AllowedOnce, projection.ByPerson
	}
	return agent.Grant{Reason: t.c.bounded(a.answer.Reason, maxTitle)}, projection.ByPerson
}

// grant answers a request and records the answer.
func (t *turn) grant(r permissionRequest, grant agent.Grant, by projection.Decider) error {
	r.grant <- grant
	answered := projection.PermissionAnswered{
		TurnID: t.id, ToolID: r.permission.ToolID, Name: r.permission.Tool, Title: r.permission.Title,
		Allowed: grant.Scope != agent.Nothing, By: by,
	}
	if r.permission.TakesReason {
		answered.Reason = grant.Reason
	}
	answered.Questions, answered.Answers = r.record(grant.Answers)
	if by == projection.ByPerson {
		answered.Device = r.device
	}
	if !r.asked.IsZero() {
		answered.WaitedMS = time.Since(r.asked).Milliseconds()
	}
	return t.record(answered)
}

// withdraw ends the open questions of a turn whose agent has ended. ctx is done.
func (t *turn) withdraw(ctx context.Context, do func(func() error) error) error {
	var err error
	for len(t.questions.open) > 0 {
		a := <-t.questions.answers
		err = errors.Join(err, do(func() error { return t.answer(ctx, a) }))
	}
	return err
}
