package redact

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// A Redactor replaces secrets. The nil *Redactor replaces nothing. It must not be used
// concurrently.
type Redactor struct {
	byByte     [256]candidates // by the first byte of a secret
	byPair     [1 << 16]uint16 // by the first two bytes: an index into candidates; 0 is none
	candidates []candidates
	values     []value // longest first
	found      []string
}

// candidates are the secrets that begin with one or two given bytes.
type candidates struct {
	values     []value
	privateKey bool
	formats    []format
	common     string // the longest common prefix, if two bytes are given
	any        bool
}

// New returns a Redactor for the formats of tokens, and for the secrets among the variables.
func New(variables []Variable) *Redactor {
	r := &Redactor{values: valuesOf(variables), candidates: make([]candidates, 1)}
	for _, v := range r.values {
		r.addPrefix(v.text, func(c *candidates) { c.values = append(c.values, v) })
	}
	for _, f := range formats {
		r.addPrefix(f.prefix, func(c *candidates) { c.formats = append(c.formats, f) })
	}
	r.addPrefix(pemBegin, func(c *candidates) { c.privateKey = true })
	return r
}

// addPrefix adds a secret with a prefix of at least two bytes.
func (r *Redactor) addPrefix(prefix string, add func(*candidates)) {
	pair := &r.byPair[uint16(prefix[0])<<8|uint16(prefix[1])]
	if *pair == 0 {
		*pair = uint16(len(r.candidates))
		r.candidates = append(r.candidates, candidates{common: prefix})
	}
	c := &r.candidates[*pair]
	for !strings.HasPrefix(prefix, c.common) {
		c.common = c.common[:len(c.common)-1]
	}
	for _, c := range []*candidates{&r.byByte[prefix[0]], c} {
		add(c)
		c.any = true
	}
}

// next returns the offset of the next possible secret, from text[at] on, and its candidates. It
// compares the first two bytes and the last one of the common prefix, which excludes nearly
// everything; at the end of the text only one byte.
func (r *Redactor) next(text string, at int) (int, *candidates) {
	if at >= len(text) {
		return at, nil
	}
	pair := uint16(text[at])
	for i := at + 1; i < len(text); i++ {
		pair = pair<<8 | uint16(text[i])
		if n := r.byPair[pair]; n != 0 {
			c := &r.candidates[n]
			last := len(c.common) - 1
			if at := i - 1 + last; at >= len(text) || text[at] == c.common[last] {
				return i - 1, c
			}
		}
	}
	last := len(text) - 1
	if r.byByte[text[last]].any {
		return last, &r.byByte[text[last]]
	}
	return len(text), nil
}

// Found returns the kinds of the secrets that were replaced since the last call, one for each
// replacement, in any order.
func (r *Redactor) Found() []string {
	if r == nil {
		return nil
	}
	found := r.found
	r.found = nil
	return found
}

// Text returns the text without secrets. It need not be valid UTF-8.
func (r *Redactor) Text(text string) string {
	if r == nil {
		return text
	}
	return r.textAfter("", text)
}

// textAfter returns a text that follows before, without its secrets.
func (r *Redactor) textAfter(before, text string) string {
	clean, _ := r.replace(before, text, true)
	clean, _ = r.replaceInterrupted(before, clean, true)
	return clean
}

// JSON returns the JSON value without secrets in its strings and numbers; a number that contains
// one becomes a string. Invalid JSON is treated as text. A value without secrets is returned as it
// is, not copied.
func (r *Redactor) JSON(value []byte) []byte {
	if r == nil {
		return value
	}
	var clean []byte
	copied := 0 // length of the prefix of value that is in clean
	key := ""   // what precedes the value in its object
	for at := 0; at < len(value); at++ {
		var end int
		var changed []byte
		switch {
		case value[at] == '"':
			if end = stringEnd(value, at); end < 0 {
				return []byte(r.Text(string(value)))
			}
			quoted := value[at:end]
			text := string(quoted[1 : len(quoted)-1])
			if bytes.IndexByte(quoted, '\\') >= 0 && json.Unmarshal(quoted, &text) != nil {
				return []byte(r.Text(string(value)))
			}
			changed = r.jsonText(key, text)
			if key = ""; bytes.HasPrefix(bytes.TrimLeft(value[end:], " \t\r\n"), []byte(":")) {
				key = text[max(0, len(text)-contextLength):] + ": "
			}
		case value[at] == '-' || value[at] >= '0' && value[at] <= '9':
			end = len(value) - len(bytes.TrimLeft(value[at:], "0123456789.eE+-"))
			changed, key = r.jsonText(key, string(value[at:end])), ""
		default:
			if strings.IndexByte(",[{", value[at]) >= 0 {
				key = ""
			}
			continue
		}
		if changed != nil {
			clean = append(append(clean, value[copied:at]...), changed...)
			copied = end
		}
		at = end - 1
	}
	if copied == 0 {
		return value
	}
	return append(clean, value[copied:]...)
}

// stringEnd returns the end of the JSON string at start, or -1 if it is unterminated.
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

// jsonText returns a text that follows a key without its secrets as a JSON string, or nil if it has
// none.
func (r *Redactor) jsonText(key, text string) []byte {
	clean := r.textAfter(key, text)
	if clean == text {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(clean) // strings cannot fail
	return bytes.TrimRight(b.Bytes(), "\n")
}

// replace is the replacer of secrets without control sequences in them.
func (r *Redactor) replace(before, text string, ends bool) (clean, rest string) {
	var b strings.Builder
	copied := 0 // length of the prefix of text that is in b
	for at, c := r.next(text, 0); at < len(text); at, c = r.next(text, at+1) {
		length, kind, incomplete := c.match(before, text[copied:at], text[at:], ends)
		switch {
		case incomplete:
			b.WriteString(text[copied:at])
			return b.String(), text[at:]
		case length > 0:
			b.WriteString(text[copied:at])
			b.WriteString(mark(kind))
			r.found = append(r.found, kind)
			copied, before = at+length, mark(kind)
			at = copied - 1
		}
	}
	if copied == 0 {
		return text, ""
	}
	b.WriteString(text[copied:])
	return b.String(), ""
}

// mark returns the replacement of a secret.
func mark(kind string) string { return markStart + kind + markEnd }

const (
	markStart = "[REDACTED:"
	markEnd   = "]"
)

// Marks yields the kinds of the marks in a text, which may be part of a JSON value. A text may have marks that no
// Redactor wrote; a kind with other characters than those of the names of variables and formats is not yielded.
func Marks(text []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			at := bytes.Index(text, []byte(markStart))
			if at < 0 {
				return
			}
			text = text[at+len(markStart):]
			n := bytes.IndexFunc(text[:min(len(text), maxKind+1)], func(r rune) bool { return !isKindRune(r) })
			if n > 0 && bytes.HasPrefix(text[n:], []byte(markEnd)) && !yield(string(text[:n])) {
				return
			}
		}
	}
}

// maxKind is the length in bytes of the longest kind that Marks yields.
const maxKind = 100

func isKindRune(r rune) bool {
	return r == '_' || r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// match returns the length and the kind of the secret at the beginning of the text; 0 if there is
// none. incomplete means that it depends on how the text continues. The preceding text is in two
// parts, earlier and before.
func (c *candidates) match(earlier, before, text string, ends bool) (length int, kind string, incomplete bool) {
	for i := range c.values {
		v := &c.values[i]
		n, incomplete := v.match(text, ends)
		if (n > 0 || incomplete) && v.mayBegin(earlier, before, text[min(len(text), len(v.text)):]) {
			return n, v.kind, incomplete
		}
	}
	if c.privateKey {
		if n, incomplete := matchPrivateKey(text, ends); n > 0 || incomplete {
			return n, "private-key", incomplete
		}
	}
	for i := range c.formats {
		f := &c.formats[i]
		n, incomplete := f.match(text, ends)
		if (n > 0 || incomplete) && beginsWord(earlier, before) {
			return n, f.kind, incomplete
		}
	}
	return 0, "", false
}

// contextLength is how many bytes before a word decide whether it is a separate one, and whether it is
// assigned to a name.
const contextLength = 64

// beginsWord reports whether a separate word can begin after a text, which is in two parts: the text
// does not end with a character of a name. The letter of \n, or of an escape sequence, is none.
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

// inName reports whether a byte can be part of a name.
func inName(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

// A Stream replaces the secrets of one text that arrives in pieces.
type Stream struct {
	r           *Redactor
	plain       stage
	interrupted stage // gets what plain returns
}

// A replacer replaces the secrets of a text that follows before. If the text does not end here, rest is
// the end of it that may become a secret.
type replacer func(before, text string, ends bool) (clean, rest string)

// A stage is one pass of a replacer over a text.
type stage struct {
	held   string
	before string // the end of what was returned
}

// Stream returns a Stream for a new text.
func (r *Redactor) Stream() *Stream { return &Stream{r: r} }

// Next returns the held back text and the piece, up to what may become a secret.
func (s *Stream) Next(piece string) string { return s.replace(piece, false) }

// Rest returns the held back text at the end of the text.
func (s *Stream) Rest() string { return s.replace("", true) }

// Truncated returns the held back text at the end of a text that was cut off. The beginning of a
// value at its end is a secret, too.
func (s *Stream) Truncated() string {
	if s.r == nil {
		return s.Rest()
	}
	left := s.interrupted.next(s.r.truncate(&s.plain, s.r.replace), false, s.r.replaceInterrupted)
	return left + s.r.truncate(&s.interrupted, s.r.replaceInterrupted)
}

// truncate returns what a stage holds back at the end of a text that was cut off.
func (r *Redactor) truncate(s *stage, replace replacer) string {
	longest, kind := 0, ""
	held, open := cutOpen(s.held)
	plain, at := withoutSequences(held)
	for _, v := range r.values {
		if v.ordinary {
			continue
		}
		for n := min(len(v.text)-1, len(plain)); n >= minLength && n > longest; n-- {
			if strings.HasSuffix(plain, v.text[:n]) {
				longest, kind = n, v.kind
			}
		}
	}
	s.held = ""
	if longest == 0 {
		return s.next(held+open, true, replace)
	}
	clean := s.next(held[:at[len(plain)-longest]], true, replace)
	r.found = append(r.found, kind)
	return clean + mark(kind)
}

func (s *Stream) replace(piece string, ends bool) string {
	if s.r == nil {
		return piece
	}
	return s.interrupted.next(s.plain.next(piece, ends, s.r.replace), ends, s.r.replaceInterrupted)
}

// next returns the held back text and the piece, as replace returns it.
func (s *stage) next(piece string, ends bool, replace replacer) string {
	clean, rest := replace(s.before, s.held+piece, ends)
	returned := s.before + clean
	s.before, s.held = returned[max(0, len(returned)-contextLength):], rest
	return clean
}

// Kinds returns the kinds that were found, sorted, each once.
func Kinds(found []string) []string {
	kinds := slices.Clone(found)
	slices.Sort(kinds)
	return slices.Compact(kinds)
}
