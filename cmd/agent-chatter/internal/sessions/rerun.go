package sessions

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A prompt is a recorded message of a person with the recorded answers to it.
type prompt struct {
	message projection.Message
	seq     uint64  // of the message
	task    *string // set with the message or since the previous one; nil: unchanged
	answers []projection.Entry
}

// rerunJSON is the JSON output of a prompt.
type rerunJSON struct {
	SessionID string               `json:"sessionId"` // of the new session
	Message   projection.Message   `json:"message"`
	Before    []projection.Entry   `json:"before"` // the recorded answers
	Now       []projection.Message `json:"now"`    // the new ones
}

// rerun sends the prompts of a session to a team, in a new session, and prints the
// recorded and the new answers.
func (cmd *Replay) rerun(ctx context.Context, a *app.App, r *view.Replay, span view.Span) error {
	if cmd.Speed > 0 || cmd.Output != "text" && cmd.Output != "json" {
		return app.UsageError("--with-team and --with-model support only --output text or json, without --speed.")
	}
	team, err := cmd.team(ctx, a, r)
	if err != nil {
		return err
	}
	config, err := a.Config()
	if err != nil {
		return err
	}
	prompts, err := recordedPrompts(ctx, r, span)
	if err != nil {
		return err
	}
	if len(prompts) == 0 {
		return app.Exit(app.ExitFailed, app.Text("The session has no message of a person: there is nothing to rerun."))
	}
	l := &rerunListener{Screen: &view.Screen{App: a, Team: team}}
	l.Saved = func() {}
	c := coordinator.New(coordinator.Options{
		Store: store.NewFiles(a.Catalog), Listener: l, App: a.Identity(), CWD: a.Cwd,
		Window: coordinator.Window(config.Window), Engines: app.Engines(agent.Demo{}),
		KeepSecrets: config.KeepSecrets(), Guard: new(process.Guard),
	})
	parent := &projection.Parent{SessionID: r.ID, Seq: prompts[len(prompts)-1].seq}
	if err := c.SetTeam(ctx, team, coordinator.SetTeamOptions{Parent: parent}); err != nil {
		return err
	}
	failed := false
	for _, p := range prompts {
		l.answers = nil
		err := send(ctx, c, team, p)
		var turn *coordinator.TurnError
		if errors.As(err, &turn) { // The screen has printed it.
			failed, err = true, nil
		}
		if err == nil {
			err = cmd.printAnswers(a, l, p)
		}
		if err != nil {
			return errors.Join(err, c.Stop("error"))
		}
		if ctx.Err() != nil {
			break
		}
	}
	a.Notice(rerunText(r.ID, l.SessionID))
	if err := c.Stop("end of replay"); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case failed:
		return &app.ExitError{Code: app.ExitFailed}
	}
	return nil
}

// team returns the team of --with-team, or that of the session, with the model of
// --with-model.
func (cmd *Replay) team(ctx context.Context, a *app.App, r *view.Replay) (configured *team.Team, err error) {
	loader := teams.Loader{App: a}
	if cmd.WithTeam != "" {
		configured, err = loader.Load(ctx, cmd.WithTeam)
	} else {
		configured, err = loader.Of(ctx, r.Dir, r.ID)
	}
	if err != nil || cmd.WithModel == "" {
		return configured, err
	}
	return teams.WithModels(a, configured, []string{cmd.WithModel})
}

// recordedPrompts returns the prompts in a span of a session.
func recordedPrompts(ctx context.Context, r *view.Replay, span view.Span) ([]prompt, error) {
	first, err := span.FirstSeq(r.Events(ctx))
	if err != nil || first == 0 {
		return nil, err
	}
	tasks, err := recordedTasks(ctx, r)
	if err != nil {
		return nil, err
	}
	var prompts []prompt
	for entry, err := range projection.Replay(span.UpTo(r.Events(ctx))) {
		switch {
		case err != nil:
			return nil, err
		case entry.Seq < first:
		case entry.Speaker.Type == projection.TypeHuman:
			prompts = append(prompts, prompt{message: entry.Message, seq: entry.Seq, task: tasks[entry.ID]})
		case len(prompts) > 0:
			last := &prompts[len(prompts)-1]
			last.answers = append(last.answers, entry)
		}
	}
	return prompts, nil
}

// recordedTasks returns the tasks that people set, by the id of a message. A marker in a
// message sets the task in the event after that message; a command sets it before the next
// message. A task that is set during a turn is the agent's.
func recordedTasks(ctx context.Context, r *view.Replay) (map[string]*string, error) {
	tasks := map[string]*string{}
	preceding := "" // id of the message if the last event was one of a person
	openTurns := 0
	var next *string // task for the next message
	for e, err := range r.Events(ctx) {
		if err != nil {
			return nil, err
		}
		payload, _ := projection.Decode(e)
		messageID := preceding
		preceding = ""
		switch p := payload.(type) {
		case projection.TurnStarted:
			openTurns++
		case projection.TurnEnded:
			openTurns--
		case projection.TaskSet:
			if messageID != "" {
				tasks[messageID] = p.Task
			} else if openTurns == 0 {
				next = p.Task
			}
		case projection.MessageAppended:
			if p.Message.Speaker.Type == projection.TypeHuman {
				preceding = p.Message.ID
				tasks[preceding], next = next, nil
			}
		}
	}
	return tasks, nil
}

// A rerunListener collects the messages of agents and shows all other events.
type rerunListener struct {
	*view.Screen
	answers []projection.Message
}

// Event implements coordinator.Listener.
func (l *rerunListener) Event(e coordinator.Event) {
	p, ok := e.Payload.(projection.MessageAppended)
	switch {
	case !ok:
		l.Screen.Event(e)
	case p.Message.Speaker.Type != projection.TypeHuman:
		l.answers = append(l.answers, p.Message)
	}
}

// send sends a prompt to a team, as the person of that name or else as its first one. Of
// the members that the prompt addresses, it keeps those that the team has; it sends
// nothing if the prompt had only an address and none is left.
func send(ctx context.Context, c *coordinator.Coordinator, t *team.Team, p prompt) error {
	if p.task != nil {
		if err := c.SetTask(*p.task); err != nil {
			return err
		}
	}
	text := p.message.Content
	if p.message.Routing != nil {
		var names []string
		for _, name := range p.message.Routing.RawNextMarkers {
			if m, ok := t.Match(name); ok {
				names = append(names, m.Name)
			}
		}
		if len(names) > 0 {
			text += " [NEXT: " + strings.Join(names, ", ") + "]"
		}
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	person, ok := t.Match(p.message.Speaker.Name)
	if !ok || person.Type != team.Human {
		person, _ = t.FirstHuman()
	}
	return c.Say(ctx, person.Name, text)
}

// printAnswers prints a prompt with its recorded answers and the new ones.
func (cmd *Replay) printAnswers(a *app.App, l *rerunListener, p prompt) error {
	if cmd.Output == "json" {
		before, now := append([]projection.Entry{}, p.answers...), append([]projection.Message{}, l.answers...)
		return app.WriteJSON(a.Stdout, rerunJSON{l.SessionID, p.message, before, now})
	}
	if _, err := fmt.Fprintln(a.Stdout, view.MessageText(projection.Entry{Message: p.message})); err != nil {
		return err
	}
	for _, entry := range p.answers {
		fmt.Fprintln(a.Stdout, "< "+view.MessageText(entry))
	}
	for _, m := range l.answers {
		fmt.Fprintln(a.Stdout, "> "+view.MessageText(projection.Entry{Message: m}))
	}
	return nil
}

func rerunText(id, rerun string) string {
	return fmt.Sprintf("The new answers (>) are in session %s. Session %s (<) was not changed.", rerun, id)
}
