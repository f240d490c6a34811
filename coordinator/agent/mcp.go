package agent

import (
	"cmp"
	"slices"
)

// An MCPServer is a server of the Model Context Protocol.
type MCPServer struct {
	Name string // letters, digits, '-' and '_'
	// Setting is the name of the setting of a member for which the server is there; "" is none.
	Setting string
	// ReadOnly is whether the tools of the server change nothing: an agent uses them without asking.
	ReadOnly bool

	// Command, Args and Env start a server that speaks over its standard input and output.
	Command string
	Args    []string
	Env     map[string]string // may be secrets

	// Type is "http" (streamable HTTP) or "sse" for a server at URL; "" for one that Command starts.
	Type, URL string
	Headers   map[string]string // of the requests to URL; may be secrets
}

// The values of MCPServer.Type for a server with a URL.
const (
	mcpHTTP = "http"
	mcpSSE  = "sse"
)

// unsupportedServers returns events that report servers which an agent does not take.
func unsupportedServers(servers []MCPServer) (events []Event) {
	for _, s := range servers {
		e := Event(Unsupported{cmp.Or(s.Setting, SettingMCPServers)})
		if !slices.Contains(events, e) {
			events = append(events, e)
		}
	}
	return events
}

// yieldUnsupportedServers yields the events for servers that no agent of an engine takes, and reports whether the
// consumer wants more.
func yieldUnsupportedServers(servers []MCPServer, yield func(Event, error) bool) bool {
	return yieldAll(unsupportedServers(servers), yield)
}

// An mcpSetup configures the servers of a program.
type mcpSetup struct {
	args    []string          // before the member's own
	env     map[string]string // overrides the member's own
	skipped []MCPServer       // the agent does not take these
}

// split returns the servers that satisfy takes, and the others.
func split(servers []MCPServer, takes func(MCPServer) bool) (taken, skipped []MCPServer) {
	for _, s := range servers {
		if takes(s) {
			taken = append(taken, s)
		} else {
			skipped = append(skipped, s)
		}
	}
	return taken, skipped
}
