package conversation

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// A reply is the text of a turn while it arrives. It can be shown up to the first marker that is not in a code block,
// and without the blanks at its end: a message has neither. What was shown does not depend on the pieces in which the
// text arrives.
type reply struct {
	shown  strings.Builder // does not end in blanks
	blanks strings.Builder // after shown
	held   strings.Builder // after blanks: a marker or its possible beginning, and what follows it
	marked bool            // held begins with a marker
	passed int             // markers in code blocks that were passed
}

// blanks are trimmed from the end of a reply.
const blanks = " \t\r\n"

// maxPassed bounds the work for markers in code blocks: what follows more of them is shown when the reply is complete.
const maxPassed = 100

// add appends a chunk of the reply and returns what can be shown.
func (r *reply) add(chunk string) string {
	text := r.pass(chunk)
	for r.marked && r.passed < maxPassed && r.inCode() {
		code := r.held.String()
		r.held.Reset()
		r.marked = false
		r.passed++
		text += r.show(code[:1]) + r.pass(code[1:])
	}
	return text
}

// inCode reports whether the marker is in a code block, whatever follows. In the line of a fence it may not be: a
// backtick that follows makes it no fence.
func (r *reply) inCode() bool {
	before := r.shown.String() + r.blanks.String()
	return markdown.OpenFence(before[:strings.LastIndexByte(before, '\n')+1]) != ""
}

// pass appends a chunk and returns what can be shown up to the first marker.
func (r *reply) pass(chunk string) string {
	if r.marked {
		r.held.WriteString(chunk)
		return ""
	}
	text := r.held.String() + chunk
	at, marked := marker.Begin(text)
	if at < len(text) {
		// A prefix such as "[NE" before a marker becomes another marker when this one is removed.
		at, _ = marker.Begin(text[:at])
	}
	r.marked = marked
	r.held.Reset()
	r.held.WriteString(text[at:])
	return r.show(text[:at])
}

// show appends text that precedes every marker and returns what of it does not end in blanks.
func (r *reply) show(text string) string {
	solid := strings.TrimRight(text, blanks)
	if solid == "" {
		r.blanks.WriteString(text)
		return ""
	}
	visible := r.blanks.String() + solid
	r.shown.WriteString(visible)
	r.blanks.Reset()
	r.blanks.WriteString(text[len(solid):])
	return visible
}

// rest returns what a complete reply has after what was shown; false if it begins differently.
func (r *reply) rest(complete string) (string, bool) {
	return strings.CutPrefix(complete, r.shown.String())
}

// hidden returns what was not shown, without blanks at its end.
func (r *reply) hidden() string { return strings.TrimRight(r.blanks.String()+r.held.String(), blanks) }
