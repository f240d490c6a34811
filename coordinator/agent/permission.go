package agent

import (
	"encoding/json"
	"slices"
)

// The values of Member.Permissions, which mean the same for all agents that can ask for permission. "" is the agent's
// own configuration; what it asks for is decided by Turn.Permit.
const (
	Ask      = "ask"    // ask the user for what changes something
	Allow    = "allow"  // allow everything that the agent asks for
	Deny     = "deny"   // refuse everything that it asks for
	ReadOnly = "read"   // allow what only reads, and refuse the rest
	Edit     = "edit"   // allow changes of files in the working directory, and ask for the rest
	Bypass   = "bypass" // the agent's own checks are disabled; for the engine ACP, it is Allow
)

// Policies are these values.
var Policies = []string{Ask, Allow, Deny, ReadOnly, Edit, Bypass}

// Permits returns how much permissions allow, to compare them: more than a lower number. Unset ones are as Ask.
func Permits(permissions string) int {
	if permissions == "" {
		permissions = Ask
	}
	order := []string{Deny, ReadOnly, Ask, Edit, Allow, Bypass}
	if i := slices.Index(order, permissions); i >= 0 {
		return i
	}
	return len(order) // unknown
}

// A Permission is a use of a tool for which an agent requests permission, or questions that it asks the user.
type Permission struct {
	ToolID  string          // that of a ToolStarted
	Tool    string          // the tool's name
	Kind    string          // what it does, as the agent says: a Kind or another; "" if unknown
	Title   string          // what the tool would do, such as the command that it would run; may be ""
	Input   json.RawMessage // the tool's input; nil if unknown
	Edits   []FileEdit      // the changes of files that the tool would make, as far as they are known
	Omitted int             // bytes of the title, the input and the changes that are too long to be kept
	// TakesReason is whether the agent gets the reason of a refusal.
	TakesReason bool
	// Questions are what the agent asks. A Grant answers all of them, and no policy does.
	Questions []Question
	Session   bool   // the agent offers to remember for the rest of its session that it is allowed
	Always    string // the file in which it offers to write that it is always allowed; "": it does not
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

// A Grant is the answer to a request for permission. The zero Grant refuses.
type Grant struct {
	Scope  Scope
	Reason string // of a refusal, for the agent; may be ""
	// Answers has one answer for each of Permission.Questions, which fits it: see [Question.Check]. nil without
	// questions.
	Answers [][]string
}

// A Scope is what is allowed.
type Scope int

// The scopes.
const (
	Nothing Scope = iota
	Once
	ForSession // and what is like it, for the rest of the agent's session, if Permission.Session
	Always     // and what is like it, for ever, if Permission.Always
)

// The answers without a reason.
var (
	Refused           = Grant{}
	AllowedOnce       = Grant{Scope: Once}
	AllowedForSession = Grant{Scope: ForSession}
	AllowedAlways     = Grant{Scope: Always}
)
