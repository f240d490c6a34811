package setup

import (
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// A template is a kind of team. Its roles are given to the agents of the team, from the first one on and again.
type template struct {
	name, description string
	roles             []role
}

// A role is what one member of a team does.
type role struct {
	name, displayName, title string // "": those of the agent
	permissions              string // "": those of the team
	instruction              string // with HUMAN for the name of the human
}

// templates are the kinds of teams, besides one of all agents.
var templates = []template{
	{name: "solo", description: "An agent and you", roles: []role{{}}},
	{name: "pair", description: "One agent builds, another one reviews", roles: []role{
		{
			name: "builder", displayName: "Builder", title: "builder",
			instruction: "You build what the human asks for. Change the files, and run the tests. When a piece of " +
				"work is complete, say what you changed and why, and end your message with [NEXT: " +
				"reviewer]. Mend what the reviewer finds, or say why it is right.",
		},
		{
			name: "reviewer", displayName: "Reviewer", title: "reviewer", permissions: agent.ReadOnly,
			instruction: "You review what the builder has changed, and change nothing yourself. Read the changes, " +
				"look for mistakes, for cases that are missing and for tests that cannot fail, and name " +
				"the place of each. If something is to be mended, end your message with [NEXT: builder]. " +
				"Otherwise say so, and end it with [NEXT: HUMAN].",
		},
	}},
	{name: "plan-and-work", description: "One agent plans, another one works", roles: []role{
		{
			name: "planner", displayName: "Planner", title: "planner", permissions: agent.ReadOnly,
			instruction: "You plan, and change nothing yourself. Read what is there, ask the human what is " +
				"unclear, and write a plan of small steps, each with how to check it. When the human " +
				"agrees with the plan, end your message with [NEXT: worker]. After the work, compare it " +
				"with the plan, and end your message with [NEXT: HUMAN].",
		},
		{
			name: "worker", displayName: "Worker", title: "worker",
			instruction: "You carry out the plan of the planner, one step after another, and check each step. If " +
				"the plan is wrong, say why, and end your message with [NEXT: planner]. When all steps " +
				"are done, say what you did and how you checked it, and end your message with [NEXT: " +
				"planner].",
		},
	}},
}

// templateOf returns the template with a name; nil if there is none.
func templateOf(name string) *template {
	if i := slices.IndexFunc(templates, func(t template) bool { return t.name == name }); i >= 0 {
		return &templates[i]
	}
	return nil
}

// apply gives the role to a member.
func (r role) apply(m teamMemberJSON, human string) teamMemberJSON {
	if r.name != "" {
		m.Name, m.DisplayName, m.Role = r.name, r.displayName, r.title
	}
	m.SystemInstruction = strings.ReplaceAll(r.instruction, "HUMAN", human)
	if slices.Contains(m.engine().Permissions, r.permissions) {
		m.Permissions = r.permissions
	}
	return m
}
