package agent

import (
	"fmt"
	"strings"
)

// policyFor returns the content of the agent's policy file for servers; "" is none.
func (h acpHabits) policyFor(servers []MCPServer) string {
	if h.policy == nil {
		return ""
	}
	return h.policy(servers)
}

// writePolicy writes the agent's policy file, if servers need one, and returns the argument that names it. remove
// removes the file.
func (h acpHabits) writePolicy(servers []MCPServer) (args []string, remove func(), err error) {
	policy := h.policyFor(servers)
	if policy == "" {
		return nil, func() {}, nil
	}
	path, remove, err := newRunFile("policy.toml", []byte(policy))
	if err != nil {
		return nil, nil, err
	}
	return []string{"--policy=" + path}, remove, nil
}

// geminiPolicy returns rules that allow the tools of servers that change nothing.
func geminiPolicy(servers []MCPServer) string {
	var rules strings.Builder
	for _, s := range servers {
		if s.ReadOnly {
			fmt.Fprintf(&rules, "[[rule]]\nmcpName = %s\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 900\n",
				tomlString(s.Name))
		}
	}
	return rules.String()
}
