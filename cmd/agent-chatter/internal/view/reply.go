package view

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// A reply is the text of a turn while it arrives. It is shown up to the first marker, since a message has no markers;
// what follows is shown when the reply is complete, since the marker may be in code.
type reply struct {
	shown  strings.Builder
	held   strings.Builder // the text after shown: a marker or its possible beginning, and the rest
	marked bool
	passed int // markers in code that were passed
}

// blanks are trimmed from the end of a reply.
const blanks = " \t\r\n"

// maxPassed bounds the work for markers in code: what follows more of them is shown when the reply is complete.
const maxPassed = 100

// pass appends a chunk of the reply and returns what can be shown.
func (r *reply) pass(chunk string) string {
	r.held.WriteString(chunk)
	if r.marked {
		return ""
	}
	text := r.held.String()
	at, marked := marker.Begin(text)
	r.marked = marked
	r.shown.WriteString(text[:at])
	r.held.Reset()
	r.held.WriteString(text[at:])
	return text[:at]
}

// passMarker passes the beginning of the marker that is held, which is in code, and what follows it.
func (r *reply) passMarker() string {
	text := r.held.String()
	r.held.Reset()
	r.shown.WriteString(text[:1])
	r.marked = false
	r.passed++
	return text[:1] + r.pass(text[1:])
}

// rest returns what a complete reply has after the text that was shown; false if it begins differently. It may lack
// the blanks at the end of what was shown.
func (r *reply) rest(complete string) (string, bool) {
	shown := r.shown.String()
	if rest, ok := strings.CutPrefix(complete, shown); ok {
		return rest, true
	}
	rest, ok := strings.CutPrefix(complete, strings.TrimRight(shown, blanks))
	if ok && strings.Trim(rest, blanks) == "" {
		rest = ""
	}
	return rest, ok
}
