package marker

import (
	"iter"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// A kind is the text with which a marker begins. Case is ignored.
type kind string

const (
	kindNext kind = "[NEXT:"
	kindDrop kind = "[DROP:"
	kindFrom kind = "[FROM:"
	kindTask kind = "[TEAM_TASK:"
)

// kindAt returns which of the kinds begins at text[i], or "".
func kindAt(text string, i int, kinds ...kind) kind {
	for _, k := range kinds {
		if end := i + len(k); end <= len(text) && strings.EqualFold(text[i:end], string(k)) {
			return k
		}
	}
	return ""
}

// contains reports whether one of the kinds begins anywhere in the text, code included.
func contains(text string, kinds ...kind) bool {
	for i := range len(text) {
		if text[i] == '[' && kindAt(text, i, kinds...) != "" {
			return true
		}
	}
	return false
}

// Begin returns the offset of the first NEXT or DROP marker in text, and true. If there is none, it returns
// false and the offset of a marker prefix such as "[NE" at the end of text, or len(text). Begin is for text
// that is still being streamed: it does not check whether the marker is in code or is closed.
func Begin(text string) (at int, begun bool) {
	for at = range len(text) {
		if text[at] != '[' {
			continue
		}
		for _, k := range []kind{kindNext, kindDrop} {
			if n := min(len(k), len(text)-at); strings.EqualFold(text[at:at+n], string(k[:n])) {
				return at, n == len(k)
			}
		}
	}
	return len(text), false
}

// A marker is text[start:end] of a message; the body is between the colon and the closing bracket.
type marker struct {
	kind       kind
	body       string
	start, end int
}

func newMarker(text string, k kind, start, end int) marker {
	return marker{kind: k, body: text[start+len(k) : end-1], start: start, end: end}
}

// commands returns the NEXT and DROP markers. An opening bracket in the body belongs to the body: if the
// inner marker counted, removing it could give the outer one another meaning.
func commands(text string) []marker {
	if !contains(text, kindNext, kindDrop) {
		return nil
	}
	var found []marker
	var open kind // kind of the marker that is not closed yet, or ""
	start := 0
	for i, c := range delimiters(text) {
		switch {
		case c == '\n':
			open = ""
		case c == ']' && open != "":
			found = append(found, newMarker(text, open, start, i+1))
			open = ""
		case c == '[' && open == "":
			open, start = kindAt(text, i, kindNext, kindDrop), i
		}
	}
	return found
}

// declarations returns the FROM and TEAM_TASK markers. If one begins inside another, the outer
// one is unclosed and stays text.
func declarations(text string) []marker {
	if !contains(text, kindFrom, kindTask) {
		return nil
	}
	var found []marker
	var open kind
	start := 0
	for i, c := range delimiters(text) {
		switch {
		case c == '\n' && open == kindFrom:
			open = ""
		case c == ']' && open != "":
			found = append(found, newMarker(text, open, start, i+1))
			open = ""
		case c == '[':
			if k := kindAt(text, i, kindFrom, kindTask); k != "" {
				open, start = k, i
			}
		}
	}
	return found
}

// delimiters yields the positions of the brackets outside code, and of all line breaks. The brackets of
// the mark of a replaced secret are text.
func delimiters(text string) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		code := markdown.Parse(text).Code
		mark := 0 // the end of the last mark of a secret
		for i := range len(text) {
			for len(code) > 0 && code[0].End <= i {
				code = code[1:]
			}
			inCode := len(code) > 0 && code[0].Start <= i
			if !inCode && text[i] == '[' {
				mark = i + secretMark(text[i:])
			}
			if i < mark {
				continue
			}
			switch c := text[i]; c {
			case '[', ']':
				if !inCode && !yield(i, c) {
					return
				}
			case '\n':
				if !yield(i, c) {
					return
				}
			}
		}
	}
}

// secretMark returns the length of the mark of a replaced secret, [REDACTED:kind], at the beginning of a
// text; 0 if there is none.
func secretMark(text string) int {
	const prefix = "[REDACTED:"
	kind, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return 0
	}
	for i := range len(kind) {
		c := kind[i]
		switch {
		case c == ']':
			return len(prefix) + i + 1
		case c != '_' && c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z'):
			return 0
		}
	}
	return 0
}
