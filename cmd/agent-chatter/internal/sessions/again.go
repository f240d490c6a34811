package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// asked is what a person said once, and what was answered then.
type asked struct {
	message projection.Message
	task    *string // that was set with it or before it; nil: none was
	before  []projection.Entry
}

// askedAgain is one message with the answers of both times, in JSON output.
type askedAgain struct {
	SessionID string               `json:"sessionId"` // the new one
	Message   projection.Message   `json:"message"`
	Before    []projection.Entry   `json:"before"`
	Now       []projection.Message `json:"now"`
}

// askAgain asks a team what people said in a session, in a new one, and shows
// the answers of both, message by message.
func (cmd *Replay) askAgain(a *app.App, r *view.Replay, part view.Span) error {
	if cmd.Speed > 0 || cmd.Output != "text" && cmd.Output != "json" {
		return app.UsageError("--with-team and --with-model support only --output text or json, without --speed.")
	}
	team, err := cmd.otherTeam(a, r)
	if err != nil {
		return err
	}
	config, err := a.Config()
	if err != nil {
		return err
	}
	questions, err := questionsOf(r, part)
	if err != nil {
		return err
	}
	if len(questions) == 0 {
		return app.Exit(app.ExitFailed, app.Text("The session has no message of a person: there is nothing to rerun."))
	}
	again := &again{Screen: &view.Screen{App: a, Team: team, Spinner: &tty.Spinner{Out: a.Stdout}}, json: cmd.Output == "json"}
	again.Saved = func() {}
	again.c = coordinator.New(coordinator.Options{
		Store: store.NewFiles(a.Catalog), Listener: again, App: a.Identity(), CWD: a.Cwd,
		Window: coordinator.Window(config.Window), Engines: app.Engines(agent.Demo{}), KeepSecrets: config.KeepSecrets(),
	})
	ctx, stop := app.UntilSignal()
	defer stop()
	if err := again.c.SetTeam(ctx, team, coordinator.SetTeamOptions{}); err != nil {
		return err
	}
	return again.run(ctx, r.ID, questions)
}

// otherTeam is the one to ask: the session's own when none is named, with
// another model when one is.
func (cmd *Replay) otherTeam(a *app.App, r *view.Replay) (configured *team.Team, err error) {
	if cmd.WithTeam != "" {
		configured, err = a.LoadTeam(cmd.WithTeam)
	} else {
		configured, err = a.TeamOf(context.Background(), r.Team, r.ID)
	}
	if err != nil || cmd.WithModel == "" {
		return configured, err
	}
	other := *configured
	other.Members = slices.Clone(configured.Members)
	for i, m := range other.Members {
		if m.Type == team.AI {
			other.Members[i].Model = cmd.WithModel
		}
	}
	return &other, nil
}

// asked is what people said in a part of the session, with what was answered.
func questionsOf(r *view.Replay, part view.Span) ([]asked, error) {
	first, err := part.FirstSeq(r.Events())
	if err != nil || first == 0 {
		return nil, err
	}
	tasks, err := tasksOf(r)
	if err != nil {
		return nil, err
	}
	var all []asked
	for entry, err := range projection.Replay(part.UpTo(r.Events())) {
		switch {
		case err != nil:
			return nil, err
		case entry.Seq < first:
		case entry.Speaker.Type == projection.TypeHuman:
			all = append(all, asked{message: entry.Message, task: tasks[entry.ID]})
		case len(all) > 0:
			last := &all[len(all)-1]
			last.before = append(last.before, entry)
		}
	}
	return all, nil
}

// tasks are the tasks that people set, by the id of the message that they were
// set with, or of the next one.
func tasksOf(r *view.Replay) (map[string]*string, error) {
	tasks := map[string]*string{}
	said, turns := "", 0 // the message right before, and the turns that go on
	var task *string
	for e, err := range r.Events() {
		if err != nil {
			return nil, err
		}
		payload, _ := projection.Decode(e)
		last := said
		said = ""
		switch p := payload.(type) {
		case projection.TurnStarted:
			turns++
		case projection.TurnEnded:
			turns--
		case projection.TaskSet:
			if last != "" {
				tasks[last] = p.Task
			} else if turns == 0 {
				task = p.Task
			}
		case projection.MessageAppended:
			if p.Message.Speaker.Type == projection.TypeHuman {
				said = p.Message.ID
				tasks[said], task = task, nil
			}
		}
	}
	return tasks, nil
}

// again is a conversation in which everything that people say was said before.
type again struct {
	*view.Screen
	c    *coordinator.Coordinator
	json bool
	now  []projection.Message // the answers to the message that is asked
}

// Event implements coordinator.Listener. Messages are collected, not shown.
func (g *again) Event(e coordinator.Event) {
	p, ok := e.Payload.(projection.MessageAppended)
	switch {
	case !ok:
		g.Screen.Event(e)
	case p.Message.Speaker.Type != projection.TypeHuman:
		g.now = append(g.now, p.Message)
	}
}

// run asks one question after another.
func (g *again) run(ctx context.Context, id string, questions []asked) (err error) {
	failed := false
	for _, q := range questions {
		g.now = nil
		err := g.ask(ctx, q)
		var turn *coordinator.TurnError
		switch {
		case err == nil:
		case errors.As(err, &turn):
			failed = true // the screen has said it
		default:
			return errors.Join(err, g.c.Stop("error"))
		}
		if err := g.show(q); err != nil {
			return errors.Join(err, g.c.Stop("error"))
		}
		if ctx.Err() != nil {
			break
		}
	}
	g.App.Notice(askedAgainText(id, g.SessionID))
	if err := g.c.Stop("end of replay"); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return &app.ExitError{Code: app.ExitInterrupted}
	case failed:
		return &app.ExitError{Code: app.ExitFailed}
	}
	return nil
}

func (g *again) ask(ctx context.Context, q asked) error {
	if q.task != nil {
		if err := g.c.SetTask(*q.task); err != nil {
			return err
		}
	}
	text := q.message.Content + g.marker(q.message)
	if strings.TrimSpace(text) == "" { // it named somebody, and nobody of that name is there
		return nil
	}
	return g.c.SayAs(ctx, g.human(q.message.Speaker), text)
}

// human is who says it now: whoever has the name, or the first of the team.
func (g *again) human(s projection.Speaker) string {
	if m, ok := g.Team.Match(s.Name); ok && m.Type == team.Human {
		return m.Name
	}
	m, _ := g.Team.FirstHuman()
	return m.Name
}

// marker names again those whom a message named, as far as the team has them.
func (g *again) marker(m projection.Message) string {
	if m.Routing == nil {
		return ""
	}
	var names []string
	for _, name := range m.Routing.RawNextMarkers {
		if member, ok := g.Team.Match(name); ok {
			names = append(names, member.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " [NEXT: " + strings.Join(names, ", ") + "]"
}

// show prints a question and the answers of both times.
func (g *again) show(q asked) error {
	out := g.App.Stdout
	if g.json {
		return app.WriteJSON(out, askedAgain{g.SessionID, q.message, append([]projection.Entry{}, q.before...), append([]projection.Message{}, g.now...)})
	}
	if _, err := fmt.Fprintln(out, view.MessageText(projection.Entry{Message: q.message})); err != nil {
		return err
	}
	for _, entry := range q.before {
		fmt.Fprintln(out, "< "+view.MessageText(entry))
	}
	for _, m := range g.now {
		fmt.Fprintln(out, "> "+view.MessageText(projection.Entry{Message: m}))
	}
	return nil
}

// askedAgainText says where the new answers are.
func askedAgainText(id, again string) string {
	return fmt.Sprintf("The new answers (>) are in session %s. Session %s (<) stays as it is.", again, id)
}
