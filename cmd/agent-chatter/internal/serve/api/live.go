package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator"
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
	Chat        bool       `json:"chat"`
	Role        web.Role   `json:"role"`
	Device      string     `json:"device,omitempty"`
	Directories []string   `json:"directories,omitempty"`
	Teams       []teamJSON `json:"teams,omitempty"`
}

// A teamJSON is a team with which a conversation can begin.
type teamJSON struct {
	Name    string       `json:"name"`
	Title   string       `json:"title"`
	Members []memberJSON `json:"members"`
	Trusted bool         `json:"trusted"`
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
		h.Directories = d.hosts.Directories()
		for _, t := range d.hosts.Teams(r.Context()) {
			h.Teams = append(h.Teams, teamJSON{t.Name, t.Title, membersOf(t.Members), t.Trusted})
		}
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
	switch {
	case app.CodeOf(err) == app.ExitLocked: // it has ended while the text was typed
		return live.Completion{Choices: []live.Choice{}}, nil
	case err != nil:
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
	case errors.As(err, &answered), errors.Is(err, live.ErrSent), errors.Is(err, live.ErrEnded),
		errors.Is(err, live.ErrFull):
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

func readOnlyText() app.Message {
	return app.Text("This page is read-only.").With(app.To("answer from it", "serve", "--chat"))
}

func notHostedText() app.Message {
	return app.Text("No process answers for this session now. Continue it on the page.").
		With(app.To("continue it in a terminal", "chat", "--resume"))
}
