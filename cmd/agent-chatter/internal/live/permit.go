package live

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// commands are the commands that another device may enter, with the role that it needs. The others need the place where
// the conversation runs: they write files, start programs that were not asked for, or show something there.
var commands = map[string]web.Role{
	"/help": web.RoleAnswer, "/status": web.RoleAnswer, "/members": web.RoleAnswer, "/queue": web.RoleAnswer,
	"/context": web.RoleAnswer, "/usage": web.RoleAnswer, "/cancel": web.RoleAnswer, "/retry": web.RoleAnswer,
	"/model": web.RoleAll, "/permissions": web.RoleAll, "/compact": web.RoleAll, "/save": web.RoleAll,
	"/task": web.RoleAll, "/pin": web.RoleAll, "/unpin": web.RoleAll, "/rename": web.RoleAll,
	"/budget": web.RoleAll, "/files": web.RoleAll, "/rewind": web.RoleAll, "/fork": web.RoleAll, "/remove": web.RoleAll,
}

// Permit returns an error unless a device with a role may enter a command with arguments. own reports that it is none
// of the program: a command of the person's own, or one that is unknown.
func Permit(role web.Role, command string, own bool, args string) error {
	needs, ok := commands[command]
	if own {
		needs, ok = web.RoleAll, true
	}
	values := strings.Fields(args)
	switch {
	case !ok, !role.Permits(needs):
		return errors.New(notOnDeviceText(command))
	case command == "/budget" && args != "": // a limit is for those who pay
		return errors.New(notOnDeviceText(command + " " + args))
	case command == "/permissions" && len(values) > 0 && widens(values):
		return errors.New(notOnDeviceText(command + " " + values[len(values)-1]))
	}
	return nil
}

// widens reports whether the arguments of /permissions let an agent do more than to ask. One word is the only agent, or
// a value for it: host.Members checks one that is not known here.
func widens(values []string) bool {
	value := values[len(values)-1]
	return agent.Permits(value) > agent.Permits(agent.Ask) &&
		(len(values) > 1 || slices.Contains(agent.Policies, value))
}

// notOnDeviceText is for a command that a device may not enter.
func notOnDeviceText(command string) string {
	return fmt.Sprintf("%.60s cannot be entered here: enter it where the conversation runs", tty.SafeLine(command))
}
