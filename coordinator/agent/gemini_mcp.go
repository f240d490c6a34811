package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// runWithServers runs a turn of Gemini CLI with MCP servers. On its command line Gemini CLI takes no servers, and of
// the files that configure some, one is the user's, one belongs to the working directory, and the others must belong
// to root. It takes them over the Agent Client Protocol.
func (c CLI) runWithServers(ctx context.Context, turn Turn, yield func(Event, error) bool) {
	member, remove, err := c.geminiMember(turn)
	if err != nil {
		yield(nil, err)
		return
	}
	defer remove()
	over := turn
	over.Member, over.Permit, over.Editor = member, nil, nil // as on the command line, no user is asked
	e := &ACP{Grace: c.Grace}
	defer e.Close()
	for event, err := range e.Run(ctx, over) {
		if !yield(event, err) {
			return
		}
	}
}

// geminiMember returns the member that runs the turn over the Agent Client Protocol. remove removes what it needs.
func (c CLI) geminiMember(turn Turn) (over Member, remove func(), err error) {
	over = turn.Member
	permits, err := c.permitArguments(over)
	if err != nil {
		return over, nil, err
	}
	policy, remove, err := newRunFile("policy.toml", geminiPolicy(turn.MCPServers))
	if err != nil {
		return over, nil, c.profile.failure("its MCP servers cannot be configured: "+err.Error(), Remedy{})
	}
	args := append(permits, "--policy="+policy)
	if over.Model != "" {
		args = append(args, c.format.model, over.Model)
	}
	own := without(c.profile.ownArgs(over), slices.Concat(c.format.args, args))
	over.AgentType, over.Args = "gemini", append(args, own...)
	over.Model, over.Permissions = "", "" // both are arguments
	return over, remove, nil
}

// geminiPolicy returns rules that allow the tools of servers that change nothing.
func geminiPolicy(servers []MCPServer) []byte {
	var rules strings.Builder
	for _, s := range servers {
		if s.ReadOnly {
			fmt.Fprintf(&rules, "[[rule]]\nmcpName = %s\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 900\n",
				tomlString(s.Name))
		}
	}
	return []byte(rules.String())
}
