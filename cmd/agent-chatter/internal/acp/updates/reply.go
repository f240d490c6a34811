package updates

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// A reply is the text of a turn while it arrives. It can be sent up to the first marker, and without the blanks at its
// end. What was sent is the same in whatever pieces the text arrives.
type reply struct {
	sent   strings.Builder // without blanks at its end
	blanks strings.Builder // after sent
	marker strings.Builder // after blanks: a marker or its possible beginning, and what follows it
	marked bool
}

// blanks are trimmed from the end of a reply.
const blanks = " \t\r\n"

// pass appends a chunk of the reply and returns what can be sent.
func (r *reply) pass(chunk string) string {
	if r.marked {
		r.marker.WriteString(chunk)
		return ""
	}
	text := r.marker.String() + chunk
	at, marked := marker.Begin(text)
	if at < len(text) {
		// A prefix such as "[NE" before a marker becomes another marker when this one is removed.
		at, _ = marker.Begin(text[:at])
	}
	r.marked = marked
	r.marker.Reset()
	r.marker.WriteString(text[at:])
	return r.add(text[:at])
}

// add appends text to what can be sent and returns what of it does not end in blanks.
func (r *reply) add(text string) string {
	solid := strings.TrimRight(text, blanks)
	if solid == "" {
		r.blanks.WriteString(text)
		return ""
	}
	sendable := r.blanks.String() + solid
	r.sent.WriteString(sendable)
	r.blanks.Reset()
	r.blanks.WriteString(text[len(solid):])
	return sendable
}

// rest returns what a complete reply has after what was sent; false if it begins differently.
func (r *reply) rest(complete string) (string, bool) {
	return strings.CutPrefix(complete, r.sent.String())
}

// held returns what was not sent.
func (r *reply) held() string { return r.blanks.String() + r.marker.String() }

// text returns what was sent.
func (r *reply) text() string { return r.sent.String() }
