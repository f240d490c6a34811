package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/redact"
)

// codexMCP adds the servers to those that the user has configured. Codex takes no other file than that of the user,
// and other users can read its arguments: what may be secret is in its environment, from which it passes variables
// on to the servers that name them.
func codexMCP(m Member, servers []MCPServer) (mcpSetup, error) {
	c := codexServers{member: m, setup: mcpSetup{env: map[string]string{}}}
	for _, s := range servers {
		value, ok := c.value(s)
		if !ok {
			c.setup.skipped = append(c.setup.skipped, s)
			continue
		}
		// Joined, so that it is not taken for the member's own -c.
		c.setup.args = append(c.setup.args, "--config=mcp_servers."+s.Name+"="+value)
	}
	return c.setup, nil
}

// codexServers is the configuration of the servers of a member.
type codexServers struct {
	member  Member
	setup   mcpSetup
	headers int // in the environment
}

// value returns the TOML value of a server. It returns false if Codex does not take the server.
func (c *codexServers) value(s MCPServer) (string, bool) {
	var fields []string
	field := func(name, value string) { fields = append(fields, name+"="+value) }
	switch s.Type {
	case "":
		inline, ok := c.addVariables(s.Env)
		if !ok {
			return "", false
		}
		field("command", tomlString(s.Command))
		field("args", tomlStrings(s.Args))
		field("env", tomlTable(inline))
		named := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Env)), func(name string) bool {
			_, isInline := inline[name]
			return isInline
		})
		field("env_vars", tomlStrings(named))
	case mcpHTTP:
		field("url", tomlString(s.URL))
		field("env_http_headers", tomlTable(c.addHeaders(s.Headers)))
	default:
		return "", false
	}
	if s.ReadOnly {
		field("default_tools_approval_mode", tomlString("approve"))
	}
	return "{" + strings.Join(fields, ",") + "}", true
}

// addVariables adds the variables of a server to the environment of Codex. It returns those that would change what
// Codex itself or another server gets, which may be in its arguments; false if one of these is a secret.
func (c *codexServers) addVariables(env map[string]string) (inline map[string]string, ok bool) {
	inline = map[string]string{}
	for name, value := range env {
		if c.changes(name, value) {
			if redact.Secret(name) {
				return nil, false
			}
			inline[name] = value
		}
	}
	for name, value := range env {
		if _, isInline := inline[name]; !isInline {
			c.setup.env[name] = value
		}
	}
	return inline, true
}

// changes reports whether a variable changes the environment of Codex or of another server, or what Codex does.
func (c *codexServers) changes(name, value string) bool {
	for _, prefix := range []string{"CODEX_", "OPENAI_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	for _, env := range []map[string]string{c.member.Env, c.setup.env} {
		if other, ok := env[name]; ok {
			return other != value
		}
	}
	other, inherited := os.LookupEnv(name)
	return inherited && other != value
}

// addHeaders adds the values of headers to the environment. It returns the names of their variables, by header.
func (c *codexServers) addHeaders(headers map[string]string) map[string]string {
	variables := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		c.headers++
		variables[name] = "AGENT_CHATTER_MCP_HEADER_" + strconv.Itoa(c.headers)
		c.setup.env[variables[name]] = headers[name]
	}
	return variables
}

// tomlString returns a string of TOML, whose escapes include those of JSON.
func tomlString(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // strings cannot fail
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007F`)
}

func tomlStrings(texts []string) string {
	encoded := make([]string, len(texts))
	for i, text := range texts {
		encoded[i] = tomlString(text)
	}
	return "[" + strings.Join(encoded, ",") + "]"
}

func tomlTable(table map[string]string) string {
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(table)) {
		fields = append(fields, fmt.Sprintf("%s=%s", tomlString(name), tomlString(table[name])))
	}
	return "{" + strings.Join(fields, ",") + "}"
}
