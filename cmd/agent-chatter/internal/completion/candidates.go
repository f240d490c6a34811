package completion

import (
	"cmp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/guide"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/usage"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// candidate is a completion of a word.
type candidate struct{ text, what string }

// candidates returns the completions of a word, and whether a file may complete it.
func (l *commandLine) candidates(word string) (found []candidate, files bool) {
	name, value, assigned := strings.Cut(word, "=")
	if assigned && strings.HasPrefix(name, "--") && !l.plain && l.flag == nil {
		if f := l.flagNamed(func(f *kong.Flag) bool { return "--"+f.Name == name }); f != nil && !f.IsBool() {
			found, files = l.values(f.Value, value)
			for i := range found {
				found[i].text = name + "=" + found[i].text
			}
		}
		return found, files
	}
	if l.flag != nil {
		found, files = l.values(l.flag.Value, word)
		if !mayStandAlone(l.flag) {
			return found, files
		}
		// The flag may have no value: the word may also be a flag or an argument.
	}
	if strings.HasPrefix(word, "-") && !l.plain {
		return append(found, l.flagCandidates(word)...), files
	}
	if l.flag != nil && len(found) > 0 {
		return found, files
	}
	arguments, more := l.arguments(word)
	return append(found, arguments...), files || more
}

func (l *commandLine) flagCandidates(word string) []candidate {
	var found []candidate
	for _, f := range l.flags() {
		if strings.HasPrefix("--"+f.Name, word) && (f.Name != "json" || usage.PrintsJSON(l.node)) {
			found = append(found, candidate{"--" + f.Name, f.Help})
		}
	}
	return found
}

// arguments returns the subcommands and arguments that complete a word.
func (l *commandLine) arguments(word string) (found []candidate, files bool) {
	node := l.node
	if l.args == 0 && !l.plain {
		for _, child := range node.Children {
			if !child.Hidden && strings.HasPrefix(child.Name, word) {
				found = append(found, candidate{child.Name, child.Help})
			}
		}
	}
	if len(node.Positional) == 0 {
		return found, false
	}
	at := min(l.args, len(node.Positional)-1)
	if l.args > at && !node.Positional[at].IsCumulative() {
		return found, false
	}
	return l.values(node.Positional[at], word)
}

// mayStandAlone reports whether the value of a flag is optional.
func mayStandAlone(f *kong.Flag) bool {
	_, optional := f.Target.Addr().Interface().(*usage.OptionalID)
	return optional
}

// values returns the values of a flag or an argument that complete a word.
func (l *commandLine) values(v *kong.Value, word string) (found []candidate, files bool) {
	if v.Enum != "" {
		for _, value := range v.EnumSlice() {
			found = append(found, candidate{text: value})
		}
		return startingWith(found, word), false
	}
	for _, kind := range completed[cmp.Or(v.Tag.Get("complete"), v.Name)] {
		switch kind {
		case completeFiles:
			files = true
		case completeSessions:
			found = append(found, l.sessions(word)...)
		case completeTrash:
			found = append(found, l.trash(word)...)
		case completeTeams:
			found = append(found, startingWith(l.teams(), word)...)
		case completeTeamIDs:
			found = append(found, startingWith(l.teamIDs(), word)...)
		case completeTopics:
			for _, topic := range guide.Topics() {
				found = append(found, candidate{topic.Name, topic.Summary})
			}
			found = startingWith(found, word)
		case completeBounds:
			for _, name := range team.BoundNames() {
				found = append(found, candidate{text: name + "="})
			}
			found = startingWith(found, word)
		case completeMembers:
			found = append(found, startingWith(l.members(), word)...)
		case completeAgents:
			found = append(found, startingWith(l.agents(), word)...)
		case completeDevices:
			found = append(found, startingWith(l.devices(), word)...)
		}
	}
	return found, files
}

// kind is what the value of a flag or an argument names.
type kind int

const (
	completeFiles kind = iota
	completeSessions
	completeTrash
	completeTeams
	completeTeamIDs
	completeAgents
	completeDevices
	completeTopics
	completeBounds
	completeMembers
)

// completed maps the names of flags and arguments, in any command, to their kinds. A
// tag complete:"…" replaces the name.
var completed = map[string][]kind{
	"id": {completeSessions}, "resume": {completeSessions}, "continue": {completeSessions},
	"session": {completeSessions}, "trashed": {completeTrash},
	"team-id": {completeTeamIDs}, "team": {completeTeams, completeFiles}, "with-team": {completeTeams, completeFiles},
	"file": {completeTeams, completeFiles}, "name": {completeAgents}, "agents": {completeAgents},
	"topic": {completeTopics}, "budget": {completeBounds}, "member": {completeMembers},
	"device": {completeDevices}, "allow": {completeFiles},
	"path": {completeFiles}, "dir": {completeFiles}, "session-file": {completeFiles},
	"output-file": {completeFiles}, "home": {completeFiles}, "log-file": {completeFiles}, "command": {completeFiles},
	"token-file": {completeFiles}, "tls-cert": {completeFiles}, "tls-key": {completeFiles},
}

func startingWith(all []candidate, word string) []candidate {
	return slices.DeleteFunc(all, func(c candidate) bool { return !strings.HasPrefix(c.text, word) })
}
