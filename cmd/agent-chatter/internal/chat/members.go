package chat

import (
	"context"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
)

// changeMembers runs a command that changes the members, and prints its answer. What changed is shown as an event; a
// script gets it as a notice.
func (r invocation) changeMembers(run func(host.Members, string) (string, error), args string) error {
	// During a turn, whose line may be of another device, only lists are shown.
	members := host.Members{App: r.app, C: r.c, Remote: r.device != "" && args != ""}
	answer, err := run(members, args)
	if answer != "" && err == nil {
		r.app.Notice(answer)
	}
	r.report(err)
	return nil
}

func (r invocation) slashModel(_ context.Context, args string) error {
	return r.changeMembers(host.Members.Model, args)
}

func (r invocation) slashPermissions(_ context.Context, args string) error {
	return r.changeMembers(host.Members.Permissions, args)
}

func (r invocation) slashAdd(_ context.Context, args string) error {
	return r.changeMembers(host.Members.Add, args)
}

func (r invocation) slashRemove(_ context.Context, args string) error {
	return r.changeMembers(host.Members.Remove, args)
}
