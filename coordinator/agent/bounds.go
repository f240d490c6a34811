package agent

import "github.com/agent-chatter/agent-chatter/projection/runecut"

// An agent may report anything, without end. What an engine keeps of a turn is bounded.
const (
	maxTools     = 10_000    // uses of tools that are known at once
	maxLabel     = 1 << 10   // bytes of the id or the name of a tool
	maxOutput    = 256 << 10 // bytes of the output of a tool that arrives in pieces
	maxQuestions = 100       // requests for permission that wait for an answer
)

// A toolNames has the names of the running tools, by id.
type toolNames map[string]string

// add notes a tool, unless too many run, and returns its bounded id and name.
func (t toolNames) add(id, name string) (boundedID, boundedName string) {
	id, name = label(id), label(name)
	if len(t) < maxTools {
		t[id] = name
	}
	return id, name
}

// remove returns the bounded id and the name of a tool that has ended; "" if it is unknown.
func (t toolNames) remove(id string) (boundedID, name string) {
	id = label(id)
	name = t[id]
	delete(t, id)
	return id, name
}

// label returns the beginning of an id or a name.
func label(text string) string { return runecut.Prefix(text, maxLabel) }
