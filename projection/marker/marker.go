package marker

import "strings"

// An Intent says how urgent it is that a member speaks. The zero value is no intent.
type Intent int

// The intents, the most urgent first.
const (
	Interrupt Intent = 1 // !P1: before all others
	Reply     Intent = 2 // !P2 and the default
	Extend    Intent = 3 // !P3: after those who reply
)

// String returns the intent as it is typed, such as "P1"; "" for the zero value.
func (i Intent) String() string {
	if i < Interrupt || i > Extend {
		return ""
	}
	return "P" + string(rune('0'+i))
}

// A Target is one name in [NEXT: …]. It may not be the name of a member.
type Target struct {
	Identifier string
	Intent     Intent
	// Panel is the number of the panel in the message, from 1: names that are separated by '|', who speak at the same
	// time. 0: none.
	Panel int
	// Judged are the names in "cleo judges ada | bea": the member is to compare what they have done. Nil: none.
	Judged []string
}

// A Message is a text and what its markers say.
type Message struct {
	// Content is the text without its NEXT and DROP markers. Parsing it again finds the same From and
	// Task, and neither NEXT nor DROP.
	Content string

	Next    []Target // in the order of the message
	RawNext []string // Next as it was typed, such as "b!P1"
	Drop    []string // the names in [DROP: …] except ALL
	DropAll bool     // [DROP: ALL]
	From    string   // of the first [FROM: …] with a name; "" if there is none

	Task    string // of the last [TEAM_TASK: …]; an empty one clears the task
	HasTask bool   // there is a [TEAM_TASK: …]
}

// Parse parses a message. Bytes that are not UTF-8 are kept. It takes time and memory in proportion to the
// text.
func Parse(text string) Message {
	m := Message{Content: text}
	panels := 0
	if found := commands(text); len(found) > 0 {
		for _, c := range found {
			for _, name := range splitNames(c.body) {
				m.add(c.kind, name, &panels)
			}
		}
		m.Content = escape(remove(text, found))
	}
	// Content is all that the next reader has, so From and Task are those of Content, not of text.
	for _, d := range declarations(m.Content) {
		body := strings.TrimSpace(d.body)
		switch {
		case d.kind == kindTask:
			m.Task, m.HasTask = body, true
		case m.From == "":
			m.From = body
		}
	}
	return m
}

// Strip returns the text without markers of any kind.
func Strip(text string) string {
	text = Parse(text).Content
	var b strings.Builder
	done := 0
	for _, d := range declarations(text) {
		b.WriteString(text[done:d.start])
		done = d.end
	}
	b.WriteString(text[done:])
	return b.String()
}

// add adds a name in a NEXT or DROP marker.
func (m *Message) add(k kind, name string, panels *int) {
	switch {
	case k == kindNext:
		m.addNext(name, panels)
	case strings.EqualFold(name, "ALL"):
		m.DropAll = true
	default:
		m.Drop = append(m.Drop, name)
	}
}

// addNext adds what is between two commas of a NEXT marker: a name, or the names of a panel. panels is how many the
// message has.
func (m *Message) addNext(typed string, panels *int) {
	if target := ParseTarget(typed); target.Judged != nil {
		m.Next = append(m.Next, target)
		m.RawNext = append(m.RawNext, typed)
		return
	}
	var names []string
	for _, name := range strings.Split(typed, "|") {
		if name = strings.TrimSpace(name); ParseTarget(name).Identifier != "" {
			names = append(names, name)
		}
	}
	panel := 0
	if len(names) > 1 {
		*panels++
		panel = *panels
	}
	for _, name := range names {
		target := ParseTarget(name)
		target.Panel = panel
		m.Next = append(m.Next, target)
		m.RawNext = append(m.RawNext, name)
	}
}

// splitNames splits the body of a marker at commas, also those of Chinese and Japanese text, and leaves out
// empty names.
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

// ParseTarget parses one name as it is typed in [NEXT: …], such as "b", "b!P1", "b !p1" or "b judges c | d". Any other
// text after a '!' is part of the name.
func ParseTarget(typed string) Target {
	if judge, judged := splitJudge(typed); judged != nil {
		target := ParseTarget(judge)
		target.Judged = judged
		return target
	}
	if n := len(typed) - len("!P1"); n >= 0 && strings.EqualFold(typed[n:n+2], "!P") {
		if digit := typed[n+2]; '1' <= digit && digit <= '3' {
			return Target{Identifier: strings.TrimSpace(typed[:n]), Intent: Intent(digit - '0')}
		}
	}
	return Target{Identifier: typed, Intent: Reply}
}

// splitJudge splits "b judges c | d"; judged is nil if the text is not of this form, with two names or more.
func splitJudge(typed string) (judge string, judged []string) {
	const word = " judges "
	for i := range max(0, len(typed)-len(word)) {
		if !strings.EqualFold(typed[i:i+len(word)], word) {
			continue
		}
		for name := range strings.SplitSeq(typed[i+len(word):], "|") {
			if name = strings.TrimSpace(name); name != "" {
				judged = append(judged, name)
			}
		}
		if judge = strings.TrimSpace(typed[:i]); judge == "" || len(judged) < 2 {
			return "", nil
		}
		return judge, judged
	}
	return "", nil
}
