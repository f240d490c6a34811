package setup

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// A template is a kind of team. Its roles are given to the agents of the team, from the first one on and again.
type template struct {
	name, description string
	roles             []role
	third             bool   // a third agent has the last role, too
	panel             string // a first message to all agents at the same time; "": they take turns
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
	{
		name: "panel", description: "Agents answer at the same time, and you compare", roles: []role{adviser, adviser},
		third: true, panel: "What would you mend here first, and why?",
	},
}

// An adviser has the name of its agent.
var adviser = role{
	title: "adviser", permissions: agent.ReadOnly,
	instruction: "You give advice, and change nothing. Others are asked the same at the same time: you do not see " +
		"their answers, and they do not see yours. Read what is there, say what you would do, how you know that it " +
		"is right, and what you are not sure of.",
}

// templateOf returns the template with a name; nil if there is none.
func templateOf(name string) *template {
	if i := slices.IndexFunc(templates, func(t template) bool { return t.name == name }); i >= 0 {
		return &templates[i]
	}
	return nil
}

// rolesOf returns the roles of a team with so many agents.
func (t *template) rolesOf(agents int) []role {
	if t.third && agents > len(t.roles) {
		return append(slices.Clone(t.roles), t.roles[len(t.roles)-1])
	}
	return t.roles
}

// firstMessage returns a first message to the members of a team, the last of whom is the human; "": any will do.
func (t *template) firstMessage(members []teamMemberJSON) string {
	if t == nil || t.panel == "" || len(members) < 3 {
		return ""
	}
	var names []string
	for _, m := range members[:len(members)-1] {
		names = append(names, m.Name)
	}
	return t.panel + " [NEXT: " + strings.Join(names, " | ") + "]"
}

// apply gives the role to a member.
func (r role) apply(m teamMemberJSON, human string) teamMemberJSON {
	if r.name != "" {
		m.Name, m.DisplayName = r.name, r.displayName
	}
	m.Role = cmp.Or(r.title, m.Role)
	m.SystemInstruction = strings.ReplaceAll(r.instruction, "HUMAN", human)
	if slices.Contains(m.engine().Permissions, r.permissions) {
		m.Permissions = r.permissions
	}
	return m
}
