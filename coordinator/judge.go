package coordinator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// The bounds of what a judge gets of each member that it judges, in bytes.
const (
	maxJudgedReply = 32 << 10
	maxJudgedPatch = 64 << 10
)

// judged returns whom the member of a turn is to judge.
func (c *Coordinator) judged(next instructed) (members []team.Member) {
	for _, typed := range next.trigger.next {
		target := marker.ParseTarget(typed)
		if judge, ok := c.team.Match(target.Identifier); !ok || judge.ID != next.member.ID {
			continue
		}
		for _, name := range target.Judged {
			if m, ok := c.team.Match(name); ok && m.Type == team.AI && len(members) < MaxPanel {
				members = append(members, m)
			}
		}
	}
	return members
}

// judgement returns the section of what a member is to judge: the newest reply of each of the others unless the prompt
// or an earlier one has it, in shown, and what the member has changed in its worktree and was not merged. "": it
// is to judge none.
func (c *Coordinator) judgement(next instructed, shown []projection.Entry) string {
	members := c.judged(next)
	if len(members) == 0 {
		return ""
	}
	names := make([]string, len(members))
	sections := make([]string, len(members))
	for i, m := range members {
		names[i] = c.name(m.DisplayName)
		sections[i] = c.judgedReply(m, shown) + c.judgedPatch(m)
	}
	ask := fmt.Sprintf("You judge what %s did: say which you prefer, and why.", strings.Join(names, " and "))
	isApart := func(m team.Member) bool { _, ok := c.worktree(m); return ok }
	if slices.ContainsFunc(members, isApart) {
		ask += " If changes of files should be merged, say whose: a person then merges them, or not."
	}
	return strings.Join(sections, "\n\n") + "\n\n" + ask
}

// judgedReply returns the section of a member's newest reply; "": it is one of shown.
func (c *Coordinator) judgedReply(m team.Member, shown []projection.Entry) string {
	isOwn := func(e projection.Entry) bool { return e.Speaker.ID == m.ID && !e.Partial }
	if slices.ContainsFunc(shown, isOwn) { // the newest: prompts have the newest messages
		return ""
	}
	for _, e := range slices.Backward(c.conv.state.Recent) {
		if isOwn(e) {
			text := runecut.Prefix(c.secrets.Text(e.Content), maxJudgedReply)
			return section("The newest reply of "+c.name(m.DisplayName), body(projection.TypeAI, text)) + "\n\n"
		}
	}
	return c.name(m.DisplayName) + " has not replied.\n\n"
}

// judgedPatch returns the section of what a member has changed in its worktree.
func (c *Coordinator) judgedPatch(m team.Member) string {
	w, ok := c.worktree(m)
	if !ok || c.o.Workspace == nil {
		return ""
	}
	patch, err := c.patch(w)
	title := fmt.Sprintf("What %s has changed, in a worktree", c.name(m.DisplayName))
	switch {
	case err != nil:
		return section(title, "It cannot be read.")
	case patch == "":
		return section(title, "Nothing.")
	}
	return section(title, body(projection.TypeAI, c.secrets.Text(patch)))
}

// patch returns what a worktree has that was not merged, of its last capture.
func (c *Coordinator) patch(w projection.Worktree) (string, error) {
	source, err := c.o.Workspace(w.Source)
	if err != nil || source == nil {
		return "", cmp.Or(err, errNoCaptures)
	}
	base, err := objects.ParseHash(w.LastBase())
	if err != nil {
		return "", err
	}
	last, err := objects.ParseHash(c.conv.state.Tree(w.Dir))
	if err != nil {
		return "", err
	}
	return source.Stored(w.Dir).Patch(base, last, maxJudgedPatch)
}
