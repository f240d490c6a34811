package agent

import "encoding/json"

// The values of Member.Permissions for agents that ask for permission, beside ReadOnly and Edit.
const (
	Ask   = "ask"   // ask the user each time
	Allow = "allow" // allow everything
	Deny  = "deny"  // refuse everything
)

// Policies are the values of Member.Permissions other than "" for the engine ACP; "" is Ask. ReadOnly allows what only
// reads and refuses the rest. Edit allows changes of files in the working directory and asks for the rest.
var Policies = []string{Ask, Allow, Deny, ReadOnly, Edit}

// A Permission is a use of a tool for which an agent requests permission.
type Permission struct {
	ToolID  string          // that of a ToolStarted
	Tool    string          // the tool's name
	Kind    string          // what it does, as the agent says: a Kind or another; "" if unknown
	Title   string          // what the tool would do, such as the command that it would run; may be ""
	Input   json.RawMessage // the tool's input; nil if unknown
	Edits   []FileEdit      // the changes of files that the tool would make, as far as they are known
	Omitted int             // bytes of the title, the input and the changes that are too long to be kept
	Always  bool            // the agent offers to remember that it is allowed
}

// The kinds of tools that policies tell apart.
const (
	KindRead    = "read"   // reads files
	KindSearch  = "search" // searches them
	KindEdit    = "edit"   // changes them
	KindExecute = "execute"
)

// A FileEdit is a change of a file.
type FileEdit struct{ Path, Old, New string }

// A Grant is the answer to a request for permission.
type Grant int

// The answers.
const (
	Refused       Grant = iota
	AllowedOnce         // this time
	AllowedAlways       // from now on: the agent remembers it
)
