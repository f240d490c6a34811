package team

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
)

type memberJSON struct {
	Name              string            `json:"name"`
	DisplayName       string            `json:"displayName"`
	Type              string            `json:"type"`
	Role              string            `json:"role"`
	ThemeColor        string            `json:"themeColor"`
	AgentType         *string           `json:"agentType"`
	Engine            string            `json:"engine"`
	Model             string            `json:"model"`
	Thinking          *bool             `json:"thinking"`
	Recall            any               `json:"recall"`
	Permissions       string            `json:"permissions"`
	Memory            string            `json:"memory"`
	MaxContext        float64           `json:"maxContext"`       // tokens
	ContextWindow     float64           `json:"contextWindow"`    // tokens
	MaxAgentIdleTime  *float64          `json:"maxAgentIdleTime"` // milliseconds
	Endpoint          string            `json:"endpoint"`
	APIKeyEnv         string            `json:"apiKeyEnv"`
	Headers           map[string]string `json:"headers"`
	AllowTeamTask     bool              `json:"allowTeamTask"`
	DoneWord          string            `json:"doneWord"`
	Order             *float64          `json:"order"`
	SystemInstruction json.RawMessage   `json:"systemInstruction"`
	InstructionFile   string            `json:"instructionFile"`
	BaseDir           string            `json:"baseDir"`
	Worktree          *Worktree         `json:"worktree"`
	Env               map[string]string `json:"env"`
}

// checkMemberNames records names that are equal for Match.
func (r *fileReader) checkMemberNames(members []memberJSON) {
	seen := map[string]string{}
	for i, m := range members {
		if m.Name == "" {
			continue // the schema reports it
		}
		key := cmp.Or(matchKey(m.Name), m.Name)
		other, taken := seen[key]
		switch path := memberPath(i) + "/name"; {
		case !taken:
			seen[key] = m.Name
		case other == m.Name:
			r.problem(path, "%q is also the name of another member", m.Name)
		default:
			r.problem(path, "%q equals %q in a marker, which ignores case, '-' and '_'", m.Name, other)
		}
	}
}

// checkMemberTypes records a missing type of member.
func (r *fileReader) checkMemberTypes(members []memberJSON) {
	if len(members) == 0 {
		return // the schema reports it
	}
	for _, t := range []string{Human, AI} {
		if !slices.ContainsFunc(members, func(m memberJSON) bool { return m.Type == t }) {
			r.problem("/team/members", "must have at least one member of type %q", t)
		}
	}
}

// members returns the members sorted by their field order, which defaults to the index.
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

// member converts one member.
func (r *fileReader) member(path string, m memberJSON, agents []agentJSON) Member {
	baseDir := r.path(path+"/baseDir", r.dir, cmp.Or(m.BaseDir, "."))
	member := Member{
		ID:                m.Name,
		Name:              m.Name,
		DisplayName:       cmp.Or(m.DisplayName, m.Name),
		Type:              m.Type,
		Role:              m.Role,
		ThemeColor:        m.ThemeColor,
		Engine:            m.Engine,
		Model:             m.Model,
		Thinking:          m.Thinking,
		Recall:            recallScope(m.Recall),
		Permissions:       m.Permissions,
		Memory:            m.Memory,
		MaxContext:        int64(min(m.MaxContext, 1<<53)),
		ContextWindow:     int64(min(m.ContextWindow, 1<<53)),
		MaxAgentIdleTime:  milliseconds(m.MaxAgentIdleTime, 0),
		Endpoint:          m.Endpoint,
		APIKeyEnv:         cmp.Or(Referenced(m.APIKeyEnv), m.APIKeyEnv),
		Headers:           m.Headers,
		AllowTeamTask:     m.AllowTeamTask,
		DoneWord:          strings.TrimSpace(m.DoneWord),
		SystemInstruction: instruction(m.SystemInstruction),
		BaseDir:           baseDir,
		Worktree:          m.Worktree,
		Env:               m.Env,
	}
	r.checkEnv(path+"/env", m.Env)
	r.checkWorktree(path+"/worktree", m.Worktree)
	file := m.InstructionFile
	if m.Type == AI && m.AgentType != nil {
		member.AgentType = *m.AgentType
		file = cmp.Or(file, agent.ForType(member.AgentType).InstructionFile, "AGENTS.md")
		r.findEngine(path, &member, agents)
	}
	member.InstructionFile = r.path(path+"/instructionFile", baseDir, file)
	return member
}

// recallScope decodes true and "all". The schema allows nothing else but false.
func recallScope(value any) string {
	switch value {
	case true:
		return RecallTeam
	case RecallAll:
		return RecallAll
	}
	return ""
}

// findEngine validates the member's engine and its settings and sets its command.
func (r *fileReader) findEngine(path string, m *Member, agents []agentJSON) {
	info := m.EngineInfo()
	if info.Name == "" {
		var names []string
		for _, i := range agent.Infos() {
			names = append(names, i.Name)
		}
		r.problem(path+"/engine", "unknown engine %q; the engines are %s", m.Engine, strings.Join(names, ", "))
		return
	}
	if line := info.CommandLine(agent.Member{AgentType: m.AgentType, Model: m.Model}); line != nil {
		required := line[0] == ""
		r.findCommand(path, m, agents, required)
		if info.Protocol && !required && !agent.Runs(info.Name, m.Command) {
			m.Command, m.Args = "", nil // registered for the agent's own engine
		}
		if strings.HasPrefix(m.Model, "-") && slices.Contains(line, m.Model) {
			r.problem(path+"/model", "%v", errOption)
		}
	}
	if info.Permissions != nil && m.Permissions != "" && !slices.Contains(info.Permissions, m.Permissions) {
		r.problem(path+"/permissions", "%v", &PermissionsError{m.Permissions, info.Name, info.Permissions})
	}
	if info.Endpoint {
		u, err := url.Parse(m.Endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			r.problem(path+"/endpoint", "must be the URL of a chat completions API, such as http://localhost:11434/v1")
		}
		r.checkHeaders(path+"/headers", m.Headers)
	}
}

// checkEnv records names that stand for other variables: the system takes what precedes '=' for the name.
func (r *fileReader) checkEnv(path string, env map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			r.problem(path, "%q is no name of an environment variable", name)
		}
	}
}

// maxPorts is the most ports of a member.
const maxPorts = 100

// checkWorktree records a set-up command without a program, and too many ports.
func (r *fileReader) checkWorktree(path string, w *Worktree) {
	if w == nil {
		return
	}
	if len(w.Setup) > 0 && w.Setup[0] == "" {
		r.problem(path+"/setup", "must begin with a program")
	}
	for _, pattern := range w.Copy {
		if err := workspace.CheckPattern(pattern); err != nil {
			r.problem(path+"/copy", "%v", err)
		}
	}
	if w.Ports > maxPorts {
		r.problem(path+"/ports", "must be at most %d", maxPorts)
	}
}

// headerName matches the name of an HTTP header.
var headerName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
})

// checkHeaders records headers that cannot be sent, and secrets that are not references: a team file is
// shared.
func (r *fileReader) checkHeaders(path string, headers map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		value := headers[name]
		switch {
		case !headerName().MatchString(name):
			r.problem(path, "%q is no name of an HTTP header", name)
		case strings.ContainsFunc(value, unicode.IsControl):
			r.problem(path+"/"+name, "must have no control characters")
		case IsSecretHeader(name) && Referenced(value) == "":
			r.problem(path+"/"+name, "must name an environment variable, such as $API_KEY, since its value is a secret")
		}
	}
}

// IsSecretHeader reports whether the value of an HTTP header is a secret.
func IsSecretHeader(name string) bool {
	lower := strings.ToLower(name)
	return lower == "cookie" || strings.HasSuffix(lower, "authorization") ||
		redact.Secret(strings.ReplaceAll(name, "-", "_"))
}

// instruction decodes a string, or an array of lines.
func instruction(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var lines []string
	_ = json.Unmarshal(raw, &lines) // the schema allows nothing else
	return strings.Join(lines, "\n")
}

// findCommand sets the member's command and arguments: those of the file's agent, completed by the
// registered agent of the same name. It records a missing agent if the engine requires one.
func (r *fileReader) findCommand(path string, m *Member, agents []agentJSON, required bool) {
	i := slices.IndexFunc(agents, func(a agentJSON) bool { return a.Name == m.AgentType })
	registered, ok := r.registry.agent(m.AgentType)
	m.Command, m.Args = registered.Command, registered.Args
	switch {
	case i >= 0:
		if agents[i].Command != "" {
			m.Command = absoluteCommand(r.dir, agents[i].Command)
		}
		if agents[i].Args != nil {
			m.Args = agents[i].Args
		}
		if required && m.Command == "" && len(r.problems) == 0 {
			r.problem(path+"/agentType", "agent %q has no command, which the engine %s needs",
				m.AgentType, m.EngineName())
		}
	case !ok && r.registry.failed(), !required:
	case m.AgentType == "":
		r.problem(path+"/agentType", "must name an agent")
	case !ok:
		r.problem(path+"/agentType",
			"agent %q is neither registered nor in this file: add it to agents, with a command",
			m.AgentType)
	}
}

// absoluteCommand makes a command that is a path absolute. A bare name, which is looked up in
// PATH, stays.
func absoluteCommand(dir, command string) string {
	if !isPath(command) {
		return command
	}
	if path, err := absolute(dir, command); err == nil {
		return path
	}
	return command // starting it fails
}

func memberPath(i int) string { return fmt.Sprintf("/team/members/%d", i) }
