package doctor

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// checkKey finds a key of the home that was made elsewhere.
func (d *doctor) checkKey() []app.Finding {
	if err := home.CheckKey(d.Home); err != nil {
		return []app.Finding{keyText(err)}
	}
	return nil
}

// checkTeams finds the teams with agents that could ask for permission, and whose permissions are unset. Teams that are
// not valid are reported when they are used.
func (d *doctor) checkTeams() (found []app.Finding) {
	files, err := team.Files(d.Places())
	if err != nil {
		return []app.Finding{app.Note(app.Sentence(err), "Check the permissions there.")}
	}
	for _, f := range files {
		if f.Hidden || f.Origin == team.BuiltIn {
			continue
		}
		if t, err := team.Load(f.Path, d.Home); err == nil {
			if unset := t.WithoutPermissions(); len(unset) > 0 {
				found = append(found, unsetPermissionsText(f.Name, unset))
			}
		}
	}
	return found
}

func keyText(err error) app.Finding {
	return app.Note("the key of the home cannot be used: "+tty.SafeLine(err.Error()),
		"The next chat replaces it. Agents then start new sessions, with the newest messages.")
}

func unsetPermissionsText(name string, members []string) app.Finding {
	return app.Note(
		fmt.Sprintf("the permissions of %s in the team %s are unset: they ask where you can answer, and otherwise "+
			"their own configuration decides", tty.SafeLine(strings.Join(members, ", ")), tty.SafeLine(name)),
		`Set "permissions" of each to ask, edit, allow, read or deny.`)
}
