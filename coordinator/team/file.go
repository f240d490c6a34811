package team

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
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// Load reads the configuration file at path. What it leaves out about an agent is taken
// from the agent registry in the directory home. Relative paths in the file are relative to
// its directory, and "~" is the user's home directory; none of them needs to exist.
//
// A file that breaks rules gives a *schemas.InvalidError with all of its faults, one of
// another version a *schemas.VersionError; a registry that is needed and broken is an error
// of the same kinds that names the registry.
func Load(path, home string) (*Team, error) {
	team, err := load(path, home)
	if err != nil {
		return nil, fmt.Errorf("team file %s: %w", path, err)
	}
	return team, nil
}

func load(path, home string) (*Team, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	content, err := readFile(path)
	if err != nil {
		return nil, err
	}
	reading := &fileReader{dir: filepath.Dir(path), registry: registry{dir: filepath.Join(home, "agents")}}
	document := withoutBOM(content)
	if err := reading.check(document); err != nil {
		return nil, err
	}
	team, err := reading.team(document)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	team.Source = &Source{Path: path, SHA256: hex.EncodeToString(sum[:])}
	return team, nil
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

// fileJSON is the configuration file. Numbers are floats, since 3.0 is an integer to a schema.
type fileJSON struct {
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
	AgentType         *string           `json:"agentType"`
	Engine            string            `json:"engine"`
	Model             string            `json:"model"`
	Permissions       string            `json:"permissions"`
	MaxAgentIdleTime  *float64          `json:"maxAgentIdleTime"` // milliseconds
	Endpoint          string            `json:"endpoint"`
	APIKeyEnv         string            `json:"apiKeyEnv"`
	AllowTeamTask     bool              `json:"allowTeamTask"`
	DoneWord          string            `json:"doneWord"`
	Order             *float64          `json:"order"`
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

// A fileReader is one configuration file while it is read, with the faults found so far.
// The rules run even over a file that the schema refuses, so that its author hears of
// everything at once.
type fileReader struct {
	dir      string // of the file
	registry registry
	problems []schemas.Problem
}

// check checks the document against the schema and keeps the problems. What leaves nothing
// to go on with is returned.
func (r *fileReader) check(document []byte) error {
	err := schemas.Check(schemas.CLIConfig, document)
	invalid := (*schemas.InvalidError)(nil)
	if !errors.As(err, &invalid) || !json.Valid(document) {
		return err
	}
	r.problems = slices.Clone(invalid.Problems)
	return nil
}

// err is what the reading found wrong, nil when that is nothing.
func (r *fileReader) err() error {
	var found error
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b schemas.Problem) int { return comparePaths(a.Path, b.Path) })
		found = &schemas.InvalidError{Schema: schemas.CLIConfig, Problems: r.problems}
	}
	if !r.registry.missed {
		return found
	}
	return errors.Join(found, r.registry.err)
}

// problem keeps a fault.
func (r *fileReader) problem(path, format string, args ...any) {
	r.problems = append(r.problems, schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// team makes the team of the document, or the error that says what is wrong with it.
func (r *fileReader) team(document []byte) (*Team, error) {
	var file fileJSON
	// A value of the wrong type is left out, and the schema has named it.
	if err := json.Unmarshal(document, &file); err != nil && len(r.problems) == 0 {
		return nil, err
	}
	r.checkMemberNames(file.Team.Members)
	r.checkMemberTypes(file.Team.Members)
	r.checkAgents(file.Agents)
	team := r.build(file)
	return team, r.err()
}

// build makes the team of a file, and notes the faults that show on the way.
func (r *fileReader) build(file fileJSON) *Team {
	conversation := file.Conversation
	return &Team{
		ID:                   file.Team.Name,
		Name:                 file.Team.Name,
		DisplayName:          cmp.Or(file.Team.DisplayName, file.Team.Name),
		Description:          file.Team.Description,
		Members:              r.members(file),
		MaxRounds:            int(min(file.MaxRounds, math.MaxInt32)),
		InstructionFile:      r.path("/team/instructionFile", r.dir, file.Team.InstructionFile),
		MaxAgentResponseTime: milliseconds(conversation.MaxAgentResponseTime, defaultResponseTime),
		ShowThinkingTimer:    orTrue(conversation.ShowThinkingTimer),
		AllowEscCancel:       orTrue(conversation.AllowEscCancel),
	}
}

// milliseconds is a duration of so many milliseconds, as long as there are durations; nil is
// the usual one.
func milliseconds(ms *float64, usual time.Duration) time.Duration {
	if ms == nil {
		return usual
	}
	const most = float64(math.MaxInt64 / int64(time.Millisecond))
	if *ms >= most {
		return math.MaxInt64
	}
	return time.Duration(*ms) * time.Millisecond
}

func orTrue(b *bool) bool { return b == nil || *b }

// checkMemberNames reports members that a marker could not tell apart.
func (r *fileReader) checkMemberNames(members []memberJSON) {
	seen := map[string]string{}
	for i, m := range members {
		if m.Name == "" {
			continue // which is what the schema says
		}
		key := cmp.Or(matchKey(m.Name), m.Name)
		other, taken := seen[key]
		switch path := memberPath(i) + "/name"; {
		case !taken:
			seen[key] = m.Name
		case other == m.Name:
			r.problem(path, "%q is the name of another member, too", m.Name)
		default:
			r.problem(path, "%q cannot be told from %q in a marker, where case, '-' and '_' do not count", m.Name, other)
		}
	}
}

// checkMemberTypes reports a team that lacks one type of member.
func (r *fileReader) checkMemberTypes(members []memberJSON) {
	if len(members) == 0 {
		return // which is what the schema says
	}
	for _, t := range []string{Human, AI} {
		if !slices.ContainsFunc(members, func(m memberJSON) bool { return m.Type == t }) {
			r.problem("/team/members", "must have at least one member of type %q", t)
		}
	}
}

// checkAgents reports agents of the file that a member could mean two of, and those that
// nobody could start.
func (r *fileReader) checkAgents(agents []agentJSON) {
	seen := map[string]bool{}
	for i, a := range agents {
		if a.Name == "" {
			continue // which is what the schema says
		}
		if seen[a.Name] {
			r.problem(agentPath(i)+"/name", "%q is the name of another agent, too", a.Name)
		}
		seen[a.Name] = true
		r.checkCommand(i, a)
	}
}

// checkCommand reports an agent of the file that has no command, or one of its own although
// it is registered.
func (r *fileReader) checkCommand(i int, a agentJSON) {
	registered, ok := r.registry.agent(a.Name)
	switch {
	case ok && a.Command != "" && r.commandPath(a.Command) != registered.Command:
		r.problem(agentPath(i)+"/command", "must not differ from the registered command %q: a team may change the arguments of a registered agent, not its command", registered.Command)
	case !ok && a.Command == "" && !r.registry.miss():
		r.problem(agentPath(i), "agent %q is not registered and must have a command", a.Name)
	}
}

// members makes the members, in the order that they ask for; one that does not ask stays
// where it stands in the file.
func (r *fileReader) members(file fileJSON) []Member {
	type ordered struct {
		Member
		order float64
	}
	all := make([]ordered, len(file.Team.Members))
	for i, m := range file.Team.Members {
		all[i] = ordered{r.member(memberPath(i), m, file.Agents), float64(i)}
		if m.Order != nil {
			all[i].order = *m.Order
		}
	}
	slices.SortStableFunc(all, func(a, b ordered) int { return cmp.Compare(a.order, b.order) })
	members := make([]Member, len(all))
	for i, m := range all {
		members[i] = m.Member
	}
	return members
}

// member makes one member.
func (r *fileReader) member(path string, m memberJSON, agents []agentJSON) Member {
	baseDir := r.path(path+"/baseDir", r.dir, cmp.Or(m.BaseDir, "."))
	member := Member{
		ID:                m.Name,
		Name:              m.Name,
		DisplayName:       m.DisplayName,
		Type:              m.Type,
		Role:              m.Role,
		Engine:            m.Engine,
		Model:             m.Model,
		Permissions:       m.Permissions,
		MaxAgentIdleTime:  milliseconds(m.MaxAgentIdleTime, 0),
		Endpoint:          m.Endpoint,
		APIKeyEnv:         cmp.Or(referenced(m.APIKeyEnv), m.APIKeyEnv),
		AllowTeamTask:     m.AllowTeamTask,
		DoneWord:          strings.TrimSpace(m.DoneWord),
		SystemInstruction: instruction(m.SystemInstruction),
		BaseDir:           baseDir,
		Env:               m.Env,
	}
	file := m.InstructionFile
	if m.Type == AI && m.AgentType != nil {
		member.AgentType = *m.AgentType
		file = cmp.Or(file, instructionFile(member.AgentType))
		r.findEngine(path, &member, agents)
	}
	member.InstructionFile = r.path(path+"/instructionFile", baseDir, file)
	return member
}

// findEngine checks the engine of a member, and gives it what the engine needs.
func (r *fileReader) findEngine(path string, m *Member, agents []agentJSON) {
	switch m.EngineName() {
	case EngineDemo:
	case EngineCommand:
		r.findCommand(path, m, agents, true)
	case EngineClaude, EngineCodex, EngineGemini:
		r.findCommand(path, m, agents, false)
		r.checkPermissions(path, m, agent.Permissions)
	case EngineACP:
		r.findCommand(path, m, agents, !agent.ServesACP(m.AgentType))
		if agent.ServesACP(m.AgentType) && !agent.Speaks(EngineACP, m.Command) {
			m.Command, m.Args = "", nil // of the agent's CLI, as it is registered for its own engine
		}
		r.checkPermissions(path, m, agent.Policies)
	case EngineOpenAI:
		r.checkEndpoint(path, m.Endpoint)
	default:
		r.problem(path+"/engine", "there is no engine %q; the engines are %s", m.Engine, strings.Join(engines, ", "))
	}
}

// checkPermissions reports permissions that are none of those that the engine knows.
func (r *fileReader) checkPermissions(path string, m *Member, known []string) {
	if m.Permissions != "" && !slices.Contains(known, m.Permissions) {
		r.problem(path+"/permissions", "there are no permissions %q for the engine %s; there are %s", m.Permissions, m.EngineName(), strings.Join(known, ", "))
	}
}

// checkEndpoint reports an endpoint that nobody could ask.
func (r *fileReader) checkEndpoint(path, endpoint string) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		r.problem(path+"/endpoint", "must be the address of an API for chat completions, such as http://localhost:11434/v1")
	}
}

// instructionFile is where an agent of the type looks for instructions.
func instructionFile(agentType string) string {
	switch agentType {
	case "claude", "claude-code":
		return "CLAUDE.md"
	case "gemini", "gemini-cli":
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

// findCommand gives a member what starts its agent: the agent of the file, completed by the
// registered one of the same name. Only an engine without a program of its own needs one.
func (r *fileReader) findCommand(path string, m *Member, agents []agentJSON, needed bool) {
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
	case !ok && r.registry.miss(), !needed:
	case m.AgentType == "":
		r.problem(path+"/agentType", "must name an agent")
	case !ok:
		r.problem(path+"/agentType", "agent %q is neither in the agents of this file nor registered: add it to agents, with a command", m.AgentType)
	}
}

// commandPath is the command of an agent of the file, absolute when it is a path.
func (r *fileReader) commandPath(command string) string {
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
func (r *fileReader) path(where, dir, name string) string {
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

// comparePaths orders JSON pointers as a reader meets them: item 2 before item 10.
func comparePaths(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(a, b string) int {
		i, errA := strconv.Atoi(a)
		j, errB := strconv.Atoi(b)
		if errA == nil && errB == nil {
			return cmp.Compare(i, j)
		}
		return cmp.Compare(a, b)
	})
}
