package chat

import (
	"os"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/attach"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
)

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
