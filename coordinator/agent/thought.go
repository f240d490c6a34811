package agent

import "strings"

// A thought removes the thoughts with which local models begin a reply, between tags of their chat templates. Text in
// such tags later in a reply is the reply's.
type thought struct {
	state thoughtState
	held  string // the start of the reply, which may become a tag, or what may become the end tag
	end   string // the tag that ends the thought
}

type thoughtState int

const (
	thoughtMayBegin thoughtState = iota
	inThought
	afterThought // blanks
	noThought
)

// thoughtTags are the names of the tags.
var thoughtTags = []string{"think", "thinking", "thought", "reasoning"}

// maxThoughtStart is how many bytes of blanks may precede a thought.
const maxThoughtStart = 4 << 10

const blanks = " \t\r\n"

// remove returns what a piece of the reply adds to the text that is no thought.
func (t *thought) remove(piece string) string {
	for piece != "" || t.held != "" {
		text := t.held + piece
		t.held, piece = "", ""
		switch t.state {
		case thoughtMayBegin:
			rest := strings.TrimLeft(text, blanks)
			name, isTag, mayBe := beginsThought(rest)
			switch {
			case isTag:
				t.state, t.end = inThought, "</"+name+">"
				piece = rest[len("<"+name+">"):]
			case mayBe && len(text) <= maxThoughtStart:
				t.held = text
				return ""
			default:
				t.state = noThought
				return text
			}
		case inThought:
			_, after, found := strings.Cut(text, t.end)
			if !found {
				t.held = text[max(0, len(text)-len(t.end)+1):]
				return ""
			}
			t.state, piece = afterThought, after
		case afterThought:
			if piece = strings.TrimLeft(text, blanks); piece == "" {
				return ""
			}
			t.state = noThought
		case noThought:
			return text
		}
	}
	return ""
}

// rest returns what was held back at the end of the reply. A thought without an end is no reply.
func (t *thought) rest() string {
	if t.state == inThought {
		return ""
	}
	text := t.held
	t.held = ""
	return text
}

// beginsThought reports whether a text begins with the tag of a thought, or may once more of it is known.
func beginsThought(text string) (name string, isTag, mayBe bool) {
	for _, name := range thoughtTags {
		tag := "<" + name + ">"
		if strings.HasPrefix(text, tag) {
			return name, true, false
		}
		mayBe = mayBe || strings.HasPrefix(tag, text)
	}
	return "", false, mayBe
}
