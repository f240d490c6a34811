package redact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// A Redactor replaces secrets. The nil *Redactor replaces nothing. It is not safe for use from
// several goroutines.
type Redactor struct {
	values []value         // the longest first
	from   [256]begun      // by the byte with which a secret begins
	pairs  [1 << 16]uint16 // by the first two bytes: which of begun it is, the first one is nothing
	begun  []begun
	found  []string
}

// begun is what may have begun with a byte or two.
type begun struct {
	values []value
	armour bool
	shapes []shape
	common string // what all of them begin with, when it may have begun with two bytes
	any    bool
}

// New returns a Redactor that knows the shapes of keys, and the secrets of these variables.
func New(variables []Variable) *Redactor {
	r := &Redactor{values: valuesOf(variables), begun: make([]begun, 1)}
	for _, v := range r.values {
		r.begins(v.text, func(b *begun) { b.values = append(b.values, v) })
	}
	for _, s := range shapes {
		r.begins(s.prefix, func(b *begun) { b.shapes = append(b.shapes, s) })
	}
	r.begins(armour, func(b *begun) { b.armour = true })
	return r
}

// begins adds what a secret begins with, which is two bytes at least.
func (r *Redactor) begins(with string, add func(*begun)) {
	pair := &r.pairs[uint16(with[0])<<8|uint16(with[1])]
	if *pair == 0 {
		*pair = uint16(len(r.begun))
		r.begun = append(r.begun, begun{common: with})
	}
	r.begun[*pair].share(with)
	for _, b := range []*begun{&r.from[with[0]], &r.begun[*pair]} {
		add(b)
		b.any = true
	}
}

// share notes what one more of them begins with.
func (b *begun) share(with string) {
	for !strings.HasPrefix(with, b.common) {
		b.common = b.common[:len(b.common)-1]
	}
}

// excludes reports whether text[at:] goes on as none of them does.
func (b *begun) excludes(text string, at int) bool {
	last := len(b.common) - 1
	return at+last < len(text) && text[at+last] != b.common[last]
}

// next is where the next secret may begin, from text[at] on. Two bytes tell nearly always that
// none does; of the last byte one has to.
func (r *Redactor) next(text string, at int) (int, *begun) {
	if at >= len(text) {
		return at, nil
	}
	pair := uint16(text[at])
	for i := at + 1; i < len(text); i++ {
		pair = pair<<8 | uint16(text[i])
		if n := r.pairs[pair]; n != 0 && !r.begun[n].excludes(text, i-1) {
			return i - 1, &r.begun[n]
		}
	}
	last := len(text) - 1
	if r.from[text[last]].any {
		return last, &r.from[text[last]]
	}
	return len(text), nil
}

// Found are the kinds of the secrets that were replaced since it was last asked, one for each
// time.
func (r *Redactor) Found() []string {
	if r == nil {
		return nil
	}
	found := r.found
	r.found = nil
	return found
}

// Text is the text without its secrets. It need not be valid UTF-8.
func (r *Redactor) Text(text string) string {
	if r == nil {
		return text
	}
	clean, _ := r.pass("", text, true)
	return clean
}

// JSON is the JSON value without the secrets in its strings and numbers; a number that has one
// becomes a string. What is no JSON is taken for text.
func (r *Redactor) JSON(value []byte) []byte {
	if r == nil {
		return value
	}
	var clean []byte // nil: nothing has changed so far
	kept := 0
	for at := 0; at < len(value); at++ {
		var end int
		var changed []byte
		switch {
		case value[at] == '"':
			if end = stringEnd(value, at); end < 0 {
				return []byte(r.Text(string(value)))
			}
			changed = r.jsonString(value[at:end])
		case value[at] == '-' || value[at] >= '0' && value[at] <= '9':
			end = numberEnd(value, at)
			changed = r.jsonText(string(value[at:end]))
		default:
			continue
		}
		if changed != nil {
			clean = append(append(clean, value[kept:at]...), changed...)
			kept = end
		}
		at = end - 1
	}
	if kept == 0 {
		return value
	}
	return append(clean, value[kept:]...)
}

// numberEnd is where the JSON number that starts there ends.
func numberEnd(value []byte, start int) int {
	end := start
	for end < len(value) && strings.IndexByte("0123456789.eE+-", value[end]) >= 0 {
		end++
	}
	return end
}

// stringEnd is where the JSON string that starts there ends; -1 when it does not.
func stringEnd(value []byte, start int) int {
	for at := start + 1; at < len(value); at++ {
		switch value[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return -1
}

// jsonString is the string without its secrets, nil when it has none.
func (r *Redactor) jsonString(quoted []byte) []byte {
	text := string(quoted[1 : len(quoted)-1])
	if bytes.IndexByte(quoted, '\\') >= 0 && json.Unmarshal(quoted, &text) != nil {
		return nil
	}
	return r.jsonText(text)
}

// jsonText is the text without its secrets, as a JSON string; nil when it has none.
func (r *Redactor) jsonText(text string) []byte {
	clean := r.Text(text)
	if clean == text {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(clean) // strings cannot fail
	return bytes.TrimRight(b.Bytes(), "\n")
}

// pass replaces the secrets of a text that comes behind what was given before. Unless the text
// ends there, rest is what may become a secret with what is to come.
func (r *Redactor) pass(before, text string, ends bool) (clean, rest string) {
	var b strings.Builder // of what is behind the first secret
	kept := 0
	for at, from := r.next(text, 0); at < len(text); at, from = r.next(text, at+1) {
		length, kind, open := from.secret(before, text[kept:at], text[at:], ends)
		switch {
		case open:
			b.WriteString(text[kept:at])
			return b.String(), text[at:]
		case length > 0:
			b.WriteString(text[kept:at])
			b.WriteString(mark(kind))
			r.found = append(r.found, kind)
			kept, before = at+length, mark(kind)
			at = kept - 1
		}
	}
	if kept == 0 {
		return text, ""
	}
	b.WriteString(text[kept:])
	return b.String(), ""
}

// mark stands in the place of a secret.
func mark(kind string) string { return "[REDACTED:" + kind + "]" }

// secret is how many bytes of the text's beginning are a secret, and of which kind; 0 when it
// does not begin with one. It is open when that depends on what is to come. What comes before
// the text is in two parts.
func (b *begun) secret(early, before, text string, ends bool) (length int, kind string, open bool) {
	for i := range b.values {
		v := &b.values[i]
		n, open := v.match(text, ends)
		if (n > 0 || open) && (!v.word || beginsWord(early, before)) {
			return n, v.kind, open
		}
	}
	if b.armour {
		if n, open := matchArmour(text, ends); n > 0 || open {
			return n, "private-key", open
		}
	}
	for i := range b.shapes {
		s := &b.shapes[i]
		n, open := s.match(text, ends)
		if (n > 0 || open) && beginsWord(early, before) {
			return n, s.kind, open
		}
	}
	return 0, "", false
}

// contextLength is how many bytes before a word decide whether it is one.
const contextLength = 16

// beginsWord reports whether a word can begin behind a text: there is nothing before it that
// could be a part of it. The letter of \n, or of a sequence for terminals, is none.
func beginsWord(before, text string) bool {
	if len(text) < contextLength {
		text = before + text
	}
	text = text[max(0, len(text)-contextLength):]
	last := len(text) - 1
	if last < 0 || !inName(text[last]) {
		return true
	}
	if last > 0 && text[last-1] == '\\' && strings.IndexByte("nrt", text[last]) >= 0 {
		return true
	}
	sequence := strings.LastIndex(text, "\x1b[")
	return sequence >= 0 && strings.Trim(text[sequence+2:last], "0123456789;") == ""
}

// inName reports whether a byte can be a part of a name, so that what touches it is no word by
// itself.
func inName(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

// A Stream is a text that comes in pieces.
type Stream struct {
	r      *Redactor
	held   string
	before string // the end of what was given
}

// Stream returns a Stream of a new text.
func (r *Redactor) Stream() *Stream { return &Stream{r: r} }

// Next gives what can be said of the text so far, beyond what was given.
func (s *Stream) Next(piece string) string { return s.pass(piece, false) }

// Rest gives what was held back, since the text has ended.
func (s *Stream) Rest() string { return s.pass("", true) }

// Broken gives what was held back of a text that was cut off: the beginning of a value at its
// end is a secret, too.
func (s *Stream) Broken() string {
	if s.r == nil {
		return s.Rest()
	}
	longest, kind := 0, ""
	for _, v := range s.r.values {
		for n := min(len(v.text)-1, len(s.held)); n >= leastLength && n > longest; n-- {
			if strings.HasSuffix(s.held, v.text[:n]) {
				longest, kind = n, v.kind
			}
		}
	}
	if longest == 0 {
		return s.Rest()
	}
	s.held = s.held[:len(s.held)-longest]
	before := s.Rest()
	s.r.found = append(s.r.found, kind)
	return before + mark(kind)
}

func (s *Stream) pass(piece string, ends bool) string {
	if s.r == nil {
		return piece
	}
	clean, rest := s.r.pass(s.before, s.held+piece, ends)
	given := s.before + clean
	s.before, s.held = given[max(0, len(given)-contextLength):], rest
	return clean
}

// Counted are the kinds in the order of their names, each once.
func Counted(found []string) []string {
	kinds := slices.Clone(found)
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
