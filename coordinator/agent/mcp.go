package agent

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
