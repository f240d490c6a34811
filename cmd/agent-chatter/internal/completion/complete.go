package completion

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/guide"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/agents"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/alecthomas/kong"
)

// Complete is the hidden command __complete. It prints the completions of the last
// word, one a line: the text, a tab and a description. The line ":files" asks the shell
// to complete names of files.
type Complete struct {
	Shell string   `help:"Calling shell." enum:"bash,zsh,fish" default:"fish"`
	Words []string `arg:"" optional:"" help:"Words after the program name; completes the last."`
}

// completable is how many sessions are completed by title and id.
const completable = 1000

// candidate is a completion of a word.
type candidate struct{ text, what string }

// Run implements the command.
func (cmd *Complete) Run(a *app.App, k *kong.Kong) error {
	words := cmd.Words
	fixed := "" // the part of the last word that the shell does not replace
	if cmd.Shell == "bash" {
		words, fixed = bashWords(words)
	}
	if len(words) == 0 {
		words = []string{""}
	}
	l := &commandLine{app: a, node: k.Model.Node}
	for _, word := range words[:len(words)-1] {
		l.take(word)
	}
	last := words[len(words)-1]
	found, files := l.candidates(last)
	for _, c := range found {
		if text, ok := strings.CutPrefix(c.text, fixed); ok {
			fmt.Fprintf(a.Stdout, "%s\t%s\n", text, tty.SafeLine(c.what))
		}
	}
	if files {
		fmt.Fprintln(a.Stdout, ":files")
	}
	return nil
}

// bashWords joins the parts into which bash splits words at = and :, and removes their
// quotes and backslashes. fixed is the part of the last word that bash does not
// replace.
func bashWords(parts []string) (words []string, fixed string) {
	for i, part := range parts {
		text := unquoted(part)
		glued := i > 0 && (breaksWord(part) || breaksWord(parts[i-1]))
		switch {
		case !glued:
			words, fixed = append(words, text), ""
		default:
			fixed = words[len(words)-1]
			words[len(words)-1] += text
			if breaksWord(part) {
				fixed += text
			}
		}
	}
	return words, fixed
}

func breaksWord(part string) bool { return part != "" && strings.Trim(part, "=:") == "" }

// unquoted removes the quotes and backslashes of a shell from a word, whose last quote
// may be open.
func unquoted(word string) string {
	var b strings.Builder
	var quote byte
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == '\\' && quote != '\'' && i+1 < len(word):
			i++
			b.WriteByte(word[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// commandLine is an incomplete command line after the words taken so far.
type commandLine struct {
	app   *app.App
	node  *kong.Node
	args  int        // arguments so far
	flag  *kong.Flag // the flag whose value follows; nil if none
	plain bool       // after --, where nothing is a flag
}

// take adds a complete word.
func (l *commandLine) take(word string) {
	flag := l.flag
	l.flag = nil
	switch {
	case flag != nil && !(mayStandAlone(flag) && strings.HasPrefix(word, "-")):
		l.setHome(flag, word)
	case l.plain || word == "-" || !strings.HasPrefix(word, "-"):
		l.takeArgument(word)
	case word == "--":
		l.plain = true
	case strings.HasPrefix(word, "--"):
		name, value, has := strings.Cut(word[2:], "=")
		if flag := l.flagNamed(func(f *kong.Flag) bool { return f.Name == name }); flag != nil {
			l.takeFlag(flag, value, has)
		}
	default:
		l.takeShort(word[1:])
	}
}

func (l *commandLine) takeFlag(f *kong.Flag, value string, has bool) {
	switch {
	case f.IsBool():
	case has:
		l.setHome(f, value)
	default:
		l.flag = f
	}
}

// takeShort takes flags of one letter; a value may follow the last one.
func (l *commandLine) takeShort(letters string) {
	for i, letter := range letters {
		f := l.flagNamed(func(f *kong.Flag) bool { return f.Short == letter })
		if f == nil || !f.IsBool() {
			if f != nil {
				value := letters[i+len(string(letter)):]
				l.takeFlag(f, value, value != "")
			}
			return
		}
	}
}

// setHome uses the home that the command line names.
func (l *commandLine) setHome(f *kong.Flag, value string) {
	if f.Name != "home" {
		return
	}
	if a, err := app.New(l.app.IO, app.Options{Home: value}); err == nil {
		l.app = a
	}
}

func (l *commandLine) takeArgument(word string) {
	if l.args == 0 && !l.plain {
		for _, child := range l.node.Children {
			if child.Name == word || slices.Contains(child.Aliases, word) {
				l.node = child
				return
			}
		}
	}
	if l.node.DefaultCmd != nil {
		l.node = l.node.DefaultCmd
	}
	l.args++
}

// flags returns the flags of the command.
func (l *commandLine) flags() []*kong.Flag {
	node := l.node
	if node.DefaultCmd != nil {
		node = node.DefaultCmd
	}
	return slices.Concat(node.AllFlags(true)...)
}

func (l *commandLine) flagNamed(is func(*kong.Flag) bool) *kong.Flag {
	for _, f := range l.flags() {
		if is(f) {
			return f
		}
	}
	return nil
}

// candidates returns the completions of a word, and whether a file may complete it.
func (l *commandLine) candidates(word string) (found []candidate, files bool) {
	if name, value, has := strings.Cut(word, "="); has && strings.HasPrefix(name, "--") && !l.plain && l.flag == nil {
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
		if strings.HasPrefix("--"+f.Name, word) {
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
	_, optional := f.Target.Addr().Interface().(*chat.OptionalID)
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
		case completeAgents:
			found = append(found, startingWith(l.agents(), word)...)
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
	completeTopics
)

// completed maps the names of flags and arguments, in any command, to their kinds. A
// tag complete:"…" replaces the name.
var completed = map[string][]kind{
	"id": {completeSessions}, "resume": {completeSessions}, "continue": {completeSessions},
	"session": {completeSessions}, "trashed": {completeTrash},
	"team-id": {completeTeamIDs}, "team": {completeTeams, completeFiles}, "with-team": {completeTeams, completeFiles},
	"file": {completeTeams, completeFiles}, "name": {completeAgents}, "agents": {completeAgents},
	"topic": {completeTopics}, "path": {completeFiles}, "session-file": {completeFiles},
	"output-file": {completeFiles}, "home": {completeFiles}, "log-file": {completeFiles}, "command": {completeFiles},
}

func startingWith(all []candidate, word string) []candidate {
	return slices.DeleteFunc(all, func(c candidate) bool { return !strings.HasPrefix(c.text, word) })
}

// sessions returns the names of sessions that start with the word, newest first: the
// suffix of the id that lists show, the whole id if the word starts one, and titles.
func (l *commandLine) sessions(word string) []candidate {
	list, err := l.app.Catalog.List(context.Background(), catalog.Query{Limit: completable})
	if err != nil || len(list.Sessions) == 0 {
		return nil
	}
	sessions := list.Sessions
	short := catalog.ShortIDs(sessions, list.Matches...)
	found := startingWith([]candidate{{catalog.LatestName, sessions[0].Title}}, word)
	titles := map[string]bool{}
	for _, s := range sessions {
		switch upper := strings.ToUpper(word); {
		case strings.HasPrefix(short[s.ID], upper):
			found = append(found, candidate{short[s.ID], s.Title})
		case strings.HasPrefix(s.ID, upper):
			found = append(found, candidate{s.ID, s.Title})
		}
		matches := word != "" && len(s.Title) >= len(word) && strings.EqualFold(s.Title[:len(word)], word)
		if matches && !titles[s.Title] && tty.SafeLine(s.Title) == s.Title {
			titles[s.Title] = true
			found = append(found, candidate{s.Title, s.ID})
		}
	}
	return found
}

// trash returns the ids of the sessions in the trash.
func (l *commandLine) trash(word string) []candidate {
	teams, err := l.app.Catalog.Teams()
	if err != nil {
		return nil
	}
	var found []candidate
	for _, t := range teams {
		trashed, err := t.Journals().ListTrash()
		if err != nil {
			continue
		}
		for _, item := range trashed {
			if strings.HasPrefix(item.ID, strings.ToUpper(word)) {
				found = append(found, candidate{item.ID, filepath.Base(t.Journals().Path())})
			}
		}
	}
	return found
}

// teams returns the teams that a chat can name.
func (l *commandLine) teams() []candidate {
	names := map[string]string{}
	if files, err := team.Files(l.app.Places()); err == nil {
		for _, f := range files {
			if !f.Hidden {
				names[f.Name] = cmp.Or(f.Path, "built in")
			}
		}
	}
	return candidatesOf(names)
}

// teamIDs returns the teams that have sessions.
func (l *commandLine) teamIDs() []candidate {
	names := map[string]string{}
	if list, err := l.app.Catalog.List(context.Background(), catalog.Query{Limit: completable}); err == nil {
		for _, s := range list.Sessions {
			names[s.TeamID] = ""
		}
	}
	return candidatesOf(names)
}

// agents returns the registered and the known agents.
func (l *commandLine) agents() []candidate {
	names := map[string]string{}
	if registered, err := team.RegisteredAgents(l.app.OwnHome); err == nil {
		for _, r := range registered {
			names[r.Name] = r.DisplayName
		}
	}
	for _, k := range agents.Known() {
		names[k.Name] = k.DisplayName
	}
	return candidatesOf(names)
}

func candidatesOf(names map[string]string) []candidate {
	var all []candidate
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if tty.SafeLine(name) == name {
			all = append(all, candidate{name, names[name]})
		}
	}
	return all
}
