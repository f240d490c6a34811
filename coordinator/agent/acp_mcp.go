package agent

import (
	"maps"
	"slices"

	sdk "github.com/coder/acp-go-sdk"
)

// takes reports whether the agent takes a server.
func (a *acpAgent) takes(s MCPServer) bool {
	switch s.Type {
	case mcpHTTP:
		return a.TakesHTTP
	case mcpSSE:
		return a.TakesSSE
	}
	return s.Type == ""
}

// acpServersOf returns servers as the protocol has them.
func acpServersOf(servers []MCPServer) []sdk.McpServer {
	all := make([]sdk.McpServer, len(servers))
	for i, s := range servers {
		switch s.Type {
		case mcpHTTP:
			headers := acpHeaders(s.Headers)
			all[i].Http = &sdk.McpServerHttpInline{Type: s.Type, Name: s.Name, Url: s.URL, Headers: headers}
		case mcpSSE:
			headers := acpHeaders(s.Headers)
			all[i].Sse = &sdk.McpServerSseInline{Type: s.Type, Name: s.Name, Url: s.URL, Headers: headers}
		default:
			env := []sdk.EnvVariable{} // required
			for _, name := range slices.Sorted(maps.Keys(s.Env)) {
				env = append(env, sdk.EnvVariable{Name: name, Value: s.Env[name]})
			}
			args := append([]string{}, s.Args...) // likewise
			all[i].Stdio = &sdk.McpServerStdio{Name: s.Name, Command: s.Command, Args: args, Env: env}
		}
	}
	return all
}

func acpHeaders(headers map[string]string) []sdk.HttpHeader {
	all := []sdk.HttpHeader{} // required
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		all = append(all, sdk.HttpHeader{Name: name, Value: headers[name]})
	}
	return all
}
