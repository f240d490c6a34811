package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"html"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/page"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Hosts run the conversations that the page takes part in. Its methods may be called concurrently.
type Hosts interface {
	// Conversation returns a conversation that runs in a process of this home; nil: it does not. changed is closed when
	// another result is possible; that another process begins to run it is not noticed.
	Conversation(ctx context.Context, key catalog.Key) (c live.Shared, changed <-chan struct{})
	// Begin begins a conversation of a team, and returns when its first message is recorded.
	Begin(ctx context.Context, team, directory string, first live.Input) (catalog.Key, error)
	// Continue runs the conversation of a session. It does nothing if it runs.
	Continue(ctx context.Context, key catalog.Key) error
	// Directories are those in which a new conversation may work.
	Directories() []string
	// Teams are those of which one may begin.
	Teams(ctx context.Context) []live.Team
}

// A hostJSON says what the page can do.
type hostJSON struct {
	Chat        bool        `json:"chat"`
	Role        web.Role    `json:"role"`
	Device      string      `json:"device,omitempty"`
	Directories []string    `json:"directories,omitempty"`
	Teams       []live.Team `json:"teams,omitempty"`
}

// A liveJSON is what is new in a conversation beside its journal.
type liveJSON struct {
	State    *stateJSON    `json:"state,omitempty"`
	Text     []live.Reply  `json:"text,omitempty"`
	Notices  []noticeJSON  `json:"notices,omitempty"`
	Returned []live.Queued `json:"returned,omitempty"`
}

type noticeJSON struct {
	Text string `json:"text"`
}

// A stateJSON is what a conversation does now.
type stateJSON struct {
	Hosted    bool           `json:"hosted"` // false: no process answers
	Session   string         `json:"session,omitempty"`
	Role      web.Role       `json:"role"`
	Speaking  []speakingJSON `json:"speaking"`
	Next      []string       `json:"next"`
	Waiting   []string       `json:"waiting"`
	Queue     []live.Queued  `json:"queue"`
	Questions []questionJSON `json:"questions"`
	Sent      []string       `json:"sent"` // the ids of the inputs that were sent last
	Unsaved   bool           `json:"unsaved,omitempty"`
}

type speakingJSON struct {
	Turn   string    `json:"turn"`
	Member string    `json:"member"`
	Name   string    `json:"name"`
	Since  time.Time `json:"since"`
}

// A questionJSON is an open question.
type questionJSON struct {
	ID        string       `json:"id"`
	Turn      string       `json:"turn"`
	Member    string       `json:"member"`
	Name      string       `json:"name"`
	Title     string       `json:"title"`
	Lines     []string     `json:"lines"`
	HunksHTML string       `json:"hunksHTML"`
	Omitted   string       `json:"omitted,omitempty"`
	Choices   []string     `json:"choices"`
	Questions []optionJSON `json:"questions"`
}

// An optionJSON is one of the questions of a question that is no request for permission.
type optionJSON struct {
	Text     string         `json:"text"`
	Header   string         `json:"header,omitempty"`
	Options  []answerOption `json:"options"`
	Several  bool           `json:"several,omitempty"`
	Free     bool           `json:"free,omitempty"`
	Optional bool           `json:"optional,omitempty"`
	Secret   bool           `json:"secret,omitempty"`
}

type answerOption struct {
	Label string `json:"label"` // as the agent gave it
	Shown string `json:"shown"` // safe
	Help  string `json:"help,omitempty"`
}

// The decisions of an answer.
var decisions = map[string]coordinator.Decision{
	"allow": coordinator.Allowed, "session": coordinator.AllowedForSession, "refuse": coordinator.Refused,
}

// chat returns what the page can do.
func (d *Server) chat(r *http.Request) (hostJSON, error) {
	device, role := caller(r)
	if d.hosts == nil {
		return hostJSON{Role: web.RoleRead, Device: device}, nil
	}
	h := hostJSON{Chat: true, Role: role, Device: device}
	if role == web.RoleAll {
		h.Directories, h.Teams = d.hosts.Directories(), d.hosts.Teams(r.Context())
	}
	return h, nil
}

// hosted returns the conversation that a request names.
func (d *Server) hosted(r *http.Request) (live.Shared, error) {
	key, err := d.key(r)
	if err != nil {
		return nil, err
	}
	if d.hosts == nil {
		return nil, app.Exit(app.ExitUsage, readOnlyText())
	}
	c, _ := d.hosts.Conversation(r.Context(), key)
	if c == nil {
		return nil, app.Exit(app.ExitLocked, notHostedText())
	}
	return c, nil
}

// An inputJSON is the body of a request that enters a message or a command.
type inputJSON struct {
	ID        string      `json:"id"`
	Text      string      `json:"text"`
	Files     []live.File `json:"files"`
	Team      string      `json:"team"`
	Directory string      `json:"directory"`
}

// input returns what the caller enters.
func (in inputJSON) input(r *http.Request) (live.Input, error) {
	if in.ID == "" || len(in.ID) > maxID {
		return live.Input{}, &requestError{"An input needs an id of at most 100 bytes."}
	}
	device, role := caller(r)
	by := cmp.Or(web.CallerOf(r).ID, "page") // names of devices are not unique
	return live.Input{ID: by + "/" + in.ID, Text: in.Text, From: device, Role: role, Files: in.Files}, nil
}

// maxID is how long the id of an input may be, in bytes.
const maxID = 100

// say enters a message or a command.
func (d *Server) say(r *http.Request) (map[string]string, error) {
	c, err := d.hosted(r)
	if err != nil {
		return nil, err
	}
	body, err := bodyOf[inputJSON](r)
	if err != nil {
		return nil, err
	}
	in, err := body.input(r)
	if err == nil {
		err = refused(c.Enter(in))
	}
	return map[string]string{"id": in.ID}, err
}

// begin begins a conversation.
func (d *Server) begin(r *http.Request) (doneJSON, error) {
	if d.hosts == nil {
		return doneJSON{}, app.Exit(app.ExitUsage, readOnlyText())
	}
	body, err := bodyOf[inputJSON](r)
	if err != nil {
		return doneJSON{}, err
	}
	in, err := body.input(r)
	if err != nil {
		return doneJSON{}, err
	}
	key, err := d.hosts.Begin(r.Context(), body.Team, body.Directory, in)
	if err != nil {
		return doneJSON{}, refused(err)
	}
	return doneJSON{Key: key.Name()}, nil
}

// goOn runs the conversation of a session.
func (d *Server) goOn(r *http.Request) (doneJSON, error) {
	if d.hosts == nil {
		return doneJSON{}, app.Exit(app.ExitUsage, readOnlyText())
	}
	key, err := d.key(r)
	if err != nil {
		return doneJSON{}, err
	}
	if err := d.hosts.Continue(r.Context(), key); err != nil {
		return doneJSON{}, err
	}
	return doneJSON{Key: key.Name()}, nil
}

// takeBack takes a line back that is queued.
func (d *Server) takeBack(r *http.Request) (map[string]string, error) {
	c, err := d.hosted(r)
	if err != nil {
		return nil, err
	}
	body, err := bodyOf[inputJSON](r)
	if err != nil {
		return nil, err
	}
	text, err := c.TakeBack(body.ID)
	return map[string]string{"text": text}, refused(err)
}

// An answerJSON is the body of a request that answers a question.
type answerJSON struct {
	Question string     `json:"question"`
	Decision string     `json:"decision"`
	Reason   string     `json:"reason"`
	Answers  [][]string `json:"answers"`
}

// answerQuestion answers a question.
func (d *Server) answerQuestion(r *http.Request) (struct{}, error) {
	c, err := d.hosted(r)
	if err != nil {
		return struct{}{}, err
	}
	body, err := bodyOf[answerJSON](r)
	if err != nil {
		return struct{}{}, err
	}
	decision, ok := decisions[body.Decision]
	if !ok {
		return struct{}{}, &requestError{"decision is allow, session or refuse."}
	}
	device, _ := caller(r)
	return struct{}{}, refused(c.Answer(body.Question, live.Answer{By: device, Answer: coordinator.Answer{
		Decision: decision, Reason: body.Reason, Answers: body.Answers,
	}}))
}

// cancelTurn cancels the turn of a member, or all turns.
func (d *Server) cancelTurn(r *http.Request) (struct{}, error) {
	c, err := d.hosted(r)
	if err != nil {
		return struct{}{}, err
	}
	body, err := bodyOf[struct {
		Member string `json:"member"`
	}](r)
	if err != nil {
		return struct{}{}, err
	}
	return struct{}{}, refused(c.Cancel(body.Member))
}

// complete returns how the word at the end of a text can go on.
func (d *Server) complete(r *http.Request) (live.Completion, error) {
	c, err := d.hosted(r)
	if err != nil {
		return live.Completion{}, err
	}
	_, role := caller(r)
	return c.Complete(role, r.FormValue("text")), nil
}

// refused returns an error of a conversation as one of the request.
func refused(err error) error {
	var answered *live.AnsweredError
	switch {
	case err == nil, app.CodeOf(err) != app.ExitFailed:
		return err
	case errors.As(err, &answered), errors.Is(err, live.ErrSent), errors.Is(err, live.ErrEnded), errors.Is(err, live.ErrFull):
		return app.Exit(app.ExitLocked, app.Text("%s.", app.Sentence(err)))
	}
	return app.Exit(app.ExitUsage, app.Explain(err))
}

// bodyOf decodes the body of a request, which is one JSON object.
func bodyOf[T any](r *http.Request) (body T, err error) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return body, &requestError{"The body must be application/json."}
	}
	in := json.NewDecoder(r.Body)
	in.DisallowUnknownFields()
	if err = in.Decode(&body); err == nil {
		if _, err = in.Token(); err == io.EOF {
			return body, nil
		}
	}
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return body, err
	}
	return body, &requestError{"The body must be one JSON object with the fields of the change."}
}

// caller returns the name of the device that sent a request, and what it may do.
func caller(r *http.Request) (device string, role web.Role) {
	c := web.CallerOf(r)
	return cmp.Or(c.Device, "page"), c.Role
}

// writerPause is the time between two looks whether another process hosts a conversation of an open page.
const writerPause = 2 * time.Second

// followLive sends what is new in a conversation beside its journal.
func (d *Server) followLive(ctx context.Context, key catalog.Key, name string, role web.Role, news *mailbox) {
	for was := true; d.hosts != nil; {
		c, changed := d.hosts.Conversation(ctx, key)
		if c == nil {
			if was {
				news.hand(ctx, name, liveJSON{State: &stateJSON{Role: role}})
			}
			was = false
			select {
			case <-changed:
			case <-time.After(writerPause):
			case <-ctx.Done():
				return
			}
			continue
		}
		was = true
		secrets := d.redactor(app.TeamSource(d.app.Catalog.At(key.Dir), key.ID))
		for u := range c.Watch(ctx) {
			if !news.hand(ctx, name, shownLive(u, role, secrets)) {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// shownLive describes an update for the page.
func shownLive(u live.Update, role web.Role, secrets *redact.Redactor) liveJSON {
	l := liveJSON{Text: u.Replies, Returned: shownQueue(u.Returned, secrets)}
	for _, text := range u.Notices {
		l.Notices = append(l.Notices, noticeJSON{secrets.Text(tty.Safe(text))})
	}
	if s := u.State; s != nil {
		l.State = &stateJSON{
			Hosted: !u.Ended, Session: s.Session, Role: role, Next: shownNames(s.Next), Waiting: shownNames(s.Waiting),
			Queue: shownQueue(s.Queue, secrets), Unsaved: s.Unsaved, Speaking: []speakingJSON{}, Questions: []questionJSON{},
			Sent: append([]string{}, s.Sent...),
		}
		for _, t := range s.Speaking {
			l.State.Speaking = append(l.State.Speaking, speakingJSON{t.Turn, t.Member, tty.SafeLine(t.Name), t.Since})
		}
		for _, q := range s.Questions {
			l.State.Questions = append(l.State.Questions, shownQuestion(q))
		}
	}
	return l
}

func shownNames(names []string) []string {
	shown := []string{}
	for _, name := range names {
		shown = append(shown, tty.SafeLine(name))
	}
	return shown
}

func shownQueue(queue []live.Queued, secrets *redact.Redactor) []live.Queued {
	shown := []live.Queued{}
	for _, q := range queue {
		q.Text, q.From = secrets.Text(tty.Safe(q.Text)), tty.SafeLine(q.From)
		shown = append(shown, q)
	}
	return shown
}

// shownQuestion describes a question. The page shows the first line as its title.
func shownQuestion(q live.Question) questionJSON {
	p := q.Permission
	asked := host.NewRequest(q.Name, p)
	shown := questionJSON{
		ID: q.ID, Turn: q.Turn, Member: q.Member, Name: tty.SafeLine(q.Name), Title: asked.Lines[0],
		Lines: append([]string{}, asked.Lines[1:]...), Omitted: strings.TrimSpace(asked.Omitted),
		Choices: []string{"allow", "session", "refuse"}, Questions: []optionJSON{},
	}
	for _, h := range asked.Hunks {
		if asked.Named {
			shown.HunksHTML += `<p class="path"><code>` + html.EscapeString(tty.SafeLine(h.Path)) + "</code></p>"
		}
		shown.HunksHTML += page.Hunks([]view.Hunk{h}, false)
	}
	if p.Omitted > 0 || len(p.Questions) > 0 {
		shown.Choices = []string{"allow", "refuse"}
	}
	for _, of := range p.Questions {
		option := optionJSON{
			Text: tty.Safe(of.Text), Header: tty.SafeLine(of.Header), Options: []answerOption{}, Several: of.Several,
			Free: of.Free, Optional: of.Optional, Secret: of.Secret,
		}
		for _, o := range of.Options {
			option.Options = append(option.Options, answerOption{o.Label, tty.SafeLine(o.Label), tty.SafeLine(o.Description)})
		}
		shown.Questions = append(shown.Questions, option)
	}
	if len(p.Questions) > 0 {
		shown.Title = tty.SafeLine(q.Name) + " asks"
		shown.Lines = []string{}
	}
	return shown
}

func readOnlyText() app.Message {
	return app.Text("This page is read-only.").With(app.To("answer from it", "serve", "--chat"))
}

func notHostedText() app.Message {
	return app.Text("No process answers for this session now. Continue it on the page.").
		With(app.To("continue it in a terminal", "chat", "--resume"))
}
