package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/setup"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/spending"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// A prompt is a recorded message of a person with the recorded answers to it.
type prompt struct {
	message projection.Message
	files   []projection.File
	seq     uint64  // of the message
	task    *string // set with the message or since the previous one; nil: unchanged
	answers []*conversation.Item
}

// answersJSON is the JSON output of a prompt.
type answersJSON struct {
	SessionID string               `json:"sessionId"` // of the new session
	Message   projection.Message   `json:"message"`
	Before    []projection.Entry   `json:"before"` // the recorded answers
	Now       []projection.Message `json:"now"`    // the new ones
}

// rerunOptions say with what a session is rerun, and how the answers are printed.
type rerunOptions struct {
	Team  string // a file or a name; "": the team of the session
	Model string // of all agents; "": those of the team
	JSON  bool
}

// rerunSession sends the prompts of a session to a team, in a new session, and prints the recorded and the new answers.
func rerunSession(ctx context.Context, a *app.App, r *view.Replay, span view.Span, o rerunOptions) (err error) {
	team, err := o.team(ctx, a, r)
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
	shown, end := console.OpenOutput(a)
	defer func() { err = cmp.Or(err, end(ctx)) }()
	l := &listener{Surface: shown, Reporter: &view.Reporter{App: a, Team: team, Saved: func() {}}}
	if l.files, err = r.Dir.Attachments(r.ID); err != nil {
		return err
	}
	if !o.JSON {
		l.Say(func(m *console.Model) []view.Block {
			m.Transcript = view.NewTranscript(team)
			return nil
		})
	}
	state, err := stateAfter(ctx, r, span)
	if err != nil {
		return err
	}
	c := coordinator.New(coordinator.Options{
		NewMember: setup.MemberMaker(a), HomeKey: host.HomeKey(a, isChanged(state) && o.Team == ""),
		Store: store.NewFiles(a.Catalog), Listener: l, App: a.Identity(), CWD: a.Cwd,
		Window: coordinator.Window(config.Window), Engines: agent.Engines(),
		KeepSecrets: config.KeepSecrets(), Guard: new(process.Guard), Workspace: host.Workspace(a, config, true),
		Home:   a.Home,
		Budget: coordinator.Budget{Home: config.Budget, Day: spending.NewDay(a, true)},
	})
	parent := &projection.Parent{SessionID: r.ID, Seq: prompts[len(prompts)-1].seq}
	if err := o.begin(ctx, a, c, team, parent, state); err != nil {
		return errors.Join(err, c.Stop("error"))
	}
	failed, err := l.rerun(ctx, c, prompts, o.JSON)
	if err != nil {
		return errors.Join(err, c.Stop("error"))
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

// begin gives a coordinator the team. Members and limits that were changed in the recorded session, whose state
// is given, are changed in the new one, too, if the team is the same.
func (o rerunOptions) begin(
	ctx context.Context, a *app.App, c *coordinator.Coordinator, t *team.Team, parent *projection.Parent,
	of *projection.State,
) (err error) {
	options := coordinator.SetTeamOptions{Parent: parent}
	if o.Model != "" {
		if options.Chosen.Models, err = teams.Models(a, t, []string{o.Model}); err != nil {
			return err
		}
	}
	if err := c.SetTeam(ctx, t, options); err != nil {
		return err
	}
	switch {
	case !isChanged(of):
	case o.Team != "":
		a.Notice(notAdoptedText(parent.SessionID, of))
	default:
		if err := c.Adopt(of.Changes); err != nil {
			return err
		}
		return c.AdoptLimits(of)
	}
	return nil
}

// rerun sends prompts until ctx is done. failed reports whether an agent did not answer.
func (l *listener) rerun(
	ctx context.Context, c *coordinator.Coordinator, prompts []prompt, asJSON bool,
) (failed bool, err error) {
	for _, p := range prompts {
		l.begin(p)
		err := l.send(ctx, c, p)
		var turn *coordinator.TurnError
		if errors.As(err, &turn) { // The Reporter has printed it.
			failed, err = true, nil
		}
		if err == nil && asJSON {
			before, now := []projection.Entry{}, append([]projection.Message{}, l.answers...)
			for _, i := range p.answers {
				entry, _ := i.Entry()
				before = append(before, entry)
			}
			err = app.WriteJSON(l.App.Stdout, answersJSON{l.SessionID, p.message, before, now})
		}
		if err != nil || ctx.Err() != nil {
			return failed, err
		}
	}
	return failed, nil
}

// team returns the team of a rerun.
func (o rerunOptions) team(ctx context.Context, a *app.App, r *view.Replay) (configured *team.Team, err error) {
	loader := teams.Loader{App: a}
	if o.Team != "" {
		configured, err = loader.Load(ctx, o.Team)
	} else {
		configured, err = loader.Of(ctx, r.Dir, r.ID)
	}
	return configured, err
}

// stateAfter returns the state at the end of a span, with how the members and limits differed from the configuration.
func stateAfter(ctx context.Context, r *view.Replay, span view.Span) (*projection.State, error) {
	state := new(projection.State)
	for e, err := range span.UpTo(r.Events(ctx)) {
		if err != nil {
			return nil, err
		}
		state.Apply(e)
	}
	return state, nil
}

// isChanged reports whether members or limits of a session differ from the configuration.
func isChanged(of *projection.State) bool { return len(of.Changes)+len(of.Budget) > 0 }

// notAdoptedText is for a rerun with another team than that of the session, whose members or limits were changed.
func notAdoptedText(id string, of *projection.State) string {
	text := fmt.Sprintf("Session %s had other members or limits than its configuration; the rerun does not.", id)
	if len(of.Changes) > 0 {
		text += "\n" + view.ChangesText(of.Changes)
	}
	if len(of.Budget) > 0 {
		text += "\n" + view.LimitsText(coordinator.LimitsChanged{InForce: of.LastLimits()})
	}
	return text
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
	for i, err := range new(conversation.Conversation).Read(projection.Decoded(span.UpTo(r.Events(ctx)))) {
		if err != nil {
			return nil, err
		}
		entry, ok := i.Entry()
		switch {
		case !ok, i.Last < first:
		case i.Speaker.Type == projection.TypeHuman:
			prompts = append(prompts, prompt{
				message: entry.Message, files: entry.Attachments, seq: entry.Seq, task: tasks[entry.ID],
			})
		case len(prompts) > 0:
			last := &prompts[len(prompts)-1]
			last.answers = append(last.answers, i)
		}
	}
	return prompts, nil
}

// recordedTasks returns the tasks that people set, by the id of a message. A marker in a
// message sets the task in the event after that message; a command sets it before the next
// message. A task that is set during a turn is the agent's.
func recordedTasks(ctx context.Context, r *view.Replay) (map[string]*string, error) {
	tasks := map[string]*string{}
	preceding := ""  // id of the message if the last event was one of a person
	var next *string // task for the next message
	var c conversation.Conversation
	for e, err := range projection.Brief(r.Events(ctx)) {
		if err != nil {
			return nil, err
		}
		messageID := preceding
		preceding = ""
		for _, d := range c.Apply(e) {
			switch d := d.(type) {
			case conversation.Changed:
				if p, ok := d.Payload.(projection.TaskSet); !ok {
					continue
				} else if messageID != "" {
					tasks[messageID] = p.Task
				} else if len(c.Open()) == 0 {
					next = p.Task
				}
			case conversation.Said:
				if d.Message.Speaker.Type == projection.TypeHuman {
					preceding = d.Message.ID
					tasks[preceding], next = next, nil
				}
			}
		}
	}
	return tasks, nil
}

// A listener shows the answers to prompts: the recorded ones after "< ", the new ones after "> ".
type listener struct {
	*view.Reporter
	console.Surface
	answers []projection.Message // the new ones
	files   attachment.Dir       // of the session that is rerun
}

// begin shows a prompt and the recorded answers to it.
func (l *listener) begin(p prompt) {
	l.answers = nil
	show := func(mark string, blocks func(*view.Transcript, view.Style) []view.Block) {
		l.Say(func(m *console.Model) []view.Block {
			m.Mark = mark
			if m.Transcript == nil {
				return nil
			}
			return blocks(m.Transcript, m.Style)
		})
	}
	said := p.message
	said.Content = projection.WithFiles(said.Content, p.files)
	show("", func(t *view.Transcript, _ view.Style) []view.Block { return t.Message(said) })
	show("< ", func(t *view.Transcript, s view.Style) (blocks []view.Block) {
		for _, i := range p.answers {
			answer := *i
			if s.Plain {
				answer.Steps = nil
			}
			blocks = append(blocks, t.Item(&answer)...)
		}
		return blocks
	})
	show("> ", func(*view.Transcript, view.Style) []view.Block { return nil })
}

// Event implements coordinator.Listener.
func (l *listener) Event(e coordinator.Event) {
	l.Reporter.Event(e)
	said, ok := e.Payload.(projection.MessageAppended)
	isAnswer := ok && said.Message.Speaker.Type != projection.TypeHuman
	if isAnswer {
		l.answers = append(l.answers, said.Message)
	}
	l.Say(func(m *console.Model) []view.Block {
		switch {
		case m.Transcript == nil, ok && !isAnswer: // begin has shown the prompt
			return nil
		case !m.Style.Plain:
			blocks := m.Transcript.Apply(e.Event)
			m.Status.Follow(m.Transcript.Open(), l.DisplayName, time.Now())
			return blocks
		case isAnswer:
			return m.Transcript.Message(said.Message)
		}
		return nil
	})
}

// Text implements coordinator.Listener.
func (l *listener) Text(turnID string, _ team.Member, text string) {
	l.Say(console.Stream(turnID, text))
}

// send sends a prompt with its files to the team, as the person of that name or else as its first one. Of
// the members that the prompt addresses, it keeps those that the team has, with their priorities;
// it sends nothing if the prompt had only an address and none is left.
func (l *listener) send(ctx context.Context, c *coordinator.Coordinator, p prompt) error {
	t := l.Team
	var files []coordinator.File
	for _, f := range p.files {
		data, err := l.files.Read(f.SHA256, f.Bytes)
		if err != nil {
			return fmt.Errorf("the file %s of a message: %w", projection.FileName(f.Name), err)
		}
		files = append(files, coordinator.File{Name: f.Name, MediaType: f.MediaType, Data: data})
	}
	if p.task != nil {
		if err := c.SetTask(*p.task); err != nil {
			return err
		}
	}
	text := p.message.Content
	if p.message.Routing != nil {
		var names []string
		for _, typed := range p.message.Routing.RawNextMarkers {
			target := marker.ParseTarget(typed)
			m, ok := t.Match(target.Identifier)
			switch {
			case !ok:
			case target.Intent == marker.Reply: // the default
				names = append(names, m.Name)
			default:
				names = append(names, m.Name+"!"+target.Intent.String())
			}
		}
		if len(names) > 0 { // a paragraph of its own: after the text, it could be in a code block
			text = "[NEXT: " + strings.Join(names, ", ") + "]\n\n" + text
		}
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	person, ok := t.Match(p.message.Speaker.Name)
	if !ok || person.Type != team.Human {
		person, _ = t.FirstHuman()
	}
	return c.Say(ctx, person.Name, text, files...)
}

func rerunText(id, rerun string) string {
	return fmt.Sprintf("The new answers (>) are in session %s. Session %s (<) was not changed.", rerun, id)
}
