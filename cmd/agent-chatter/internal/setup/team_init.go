package setup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// teamInit is the command team init.
type teamInit struct {
	File   string   `arg:"" optional:"" help:"File to write, or name of the configuration."`
	Agents []string `help:"Agents in the team (default: those found)." placeholder:"AGENT"`
	Yes    bool     `short:"y" help:"Accept the defaults without asking."`
}

// Help shows examples first.
func (teamInit) Help() string {
	return `Examples:
  agent-chatter team init
  agent-chatter team init review --agents claude,codex
  agent-chatter team init team.json --yes`
}

// draft is a team configuration before it is written.
type draft struct {
	name, description string
	agents            []string // names of known or registered agents, or demo
	registered        []team.Agent
	human             string
	maxRounds         int
}

const (
	draftRounds      = 10
	draftDescription = "Agents and you"
)

// Run implements the command.
func (cmd *teamInit) Run(a *app.App) error {
	choices, err := findAgents(a)
	if err != nil {
		return err
	}
	path, name := cmd.place(a)
	if _, err := os.Lstat(path); err == nil {
		return app.Exit(app.ExitFailed, fileExistsText(path))
	}
	if found, err := team.Find(name, a.Places()); err == nil && filepath.Dir(path) == filepath.Join(a.Cwd, localTeams) {
		return app.Exit(app.ExitUsage, nameTakenText(name, found))
	}
	d := draft{
		name:        name,
		description: draftDescription,
		agents:      cmd.Agents,
		registered:  choices.registered,
		human:       "you",
		maxRounds:   draftRounds,
	}
	if u, err := user.Current(); err == nil && u.Username != "root" {
		d.human = plainName(filepath.Base(strings.ReplaceAll(u.Username, `\`, "/")), d.human)
	}
	if len(d.agents) == 0 {
		d.agents = choices.found
	}
	if a.IsTerminal() && !cmd.Yes {
		if err := askUser(a, &d, choices); err != nil {
			return err
		}
	}
	if unknown := choices.unknown(d.agents); len(unknown) > 0 {
		return app.Exit(app.ExitUsage, unknownAgentsText(unknown, choices.all()))
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	return writeTeam(ctx, a, path, d)
}

// writeTeam writes the configuration and prints how to use it.
func writeTeam(ctx context.Context, a *app.App, path string, d draft) error {
	baseDir := a.Cwd
	if relative, err := filepath.Rel(filepath.Dir(path), a.Cwd); err == nil && strings.Count(relative, "..") <= 2 {
		baseDir = filepath.ToSlash(relative)
	}
	content, err := d.file(baseDir)
	if err != nil {
		return err
	}
	if below, err := filepath.Rel(a.Home, path); err == nil && filepath.IsLocal(below) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	err = app.WriteAtomically(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.Stdout, path); err != nil {
		return err
	}
	if _, err := (teams.Loader{App: a}).Load(ctx, path); err != nil {
		return err // of the agent registry
	}
	a.Show(writtenTeamText(teamArgument(a, path)))
	return nil
}

// teamArgument returns how to name the team on a command line.
func teamArgument(a *app.App, path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".json")
	if found, err := team.Find(name, a.Places()); err == nil && found.Path == path {
		return name
	}
	if relative, err := filepath.Rel(a.Cwd, path); err == nil && filepath.IsLocal(relative) {
		return relative
	}
	return path
}

// place returns the path of the configuration and the name of the team. A bare name
// goes to the directory where commands look for teams by name.
func (cmd *teamInit) place(a *app.App) (path, name string) {
	file := cmd.File
	if file == "" {
		file = plainName(filepath.Base(a.Cwd), "team")
	}
	name = strings.TrimSuffix(filepath.Base(file), ".json")
	switch {
	case filepath.IsAbs(file):
		return file, name
	case file != filepath.Base(file) || strings.HasSuffix(file, ".json"):
		return filepath.Join(a.Cwd, file), name
	}
	return filepath.Join(a.Cwd, localTeams, file+".json"), name
}

// localTeams is where commands look for the teams of the working directory.
var localTeams = filepath.Join(".agent-chatter", "team-config")

// choices are the agents that a team can have.
type choices struct {
	found []string // installed or registered, one per program
	more  []string // other known agents

	registered []team.Agent
}

func (c choices) all() []string { return slices.Concat(c.found, c.more) }

func (c choices) unknown(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(c.all(), name) })
}

// findAgents returns the registered and the known agents. If none is installed, the
// demo is the only one found.
func findAgents(a *app.App) (choices, error) {
	registered, err := team.RegisteredAgents(a.OwnHome)
	if err != nil {
		return choices{}, err
	}
	c := choices{registered: registered}
	programs := map[string]bool{}
	for _, s := range scanPath() {
		if s.Found && !strings.HasSuffix(s.Name, acpSuffix) && !programs[s.Path] {
			programs[s.Path] = true
			c.found = append(c.found, s.Name)
		} else {
			c.more = append(c.more, s.Name)
		}
	}
	for _, r := range registered {
		if !slices.Contains(c.all(), r.Name) {
			c.found = append(c.found, r.Name)
		}
	}
	if len(c.found) == 0 {
		c.found = []string{team.EngineDemo}
	} else {
		c.more = append(c.more, team.EngineDemo)
	}
	return c, nil
}

// acpSuffix ends the name of an ACP server for another agent.
const acpSuffix = "-acp"

// askUser asks the user about the team. An empty answer keeps the default.
func askUser(a *app.App, d *draft, c choices) error {
	q := &questions{out: a.Stderr, in: tty.NewAnswers(a.Stdin)}
	a.Notice(agentChoiceText(c))
	d.description = q.ask("What is the team for?", d.description, nil)
	d.agents = strings.FieldsFunc(
		q.ask("Which agents are in the team?", strings.Join(d.agents, ", "), func(answer string) string {
			names := strings.FieldsFunc(answer, betweenNames)
			if unknown := c.unknown(names); len(unknown) > 0 {
				return a.Render(unknownAgentsText(unknown, c.all()))
			}
			if _, err := (draft{agents: names}).members(); err != nil {
				return err.Error()
			}
			return ""
		}),
		betweenNames,
	)
	d.human = q.ask("What is your name?", d.human, func(answer string) string {
		if answer != plainName(answer, "") {
			return textPlainName
		}
		return ""
	})
	rounds := q.ask(
		"How many turns may agents take between your messages? (0: no limit)",
		strconv.Itoa(d.maxRounds),
		func(answer string) string {
			if n, err := strconv.Atoi(answer); err != nil || n < 0 {
				return textRounds
			}
			return ""
		},
	)
	d.maxRounds, _ = strconv.Atoi(rounds)
	if q.err != nil {
		return app.Exit(app.ExitFailed, app.Message{Text: textNothingWritten})
	}
	return nil
}

func betweenNames(r rune) bool { return r == ',' || r == ' ' || r == '\t' }

// questions asks one question after another until the input ends.
type questions struct {
	out io.Writer
	in  *tty.Answers
	err error
}

// ask repeats a question until check has no complaint. An empty answer means the
// proposal.
func (q *questions) ask(question, proposal string, check func(answer string) (complaint string)) string {
	for q.err == nil {
		fmt.Fprintf(q.out, "%s [%s] ", question, tty.SafeLine(proposal))
		var answer string
		if answer, q.err = q.in.Next(); q.err != nil {
			fmt.Fprintln(q.out)
			break
		}
		answer = cmp.Or(answer, proposal)
		complaint := ""
		if check != nil {
			complaint = check(answer)
		}
		if complaint == "" {
			return answer
		}
		fmt.Fprintln(q.out, complaint)
	}
	return proposal
}

// plainName reduces a name to letters, digits, '-' and '_'. It returns fallback if
// nothing remains.
func plainName(name, fallback string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_':
			return r
		case r == ' ' || r == '.':
			return '-'
		}
		return -1
	}, name)
	return cmp.Or(strings.Trim(plain, "-"), fallback)
}

// teamFileJSON is a team configuration, version 1.2.
type teamFileJSON struct {
	SchemaVersion string       `json:"schemaVersion"`
	Team          teamPartJSON `json:"team"`
	MaxRounds     int          `json:"maxRounds"`
}

type teamPartJSON struct {
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Members     []teamMemberJSON `json:"members"`
}

type teamMemberJSON struct {
	Name              string `json:"name"`
	DisplayName       string `json:"displayName"`
	Role              string `json:"role"`
	Type              string `json:"type"`
	AgentType         string `json:"agentType,omitempty"`
	Engine            string `json:"engine,omitempty"`
	BaseDir           string `json:"baseDir"`
	SystemInstruction string `json:"systemInstruction"`
}

// file returns the configuration as JSON.
func (d draft) file(baseDir string) ([]byte, error) {
	members, err := d.members()
	if err != nil {
		return nil, err
	}
	for i := range members {
		members[i].BaseDir = baseDir
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(teamFileJSON{"1.2", teamPartJSON{d.name, d.description, members}, d.maxRounds})
	return b.Bytes(), err
}

// members returns the agents and the human.
func (d draft) members() ([]teamMemberJSON, error) {
	var members []teamMemberJSON
	for _, agent := range d.agents {
		for _, m := range d.membersOf(agent) {
			m.Type = team.AI
			if slices.ContainsFunc(members, func(other teamMemberJSON) bool { return other.Name == m.Name }) {
				return nil, app.UsageError("%s", duplicateText(m.Name))
			}
			members = append(members, m)
		}
	}
	human := d.human
	for slices.ContainsFunc(members, func(m teamMemberJSON) bool { return strings.EqualFold(m.Name, human) }) {
		human += "-human"
	}
	return append(members,
		teamMemberJSON{Name: human, DisplayName: titled(human), Role: "human", Type: team.Human}), nil
}

// membersOf returns the members for an agent: one, or the two of the demo.
func (d draft) membersOf(agent string) []teamMemberJSON {
	if agent == team.EngineDemo {
		var members []teamMemberJSON
		for _, m := range team.Demo().Members {
			if m.Type == team.AI {
				members = append(members,
					teamMemberJSON{Name: m.Name, DisplayName: m.DisplayName, Role: m.Role, AgentType: m.AgentType})
			}
		}
		return members
	}
	m := teamMemberJSON{Name: plainName(agent, "agent"), DisplayName: titled(agent), Role: "agent", AgentType: agent}
	if known, ok := knownAgent(agent); ok {
		m.DisplayName = known.DisplayName
		if known.Engine == "acp" {
			m.Engine, m.AgentType = known.Engine, strings.TrimSuffix(agent, acpSuffix)
		}
	} else if i := slices.IndexFunc(d.registered, func(r team.Agent) bool { return r.Name == agent }); i >= 0 {
		m.Engine = memberOf(d.registered[i]).Engine
	}
	return []teamMemberJSON{m}
}

// titled returns a name with a capital.
func titled(name string) string {
	_, size := utf8.DecodeRuneInString(name)
	return strings.ToUpper(name[:size]) + name[size:]
}

// The texts of teams.
const (
	textNothingWritten = "Nothing was written."
	textPlainName      = "A name may contain only letters, digits, '-' and '_'."
	textRounds         = "Enter a number, 0 or more."
)

func writtenTeamText(name string) app.Message {
	return app.Message{Help: []app.Help{
		app.To("chat with the team", "chat", "-t", name), app.To("verify its agents", "agents", "verify", "-t", name),
	}}
}

// nameTakenText is for a name that would still stand for another team.
func nameTakenText(name string, found team.File) app.Message {
	what := "is built in"
	if found.Path != "" {
		what = "is " + tty.SafeLine(found.Path)
	}
	return app.Text("The team %s %s, and a new one of that name would be hidden by it.", tty.SafeLine(name), what).
		With(app.To("use another name", "team", "init", "NAME"), app.To("name a file", "team", "init", name+".json"))
}

func fileExistsText(path string) app.Message {
	return app.Text("The file %s exists.", tty.SafeLine(path)).With(app.To("use another name", "team", "init", "NAME"))
}

func agentChoiceText(c choices) string {
	text := "Agents found: " + tty.SafeLine(strings.Join(c.found, ", "))
	if len(c.more) > 0 {
		text += "; others: " + tty.SafeLine(strings.Join(c.more, ", "))
	}
	return text
}

func unknownAgentsText(unknown, known []string) app.Message {
	return app.Text("Unknown agents: %s. Known are: %s.",
		tty.SafeLine(strings.Join(unknown, ", ")), tty.SafeLine(strings.Join(known, ", "))).
		With(app.To("add an agent", "agents", "register", "NAME", "PROGRAM"))
}

func duplicateText(name string) string {
	return fmt.Sprintf("Two members would have the name %s: name each agent once", tty.SafeLine(name))
}
