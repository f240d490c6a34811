package agent

import (
	"encoding/json"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
)

// A replyText is the text of a reply, as its chunks arrive. It leaves out the thoughts at its start, which some servers
// put between tags, and adds nothing that a chunk repeats.
type replyText struct {
	started bool // some was returned

	deltas   int    // pieces so far
	received string // the start of them, while the next may repeat it
	held     string // a piece that begins as all before it: the next one tells whether each repeats the ones before
	repeats  bool   // each does
	length   int    // of the reply so far, if so
	half     string // the first half of a surrogate pair, as it is escaped

	thought thought
}

// maxReceived is how many bytes of a reply are compared with the pieces that follow. A server that repeats them does so
// from the start.
const maxReceived = 64

// add returns what a chunk adds. A delta is a part of the reply. A complete message counts if there were no deltas.
func (t *replyText) add(delta, message messageContent) string {
	piece := t.decode(delta)
	if piece == "" {
		if t.deltas > 0 {
			return ""
		}
		piece = t.decode(message)
	}
	if piece == "" {
		return ""
	}
	t.deltas++
	return t.show(t.next(piece))
}

// rest returns what was held back.
func (t *replyText) rest() string {
	text := t.held
	t.held = ""
	if t.half != "" {
		t.half = ""
		text += "\uFFFD"
	}
	text = t.show(text) + t.thought.rest()
	t.started = t.started || text != ""
	return text
}

func (t *replyText) show(text string) string {
	text = t.thought.remove(text)
	t.started = t.started || text != ""
	return text
}

// next returns what a piece adds to those before. Some servers send the whole reply so far with every piece.
func (t *replyText) next(piece string) string {
	switch {
	case t.repeats && len(piece) >= t.length:
		added := piece[t.length:]
		t.length = len(piece)
		return added
	case t.repeats:
		return ""
	case t.held != "" && strings.HasPrefix(piece, t.held):
		added := piece[len(t.received):]
		t.repeats, t.length, t.held = true, len(piece), ""
		return added
	case t.held != "":
		text := t.held + piece
		t.held, t.received = "", t.received+text
		return text
	case t.received != "" && len(t.received) <= maxReceived && len(piece) > len(t.received) &&
		strings.HasPrefix(piece, t.received):
		t.held = piece
		return ""
	}
	if len(t.received) <= maxReceived {
		t.received += piece
	}
	return piece
}

// decode returns the text of a message.
func (t *replyText) decode(m messageContent) string {
	text := t.decodeContent(m.Content)
	if text == "" {
		text = t.decodeContent(m.Refusal)
	}
	return text
}

// decodeContent returns the text of a content: a string, or a list of parts of which some are text. A content of
// another form has none.
func (t *replyText) decodeContent(content json.RawMessage) string {
	var text string
	var parts []json.RawMessage
	if len(content) > 0 && content[0] == '"' {
		content = t.joinHalves(content)
	}
	switch {
	case len(content) == 0:
	case json.Unmarshal(content, &text) == nil:
	case json.Unmarshal(content, &parts) == nil:
		for _, raw := range parts {
			var part struct{ Type, Text string }
			if jsonlines.Decode(raw, &part) && (part.Type == "" || part.Type == "text" || part.Type == "output_text") {
				text += part.Text
			}
		}
	}
	return text
}

// joinHalves returns a JSON string whose first character is the one that the string before began, and without the one
// at its end of which only the first half is there.
func (t *replyText) joinHalves(quoted []byte) []byte {
	const escape = len(`\ud83c`)
	inner := t.half + string(quoted[1:len(quoted)-1])
	t.half = ""
	if from := len(inner) - escape; from >= 0 && isHighSurrogate(inner[from:]) && !isEscaped(inner, from) {
		inner, t.half = inner[:from], inner[from:]
	}
	return []byte(`"` + inner + `"`)
}

// isHighSurrogate reports whether an escape is the first half of a surrogate pair.
func isHighSurrogate(escape string) bool {
	lower := strings.ToLower(escape)
	return strings.HasPrefix(lower, `\ud8`) || strings.HasPrefix(lower, `\ud9`) ||
		strings.HasPrefix(lower, `\uda`) || strings.HasPrefix(lower, `\udb`)
}

// isEscaped reports whether a backslash at a position belongs to the one before it.
func isEscaped(inner string, at int) bool {
	before := len(inner[:at]) - len(strings.TrimRight(inner[:at], `\`))
	return before%2 == 1
}
