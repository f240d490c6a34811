package chat

import (
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// panel returns the names of --panel.
func (cmd *Command) panel() (names []string) {
	for name := range strings.SplitSeq(cmd.Panel, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// hasCommand reports whether a message of -m is a command of the chat.
func (cmd *Command) hasCommand() bool {
	return slices.ContainsFunc(cmd.Message, func(text string) bool { return strings.HasPrefix(text, "/") })
}

// checkPanel rejects a panel that the team cannot have.
func (cmd *Command) checkPanel(t *team.Team) error {
	names := cmd.panel()
	if len(names) > coordinator.MaxPanel {
		return app.UsageError("%s", textPanel)
	}
	var ids []string
	for _, name := range names {
		m, ok := t.Match(name)
		if !ok || m.Type != team.AI || slices.Contains(ids, m.ID) {
			return app.UsageError("%s", noPanelistText(name, t))
		}
		ids = append(ids, m.ID)
	}
	return nil
}

const textPanel = "--panel names two to four agents, such as ada,bea, who answer the messages of -m, which are no " +
	"commands."

// noPanelistText is for a name in --panel that is no agent, or is there twice.
func noPanelistText(name string, t *team.Team) string {
	var agents []string
	for _, m := range t.Members {
		if m.Type == team.AI {
			agents = append(agents, tty.SafeLine(m.Name))
		}
	}
	return "--panel names different agents, and " + tty.SafeLine(name) + " is none, or is there twice. " +
		"The agents are: " + strings.Join(agents, ", ") + "."
}

// messages returns those of -m, to the members of --panel.
func (cmd *Command) messages() []string {
	if cmd.Panel == "" {
		return cmd.Message
	}
	var messages []string
	for _, text := range cmd.Message {
		messages = append(messages, text+" [NEXT: "+strings.Join(cmd.panel(), " | ")+"]")
	}
	return messages
}
