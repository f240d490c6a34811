package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// A command is a prompt that starts with a slash and its name. hint is "" if it has no argument.
type command struct {
	name, hint, description string
	run                     func(o *session, ctx context.Context, args string) error
}

// commands returns the commands of a chat that an editor does not have itself.
func commands() []command {
	return []command{
		{"members", "", "List the members of the team", (*session).listMembers},
		{"model", "member and model; without them, the models are listed", "Show or set the model of a member",
			memberCommand(host.Members.Model)},
		{"permissions", "member and ask, read or deny; without them, the permissions are listed",
			"Show or restrict what a member may do", memberCommand(host.Members.Permissions)},
		{"remove", "member", "Remove a member for this session", memberCommand(host.Members.Remove)},
		{"task", "task; without one, the current task is shown", "Set or show the team's task", (*session).setTask},
		{"rename", "title", "Set the title of the session", (*session).rename},
		{"retry", "", "Rerun the interrupted turn", (*session).retry},
	}
}

// ownCommands returns the person's own commands, without those that are built in.
func (o *session) ownCommands() []host.OwnCommand {
	own, _ := host.OwnCommands(o.app, func(name string) bool {
		return commandOf(name) != nil
	})
	return own
}

// availableCommands returns the update that lists the commands, also the person's own ones as far as they are admitted.
func (o *session) availableCommands() sdk.SessionUpdate {
	update := &sdk.SessionAvailableCommandsUpdate{AvailableCommands: []sdk.AvailableCommand{}}
	add := func(name, hint, description string) {
		available := sdk.AvailableCommand{Name: name, Description: description}
		if hint != "" {
			available.Input = &sdk.AvailableCommandInput{Unstructured: &sdk.UnstructuredCommandInput{Hint: hint}}
		}
		update.AvailableCommands = append(update.AvailableCommands, available)
	}
	for _, c := range commands() {
		add(c.name, c.hint, c.description)
	}
	for _, c := range o.ownCommands() {
		if c.Admitted(context.Background(), o.teams()) {
			add(strings.TrimPrefix(c.Name, "/"), "arguments", cmp.Or(c.Description, c.Name))
		}
	}
	return sdk.SessionUpdate{AvailableCommandsUpdate: update}
}

// commandOf returns the command that a word names; nil: none.
func commandOf(word string) *command {
	all := commands()
	if i := slices.IndexFunc(all, func(c command) bool { return word == "/"+c.name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// runLine runs a command, or sends a message. A text such as a path that only starts like a command is a message.
func (o *session) runLine(ctx context.Context, message promptMessage, device coordinator.Device) error {
	name, args := splitCommand(message.Text)
	if c := commandOf(name); c != nil {
		if c.hint == "" && args != "" {
			return app.UsageError("%s takes no argument. Type %s.", name, name)
		}
		return c.run(o, ctx, args)
	}
	text := message.Text
	if strings.HasPrefix(name, "/") {
		own := o.ownCommands()
		if i := slices.IndexFunc(own, func(c host.OwnCommand) bool { return c.Name == name }); i >= 0 {
			var err error
			if text, err = own[i].Message(ctx, o.teams(), args); err != nil {
				return err
			}
		}
	}
	return o.c.SayOn(ctx, device, "", text, message.Files...)
}

// memberCommand returns a command that changes the members. What changed is shown as an event.
func memberCommand(
	run func(host.Members, string) (string, error),
) func(o *session, ctx context.Context, args string) error {
	return func(o *session, _ context.Context, args string) error {
		answer, err := run(host.Members{App: o.app, C: o.c, Remote: true}, args)
		if answer != "" && err == nil {
			o.listener.answer(answer)
		}
		o.keepReplaced()
		return err
	}
}

// keepReplaced keeps what a command has chosen for members when the client's choices are applied again.
func (o *session) keepReplaced() {
	now := o.c.Chosen()
	o.mu.Lock()
	before, models := o.choices.Chosen(o.loaded), len(o.choices.models)
	for id := range before.Permissions {
		if _, ok := now.Permissions[id]; !ok {
			o.choices.except = append(o.choices.except, id)
		}
	}
	o.choices.models = now.Models
	o.mu.Unlock()
	if len(now.Models) < models {
		o.sendOptions()
	}
}

func (o *session) listMembers(context.Context, string) error {
	o.listener.answer(membersText(o.c.Team()))
	return nil
}

func (o *session) setTask(_ context.Context, task string) error {
	if task != "" {
		if err := o.c.SetTask(task); err != nil {
			return err
		}
	}
	if s := o.c.Session(); s != nil && s.TeamTask != nil {
		o.listener.answer("Team task: " + tty.SafeLines(*s.TeamTask))
		return nil
	}
	o.listener.answer("The team has no task. Type /task TEXT to set one.")
	return nil
}

func (o *session) rename(_ context.Context, title string) error {
	if title == "" {
		return app.UsageError("A title is missing. Type /rename TITLE.")
	}
	title, err := app.Title(title)
	if err == nil {
		err = o.c.Rename(title)
	}
	if errors.Is(err, coordinator.ErrNoSession) {
		return app.UsageError("The session has no messages yet. Send one first.")
	}
	return err
}

func (o *session) retry(ctx context.Context, _ string) error {
	err := o.c.Retry(ctx)
	if errors.Is(err, coordinator.ErrNothingToRetry) {
		return app.UsageError("No turn was interrupted: there is nothing to retry.")
	}
	return err
}

// membersText lists the members of a team.
func membersText(t *team.Team) string {
	lines := []string{tty.SafeLine(t.DisplayName)}
	for _, m := range t.Members {
		what := m.Type
		if m.AgentType != "" {
			what += ", " + m.AgentType
		}
		lines = append(lines, fmt.Sprintf("%s (@%s): %s",
			tty.SafeLine(m.DisplayName), tty.SafeLine(m.Name), tty.SafeLine(what)))
	}
	return strings.Join(lines, "\n")
}
