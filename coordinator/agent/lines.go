package agent

import "strings"

// lineLimit is how long a line of an agent may be, in bytes. No session has room for a reply
// that is longer.
const lineLimit = 64 << 20

// lines puts the lines of an agent together from pieces that end anywhere.
type lines struct {
	begun   []byte // the beginning of a line whose end has not come
	tooLong bool   // a line was longer than the limit: nothing more is taken
}

// take takes in a piece, and hands each line that it ends to hear, until hear wants no more:
// then it is false. The line is valid until hear returns.
func (l *lines) take(text string, hear func(line []byte) bool) bool {
	for {
		line, rest, whole := strings.Cut(text, "\n")
		if l.tooLong = len(l.begun)+len(line) > lineLimit; l.tooLong {
			return true
		}
		l.begun = append(l.begun, line...)
		if !whole {
			return true
		}
		heard := hear(l.begun)
		l.begun = l.begun[:0]
		if !heard {
			return false
		}
		text = rest
	}
}
