package agent

import "encoding/json"

// The values of Member.Permissions for agents that ask before they do something.
const (
	Ask   = "ask"   // a person is asked, each time
	Allow = "allow" // everything is allowed
	Deny  = "deny"  // nothing is
)

// Policies are the values of Member.Permissions beside "" for the engine ACP; "" is Ask.
var Policies = []string{Ask, Allow, Deny}

// A Permission is what an agent asks leave for.
type Permission struct {
	ToolID string          // that of a ToolStarted
	Tool   string          // the tool's name
	Title  string          // what the agent calls this use of it, as the command that it would run; may be ""
	Input  json.RawMessage // what the tool would be given; nil when the agent does not say
}
