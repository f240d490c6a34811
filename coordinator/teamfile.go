package coordinator

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/schemas"
)

// ErrTeamNotFound is in the chain of every TeamNotFoundError.
var ErrTeamNotFound = errors.New("team not found")

// A TeamNotFoundError says which team there is no configuration of, and where it would be.
type TeamNotFoundError struct {
	Name   string
	Looked []string // paths, in the order in which they were tried
}

func (e *TeamNotFoundError) Error() string {
	if len(e.Looked) == 0 {
		return fmt.Sprintf("%v: %q", ErrTeamNotFound, e.Name)
	}
	return fmt.Sprintf("%v: %q (looked for %s)", ErrTeamNotFound, e.Name, strings.Join(e.Looked, ", "))
}

func (e *TeamNotFoundError) Unwrap() error { return ErrTeamNotFound }

// FindTeam returns the path of the configuration that a name stands for: the file of this
// path, as it is or below cwd; else the configuration of this name, with or without
// ".json", in <cwd>/.agent-chatter/team-config, else in <home>/team-config. A name with a path
// separator in it is only tried as a file. When there is nothing the error is a
// *TeamNotFoundError; when a place may not be looked at, the error of the operating system.
func FindTeam(name, cwd, home string) (path string, err error) {
	looked := teamPaths(name, cwd, home)
	for _, path := range looked {
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.IsDir():
			return path, nil
		case errors.Is(err, fs.ErrPermission):
			return "", fmt.Errorf("team %q: %w", name, err)
		}
	}
	return "", &TeamNotFoundError{Name: name, Looked: looked}
}

// teamPaths is where the configuration of a name may be, the best place first.
func teamPaths(name, cwd, home string) []string {
	if name == "" {
		return nil
	}
	if filepath.IsAbs(name) {
		return []string{name}
	}
	paths := []string{filepath.Join(cwd, name)}
	if isPath(name) {
		return paths
	}
	file := strings.TrimSuffix(name, ".json") + ".json"
	return append(paths,
		filepath.Join(cwd, ".agent-chatter", "team-config", file),
		filepath.Join(home, "team-config", file))
}

// LoadTeam reads the configuration file at path. What it leaves out about an agent is taken
// from the agent registry in the directory home. Relative paths in the file are relative to
// its directory, and "~" is the user's home directory; none of them needs to exist.
//
// A file that breaks rules gives a *schemas.InvalidError with all of its faults, one of
// another version a *schemas.VersionError; a registry that is needed and broken is an error
// of the same kinds that names the registry.
func LoadTeam(path, home string) (*Team, error) {
	team, err := loadTeam(path, home)
	if err != nil {
		return nil, fmt.Errorf("team file %s: %w", path, err)
	}
	return team, nil
}

func loadTeam(path, home string) (*Team, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	content, err := readFile(path)
	if err != nil {
		return nil, err
	}
	reading := &teamReading{dir: filepath.Dir(path), registry: registry{dir: filepath.Join(home, "agents")}}
	document := withoutBOM(content)
	if err := reading.check(document); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	team := reading.team(document)
	team.Source = &Source{Path: path, SHA256: hex.EncodeToString(sum[:])}
	return team, reading.err()
}

// readFile is os.ReadFile, less the path in its error: the caller says it.
func readFile(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return nil, e.Err
	}
	return content, err
}

// withoutBOM is the content less the byte order mark that some editors write.
func withoutBOM(content []byte) []byte {
	return bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
}

// teamJSON is the configuration file. Fields whose form no schema promises are raw; numbers
// are floats, since 3.0 is an integer to a schema.
type teamJSON struct {
	Team struct {
		Name            string       `json:"name"`
		DisplayName     string       `json:"displayName"`
		Description     string       `json:"description"`
		InstructionFile string       `json:"instructionFile"`
		Members         []memberJSON `json:"members"`
	} `json:"team"`
	Agents       []agentJSON `json:"agents"`
	MaxRounds    float64     `json:"maxRounds"`
	Conversation struct {
		MaxAgentResponseTime *float64 `json:"maxAgentResponseTime"` // milliseconds
		ShowThinkingTimer    *bool    `json:"showThinkingTimer"`
		AllowEscCancel       *bool    `json:"allowEscCancel"`
	} `json:"conversation"`
}

type memberJSON struct {
	Name              string            `json:"name"`
	DisplayName       string            `json:"displayName"`
	Type              string            `json:"type"`
	Role              string            `json:"role"`
	AgentType         string            `json:"agentType"`
	Engine            json.RawMessage   `json:"engine"`
	Model             json.RawMessage   `json:"model"`
	Permissions       json.RawMessage   `json:"permissions"`
	Order             json.RawMessage   `json:"order"`
	SystemInstruction json.RawMessage   `json:"systemInstruction"`
	InstructionFile   string            `json:"instructionFile"`
	BaseDir           string            `json:"baseDir"`
	Env               map[string]string `json:"env"`
}

// agentJSON is an agent of a configuration file, or of the registry.
type agentJSON struct {
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Args    []string `json:"args"` // nil when the file has none, not even an empty list
}

// A teamReading is one configuration file while it is read, with the faults found so far.
// The rules run even over a file that the schema refuses, so that its author hears of
// everything at once.
type teamReading struct {
	dir      string // of the file
	registry registry
	problems []schemas.Problem
}

// check checks the document against the schema and keeps the problems. What leaves nothing
// to go on with is returned.
func (r *teamReading) check(document []byte) error {
	err := schemas.Check(schemas.CLIConfig, document)
	invalid := (*schemas.InvalidError)(nil)
	if !errors.As(err, &invalid) || !json.Valid(document) {
		return err
	}
	r.problems = slices.Clone(invalid.Problems)
	return nil
}

// err is what the reading found wrong, nil when that is nothing.
func (r *teamReading) err() error {
	var found error
	if len(r.problems) > 0 {
		found = &schemas.InvalidError{Schema: schemas.CLIConfig, Problems: r.problems}
	}
	if !r.registry.missed {
		return found
	}
	return errors.Join(found, r.registry.err)
}

// unlessSaid keeps that a field of the object is of the wrong form, unless the schema has
// said something about the field, or that the object lacks it.
func (r *teamReading) unlessSaid(object, field, message string) {
	path := object + "/" + field
	said := func(p schemas.Problem) bool {
		return p.Path == path || p.Path == object && strings.Contains(p.Message, field)
	}
	if !slices.ContainsFunc(r.problems, said) {
		r.problem(path, "%s", message)
	}
}

// problem keeps a fault.
func (r *teamReading) problem(path, format string, args ...any) {
	r.problems = append(r.problems, schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// team makes the team of the document.
func (r *teamReading) team(document []byte) *Team {
	var file teamJSON
	// The schema has named every value of the wrong type; it is left out here.
	_ = json.Unmarshal(document, &file)
	r.checkNames(file)
	r.checkTypes(file)
	r.checkAgents(file.Agents)
	conversation := file.Conversation
	return &Team{
		ID:                   file.Team.Name,
		Name:                 file.Team.Name,
		DisplayName:          cmp.Or(file.Team.DisplayName, file.Team.Name),
		Description:          file.Team.Description,
		Members:              r.members(file),
		MaxRounds:            int(min(file.MaxRounds, math.MaxInt32)),
		InstructionFile:      r.path("/team/instructionFile", r.dir, file.Team.InstructionFile),
		MaxAgentResponseTime: responseTime(conversation.MaxAgentResponseTime),
		ShowThinkingTimer:    orTrue(conversation.ShowThinkingTimer),
		AllowEscCancel:       orTrue(conversation.AllowEscCancel),
	}
}

// responseTime is a duration of so many milliseconds, as long as there are durations.
func responseTime(ms *float64) time.Duration {
	if ms == nil {
		return defaultResponseTime
	}
	const most = float64(math.MaxInt64 / int64(time.Millisecond))
	if *ms >= most {
		return math.MaxInt64
	}
	return time.Duration(*ms) * time.Millisecond
}

func orTrue(b *bool) bool { return b == nil || *b }

// checkNames reports members that a marker could not tell apart, and agents that a member
// could not.
func (r *teamReading) checkNames(file teamJSON) {
	seen := map[string]string{}
	for i, m := range file.Team.Members {
		if m.Name == "" {
			continue
		}
		key := cmp.Or(matchKey(m.Name), m.Name)
		other, taken := seen[key]
		switch path := memberPath(i) + "/name"; {
		case !taken:
			seen[key] = m.Name
		case other == m.Name:
			r.problem(path, "%q is the name of another member, too", m.Name)
		default:
			r.problem(path, "%q cannot be told from %q in a marker: names are compared without case, '-' and '_'", m.Name, other)
		}
	}
	agents := map[string]bool{}
	for i, a := range file.Agents {
		if agents[a.Name] && a.Name != "" {
			r.problem(agentPath(i)+"/name", "%q is the name of another agent, too", a.Name)
		}
		agents[a.Name] = true
	}
}

// checkTypes reports a team that lacks one type of member.
func (r *teamReading) checkTypes(file teamJSON) {
	if len(file.Team.Members) == 0 {
		return // which is what the schema says
	}
	for _, t := range []string{MemberHuman, MemberAI} {
		if !slices.ContainsFunc(file.Team.Members, func(m memberJSON) bool { return m.Type == t }) {
			r.problem("/team/members", "must have at least one member of type %q", t)
		}
	}
}

// checkAgents reports agents of the file that nobody could start.
func (r *teamReading) checkAgents(agents []agentJSON) {
	for i, a := range agents {
		if a.Name == "" {
			continue
		}
		registered, ok := r.registry.agent(a.Name)
		switch {
		case ok && a.Command != "" && r.commandPath(a.Command) != registered.Command:
			r.problem(agentPath(i)+"/command", "must not differ from the registered command %q: a team may change the arguments of a registered agent, not its command", registered.Command)
		case !ok && a.Command == "" && !r.registry.miss():
			r.problem(agentPath(i), "agent %q is not registered and must have a command", a.Name)
		}
	}
}

// members makes the members, in their order.
func (r *teamReading) members(file teamJSON) []Member {
	type ordered struct {
		Member
		order float64
	}
	all := make([]ordered, len(file.Team.Members))
	for i, m := range file.Team.Members {
		all[i] = ordered{r.member(memberPath(i), m), r.order(i, m.Order)}
		if all[i].Type == MemberAI && all[i].EngineName() == EngineCommand {
			r.findCommand(memberPath(i), &all[i].Member, file.Agents)
		}
	}
	slices.SortStableFunc(all, func(a, b ordered) int { return cmp.Compare(a.order, b.order) })
	members := make([]Member, len(all))
	for i, m := range all {
		members[i] = m.Member
	}
	return members
}

// order is the place that a member asks for; without one, where it stands in the file.
func (r *teamReading) order(i int, raw json.RawMessage) float64 {
	if raw == nil {
		return float64(i)
	}
	var order *float64
	if err := json.Unmarshal(raw, &order); err != nil || order == nil || *order < 0 {
		r.unlessSaid(memberPath(i), "order", "must be a number that is not negative")
		return float64(i)
	}
	return *order
}

// member makes one member, still without its command.
func (r *teamReading) member(path string, m memberJSON) Member {
	baseDir := r.path(path+"/baseDir", r.dir, cmp.Or(m.BaseDir, "."))
	member := Member{
		ID:                m.Name,
		Name:              m.Name,
		DisplayName:       m.DisplayName,
		Type:              m.Type,
		Role:              m.Role,
		AgentType:         m.AgentType,
		Engine:            r.text(path, "engine", m.Engine),
		Model:             r.text(path, "model", m.Model),
		Permissions:       r.text(path, "permissions", m.Permissions),
		SystemInstruction: instruction(m.SystemInstruction),
		InstructionFile:   r.path(path+"/instructionFile", baseDir, cmp.Or(m.InstructionFile, defaultInstructionFile(m))),
		BaseDir:           baseDir,
		Env:               m.Env,
	}
	engines := []string{EngineCommand, EngineDemo}
	if member.Type == MemberAI && !slices.Contains(engines, member.EngineName()) {
		r.problem(path+"/engine", "there is no engine %q; the engines are %s", member.Engine, strings.Join(engines, ", "))
	}
	return member
}

// defaultInstructionFile is where an agent of the member's type looks for instructions.
func defaultInstructionFile(m memberJSON) string {
	switch {
	case m.Type != MemberAI:
		return ""
	case m.AgentType == "claude":
		return "CLAUDE.md"
	case m.AgentType == "gemini":
		return "GEMINI.md"
	}
	return "AGENTS.md"
}

// instruction is a text, or an array of its lines.
func instruction(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var lines []string
	_ = json.Unmarshal(raw, &lines) // the schema allows nothing else
	return strings.Join(lines, "\n")
}

// text is the value of an optional field that the schema leaves open.
func (r *teamReading) text(object, field string, raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	var text *string
	if err := json.Unmarshal(raw, &text); err != nil || text == nil {
		r.unlessSaid(object, field, "must be a string")
		return ""
	}
	return *text
}

// findCommand gives a member what starts its agent: the agent of the file, completed by the
// registered one of the same name.
func (r *teamReading) findCommand(path string, m *Member, agents []agentJSON) {
	if m.AgentType == "" {
		r.unlessSaid(path, "agentType", "must name an agent")
		return
	}
	i := slices.IndexFunc(agents, func(a agentJSON) bool { return a.Name == m.AgentType })
	registered, ok := r.registry.agent(m.AgentType)
	m.Command, m.Args = registered.Command, registered.Args
	switch {
	case i >= 0:
		if agents[i].Command != "" {
			m.Command = r.commandPath(agents[i].Command)
		}
		if agents[i].Args != nil {
			m.Args = agents[i].Args
		}
	case !ok && !r.registry.miss():
		r.problem(path+"/agentType", "agent %q is neither in the agents of this file nor registered: add it to agents, with a command", m.AgentType)
	}
}

// commandPath is the command of an agent of the file, absolute when it is a path.
func (r *teamReading) commandPath(command string) string {
	return absoluteCommand(r.dir, command)
}

// absoluteCommand is the command as it can be run from any directory. A bare name stays,
// to be looked up in PATH.
func absoluteCommand(dir, command string) string {
	if !isPath(command) {
		return command
	}
	if path, err := absolute(dir, command); err == nil {
		return path
	}
	return command // starting it fails, and says so
}

// path is the absolute path of what the file names, "" of "".
func (r *teamReading) path(where, dir, name string) string {
	path, err := absolute(dir, name)
	if err != nil {
		r.problem(where, "%v", err)
	}
	return path
}

// absolute is the absolute path of a name below dir; "" of "". A leading "~" is the user's
// home directory.
func absolute(dir, name string) (string, error) {
	rest, tilde := strings.CutPrefix(name, "~")
	switch {
	case name == "" || filepath.IsAbs(name):
		return name, nil
	case !tilde || rest != "" && !os.IsPathSeparator(rest[0]):
		return filepath.Join(dir, name), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no home directory for %q: %w", name, err)
	}
	return filepath.Join(home, rest), nil
}

// isPath reports whether a name says where it is.
func isPath(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(byte(r)) })
}

func memberPath(i int) string { return fmt.Sprintf("/team/members/%d", i) }

func agentPath(i int) string { return fmt.Sprintf("/agents/%d", i) }

// A registry is the agents that are installed for all teams: config.json in dir. It is read
// when it is first asked, and whether it is broken matters only if it is missed.
type registry struct {
	dir    string
	read   bool
	agents map[string]agentJSON
	err    error // why it cannot be used
	missed bool  // an agent was wanted that only the broken registry may have
}

// agent returns the registered agent of the name, with a command that runs from anywhere.
// There is none in a registry that is missing, or broken.
func (r *registry) agent(name string) (agentJSON, bool) {
	if !r.read {
		r.read = true
		r.agents, r.err = readRegistry(filepath.Join(r.dir, "config.json"))
	}
	a := r.agents[name]
	a.Command = absoluteCommand(r.dir, a.Command)
	return a, a.Command != ""
}

// miss notes that an agent was not found, and reports whether a broken registry is why.
func (r *registry) miss() bool {
	r.missed = r.missed || r.err != nil
	return r.missed
}

// readRegistry reads the registry at path. One that is not there is empty.
func readRegistry(path string) (map[string]agentJSON, error) {
	content, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	document := withoutBOM(content)
	if err == nil {
		err = schemas.Check(schemas.AgentRegistry, document)
	}
	var file struct {
		Agents map[string]agentJSON `json:"agents"`
	}
	if err == nil {
		err = json.Unmarshal(document, &file)
	}
	if err != nil {
		return nil, fmt.Errorf("agent registry %s: %w", path, err)
	}
	return file.Agents, nil
}
