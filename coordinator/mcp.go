package coordinator

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// recallSetting is the name of team.Member.Recall in a team file.
const recallSetting = "recall"

// mcpServers returns the servers for a turn of a member. A server of Options.MCPServers whose name is that of the
// program's own is renamed.
func (c *Coordinator) mcpServers(m team.Member) []agent.MCPServer {
	var servers []agent.MCPServer
	switch scope := map[string]string{team.RecallTeam: c.team.ID, team.RecallAll: ""}; {
	case m.Recall == "":
	case c.o.Recall == nil:
		c.notifyUnsupported(m, recallSetting)
	default:
		own := c.o.Recall(scope[m.Recall])
		own.Setting, own.ReadOnly = recallSetting, true
		servers = append(servers, own)
	}
	for _, s := range c.o.MCPServers {
		s.Name, s.Setting, s.ReadOnly = serverName(s.Name, servers), "", false
		servers = append(servers, s)
	}
	return servers
}

// maxServerName is the length of the longest name of a server. A longer one makes the names of its tools longer
// than the APIs of models allow.
const maxServerName = 32

// serverName returns a name in the form that every agent takes, which no other server has.
func serverName(name string, others []agent.MCPServer) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, name)
	name = name[:min(len(name), maxServerName)]
	if strings.Trim(name, "-_") == "" {
		name = "server"
	}
	for i, first := 2, name; ; i++ {
		if !slices.ContainsFunc(others, func(o agent.MCPServer) bool { return o.Name == name }) {
			return name
		}
		name = fmt.Sprintf("%s-%d", first, i)
	}
}

// serverSecrets returns the variables and headers of servers that may be secrets.
func serverSecrets(servers []agent.MCPServer) []redact.Variable {
	var secrets []redact.Variable
	for _, s := range servers {
		for _, name := range slices.Sorted(maps.Keys(s.Env)) {
			secrets = append(secrets, redact.Variable{Name: name, Value: s.Env[name]})
		}
		for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
			if !team.IsSecretHeader(name) {
				continue
			}
			_, token, _ := strings.Cut(s.Headers[name], " ") // after a scheme such as Bearer
			for _, value := range []string{s.Headers[name], token} {
				secrets = append(secrets, redact.Variable{Name: name, Value: value, Certain: true})
			}
		}
	}
	return secrets
}

// notifyUnsupported reports once that a setting of a member has no effect.
func (c *Coordinator) notifyUnsupported(m team.Member, setting string) {
	if n := (SettingUnsupported{m.ID, setting}); !slices.Contains(c.unsupported, n) {
		c.unsupported = append(c.unsupported, n)
		c.notify(n)
	}
}
