package marker

import (
	"bytes"
	"iter"
	"strings"
	"unicode"
)

// Intent is why somebody is named in [NEXT: …]. The zero value is no intent.
type Intent int

// The intents, the most urgent first.
const (
	Interrupt Intent = 1 // !P1: before everybody who waits
	Reply     Intent = 2 // !P2, and when nothing is said
	Extend    Intent = 3 // !P3: after those who reply
)

// String is the intent as it is typed; "" without one.
func (i Intent) String() string {
	if i < Interrupt || i > Extend {
		return ""
	}
	return "P" + string(rune('0'+i))
}

// A Target is one name in [NEXT: …]. Nobody has looked yet whether there is such a member.
type Target struct {
	Identifier string
	Intent     Intent
}

// Message is what a message says to the conversation rather than to its readers.
//
// A marker is [NEXT: …], [DROP: …], [FROM: …] or [TEAM_TASK: …] in any case, and ends at
// the first ']'. Only a task may go on over several lines. What stands in a code span or in
// a fenced code block is text: there a marker is shown, not given, and a ']' ends nothing.
type Message struct {
	// Content is the message without its NEXT and DROP markers; FROM and TEAM_TASK stay.
	// Parsing it again finds the same From and Task, and nobody to call or drop.
	Content string

	Next    []Target // in the order of the message
	RawNext []string // Next as it was typed, such as "b!P1"
	Drop    []string // whom to take out of the queue
	DropAll bool     // [DROP: ALL]; Drop has the other names
	From    string   // the first [FROM: …] that says a name; "" is none

	// Task is the last [TEAM_TASK: …]; an empty one takes the task away.
	// HasTask tells that from no marker at all.
	Task    string
	HasTask bool
}

// Parse takes a message apart. Every text has a meaning, so there is no error; bytes
// that are not UTF-8 stay as they are. It takes time and memory in proportion to the text.
func Parse(text string) Message {
	m := Message{Content: text}
	if found := commands(text); len(found) > 0 {
		for _, marker := range found {
			m.command(marker)
		}
		m.Content = defuse(without(text, found))
	}
	m.statements()
	return m
}

// command takes over what a NEXT or DROP marker says.
func (m *Message) command(found marker) {
	for _, name := range splitNames(found.body) {
		switch {
		case found.kind == kindNext:
			m.next(name)
		case strings.EqualFold(name, "ALL"):
			m.DropAll = true
		default:
			m.Drop = append(m.Drop, name)
		}
	}
}

// next takes over one name of a NEXT marker.
func (m *Message) next(typed string) {
	target := parseTarget(typed)
	if target.Identifier == "" {
		return
	}
	m.Next = append(m.Next, target)
	m.RawNext = append(m.RawNext, typed)
}

// statements takes over what the FROM and TEAM_TASK markers of Content say. Those of the
// text as it was typed are not asked: the next reader has Content only.
func (m *Message) statements() {
	for found := range statements(m.Content) {
		body := strings.TrimSpace(found.body)
		switch {
		case found.kind == kindTask:
			m.Task, m.HasTask = body, true
		case m.From == "":
			m.From = body
		}
	}
}

// splitNames splits the body of a marker at its commas, those of Chinese and Japanese text
// included. Empty names are left out.
func splitNames(body string) []string {
	names := strings.FieldsFunc(body, func(r rune) bool { return r == ',' || r == '，' || r == '、' })
	kept := names[:0]
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" {
			kept = append(kept, name)
		}
	}
	return kept
}

// parseTarget takes "b", "b!P1" or "b !p1" apart. Anything else behind a '!' belongs to the
// name.
func parseTarget(typed string) Target {
	if n := len(typed) - len("!P1"); n >= 0 && strings.EqualFold(typed[n:n+2], "!P") {
		if digit := typed[n+2]; '1' <= digit && digit <= '3' {
			return Target{Identifier: strings.TrimSpace(typed[:n]), Intent: Intent(digit - '0')}
		}
	}
	return Target{Identifier: typed, Intent: Reply}
}

// A kind of marker is how it begins.
type kind string

const (
	kindNext kind = "[NEXT:"
	kindDrop kind = "[DROP:"
	kindFrom kind = "[FROM:"
	kindTask kind = "[TEAM_TASK:"
)

// kindAt is the first of the kinds that begins at text[i]; "" when none does.
func kindAt(text string, i int, kinds ...kind) kind {
	for _, k := range kinds {
		if end := i + len(k); end <= len(text) && strings.EqualFold(text[i:end], string(k)) {
			return k
		}
	}
	return ""
}

// A marker is text[start:end] of a message; its body lies between the colon and the bracket.
type marker struct {
	kind       kind
	body       string
	start, end int
}

// markerOf makes a marker of the kind out of text[start:end].
func markerOf(text string, k kind, start, end int) marker {
	return marker{kind: k, body: text[start+len(k) : end-1], start: start, end: end}
}

// commands returns the NEXT and DROP markers, which is what is taken out of a message. An
// opening bracket in a body is part of the body: were the inner one a marker too, taking it
// out could make the outer one say something new.
func commands(text string) []marker {
	var found []marker
	var open kind // of the marker that the scan is in
	start := 0
	for i, c := range plain(text) {
		switch {
		case c == '\n':
			open = ""
		case c == ']' && open != "":
			found = append(found, markerOf(text, open, start, i+1))
			open = ""
		case c == '[' && open == "":
			open, start = kindAt(text, i, kindNext, kindDrop), i
		}
	}
	return found
}

// statements yields the FROM and TEAM_TASK markers, which stay in a message. One that has
// another one in it was never closed, and is none.
func statements(text string) iter.Seq[marker] {
	return func(yield func(marker) bool) {
		var open kind
		start := 0
		for i, c := range plain(text) {
			switch {
			case c == '\n' && open == kindFrom:
				open = ""
			case c == ']' && open != "":
				if !yield(markerOf(text, open, start, i+1)) {
					return
				}
				open = ""
			case c == '[':
				if k := kindAt(text, i, kindFrom, kindTask); k != "" {
					open, start = k, i
				}
			}
		}
	}
}

// defuse puts a space into what looks like a NEXT or DROP marker now but was none before
// the others were taken out, as in "[NE[NEXT: a]XT: b]". Nobody typed it, so nobody is
// called. Nearly every message has nothing of the kind and is returned as it is.
func defuse(text string) string {
	if len(commands(text)) == 0 {
		return text
	}
	var b strings.Builder
	done := 0
	for i, c := range plain(text) {
		// Also those that are not closed, or inside another: they come to life with the first space.
		if c == '[' && kindAt(text, i, kindNext, kindDrop) != "" {
			b.WriteString(text[done:i] + "[ ")
			done = i + 1
		}
	}
	b.WriteString(text[done:])
	return b.String()
}

// without returns the text without the markers, which are in order and each on one line. A
// line that was nothing but markers goes as a whole, and when the message began or ended in
// a marker, so do the blank lines there. Everything else stays where it was.
func without(text string, markers []marker) string {
	leading := blank(text[:markers[0].start])
	trailing := blank(text[markers[len(markers)-1].end:])
	var b strings.Builder
	done := 0
	for len(markers) > 0 {
		start, end, next := lineAround(text, done, markers[0].start)
		n := 1
		for n < len(markers) && markers[n].start < end {
			n++
		}
		b.WriteString(text[done:start])
		if line := lineWithout(text, start, end, markers[:n]); !blank(line) {
			b.WriteString(line + text[end:next])
		}
		done, markers = next, markers[n:]
	}
	b.WriteString(text[done:])
	return trimLines(b.String(), leading, trailing)
}

// lineAround finds the line that text[at] is on, not looking at what is before from: where
// it starts, where it ends, and where the next one starts.
func lineAround(text string, from, at int) (start, end, next int) {
	start = from + strings.LastIndexByte(text[from:at], '\n') + 1
	next = lineEnd(text, at)
	end = start + len(strings.TrimRight(text[start:next], "\r\n"))
	return start, end, next
}

// lineEnd is where the line that text[at] is on ends, behind its line break.
func lineEnd(text string, at int) int {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(text)
}

// lineWithout is text[start:end], which is one line, without its markers. Where a marker
// had a space before and behind it, or the edge of the line on one side, one space goes too.
func lineWithout(text string, start, end int, markers []marker) string {
	kept := make([]byte, 0, end-start)
	for _, found := range markers {
		kept = append(kept, text[start:found.start]...)
		start = found.end
		switch {
		case start == end:
			kept = bytes.TrimSuffix(kept, []byte(" "))
		case text[start] == ' ' && endsBlank(kept):
			start++
		}
	}
	return string(append(kept, text[start:end]...))
}

// endsBlank reports whether no word ends at the end of line.
func endsBlank(line []byte) bool {
	return len(line) == 0 || line[len(line)-1] == ' ' || line[len(line)-1] == '\t'
}

// trimLines takes away the blank lines at the beginning, where the next line keeps its
// indentation, and those at the end, with the last line break.
func trimLines(text string, leading, trailing bool) string {
	if trailing {
		text = strings.TrimRightFunc(text, unicode.IsSpace)
	}
	if leading {
		indented := len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
		text = text[strings.LastIndexByte(text[:indented], '\n')+1:]
	}
	return text
}

// blank reports whether there is nothing to see in s.
func blank(s string) bool {
	return strings.TrimSpace(s) == ""
}
