package chat

import (
	"os"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/attach"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// members returns the members that the input box completes, humans last: a message is seldom for its own author.
func members(t *team.Team) (choices []editor.Choice) {
	var humans []editor.Choice
	for _, m := range t.Members {
		choice := editor.Choice{Text: "@" + tty.SafeLine(m.Name), Help: tty.SafeLine(m.DisplayName)}
		if m.Type == team.Human {
			humans = append(humans, choice)
		} else {
			choices = append(choices, choice)
		}
	}
	return append(choices, humans...)
}

// sources returns what the input box completes, without the members of a team. The commands that were used most are
// the first ones. listed is called once when the files of the working directory are known: they are listed after an @.
func sources(a *app.App, listed func()) (s editor.Sources) {
	for _, c := range slashCommands() {
		if c.help != "" {
			s.Commands = append(s.Commands, editor.Choice{Text: c.name, Help: c.help})
		}
	}
	own, _ := ownCommands(a)
	for _, c := range own {
		s.Commands = append(s.Commands, editor.Choice{Text: c.Name, Help: c.Description})
	}
	uses, _ := readUses(a.Home) // an error is one of saving, too
	s.Commands = byUse(s.Commands, uses)
	if root, err := os.OpenRoot(a.Cwd); err == nil { // no link leads out of it
		s.Files = root.FS()
	}
	s.Paths = attach.NewIndex(a.Cwd, a.Home, listed).Match
	return s
}
