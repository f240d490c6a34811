package layout

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Cursor is a place in a text. Once it has given up its methods return zero
// values.
type Cursor struct {
	rest   []byte
	failed bool
	brief  bool
}

// At is the beginning of a text. What is read from it shares no memory with it.
func At(text []byte) Cursor { return Cursor{rest: text} }

// Glance is At for who wants to know what there is, but not what Text and Raw
// would return: they return nothing, and need a third of the time.
func Glance(text []byte) Cursor { return Cursor{rest: text, brief: true} }

// End reports whether all of the text was as it was expected.
func (c *Cursor) End() bool { return !c.failed && len(c.rest) == 0 }

// OK reports whether the text was as it was expected, so far.
func (c *Cursor) OK() bool { return !c.failed }

// GiveUp says that the text is not one that was expected.
func (c *Cursor) GiveUp() { c.rest, c.failed = nil, true }

// Rest is what was not read yet.
func (c *Cursor) Rest() []byte { return c.rest }

// Take reads the next n bytes, which are the text's.
func (c *Cursor) Take(n int) []byte {
	if len(c.rest) < n {
		c.GiveUp()
		return nil
	}
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

// Plain reads a string in which nothing is escaped, and returns what stands
// between its quotes: bytes of the text, which may be invalid UTF-8.
func (c *Cursor) Plain() []byte {
	c.Literal(`"`)
	n, _ := plain(c.rest)
	if n == len(c.rest) || c.rest[n] != '"' {
		c.GiveUp()
		return nil
	}
	taken := c.rest[:n]
	c.rest = c.rest[n+1:]
	return taken
}

// Has reads s if it comes next, and reports whether it did.
func (c *Cursor) Has(s string) bool {
	if len(c.rest) < len(s) || string(c.rest[:len(s)]) != s {
		return false
	}
	c.rest = c.rest[len(s):]
	return true
}

// Literal reads s, which has to come next.
func (c *Cursor) Literal(s string) {
	if !c.Has(s) {
		c.GiveUp()
	}
}

// Int reads a whole number from 0 to 999999999999999.
func (c *Cursor) Int() (n int64) {
	i := 0
	for ; i < len(c.rest) && '0' <= c.rest[i] && c.rest[i] <= '9'; i++ {
		if i == 15 {
			c.GiveUp()
			return 0
		}
		n = n*10 + int64(c.rest[i]-'0')
	}
	if i == 0 || i > 1 && c.rest[0] == '0' || i < len(c.rest) && (c.rest[i] == '.' || c.rest[i]|0x20 == 'e') {
		c.GiveUp()
		return 0
	}
	c.rest = c.rest[i:]
	return n
}

// String reads a string that is valid UTF-8 and has no escaped surrogates.
func (c *Cursor) String() string {
	c.Literal(`"`)
	n, beyond := plain(c.rest)
	if n == len(c.rest) || c.rest[n] != '"' {
		return c.escaped(n, beyond)
	}
	text := c.rest[:n]
	if beyond && !valid(text) {
		c.GiveUp()
		return ""
	}
	c.rest = c.rest[n+1:]
	return string(text)
}

// escaped reads on in a string whose first n bytes stand for themselves.
func (c *Cursor) escaped(n int, beyond bool) string {
	memory := scratch.Get().(*[]byte)
	defer scratch.Put(memory)
	text := append((*memory)[:0], c.rest[:n]...)
	c.rest = c.rest[n:]
	for !c.failed && !c.Has(`"`) {
		if c.Has(`\u`) {
			text = utf8.AppendRune(text, c.codeUnit())
		} else {
			text = append(text, c.escape())
		}
		var more bool
		text, more = c.appendOrdinary(text)
		beyond = beyond || more
	}
	if cap(text) <= maxScratch {
		*memory = text
	}
	if c.failed || beyond && !valid(text) {
		c.GiveUp()
		return ""
	}
	return string(text)
}

// scratch is memory for strings with escapes, whose length shows only when they
// are read.
var scratch = sync.Pool{New: func() any {
	memory := make([]byte, 0, 64<<10)
	return &memory
}}

// maxScratch is how much of it is kept for the next string, in bytes.
const maxScratch = 1 << 20

// escape reads a backslash and one character, but for u, and returns what they
// stand for.
func (c *Cursor) escape() byte {
	if len(c.rest) < 2 || c.rest[0] != '\\' || simple[c.rest[1]] == 0 {
		c.GiveUp()
		return 0
	}
	stands := simple[c.rest[1]]
	c.rest = c.rest[2:]
	return stands
}

// simple is what stands for what behind a backslash.
var simple = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// codeUnit reads four hex digits that are a character, not half of one.
func (c *Cursor) codeUnit() rune {
	r, ok := hex(c.rest)
	if !ok || utf16.IsSurrogate(r) {
		c.GiveUp()
		return 0
	}
	c.rest = c.rest[4:]
	return r
}

func hex(text []byte) (r rune, ok bool) {
	if len(text) < 4 {
		return 0, false
	}
	for _, d := range text[:4] {
		switch {
		case '0' <= d && d <= '9':
			r = r<<4 | rune(d-'0')
		case 'a' <= d|0x20 && d|0x20 <= 'f':
			r = r<<4 | rune(d|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// Text is String for what may be long.
func (c *Cursor) Text() string {
	if !c.brief {
		return c.String()
	}
	c.skip()
	return ""
}

// skip reads a string, whatever it says.
func (c *Cursor) skip() {
	c.Literal(`"`)
	for !c.failed {
		c.rest = c.rest[ordinary(c.rest):]
		if c.Has(`"`) {
			break
		}
		if !c.Has(`\u`) {
			c.escape()
		} else if _, ok := hex(c.rest); ok {
			c.rest = c.rest[4:]
		} else {
			c.GiveUp()
		}
	}
}

// ordinary is how many bytes stand before the first quote, control character or
// backslash with an u, or before one that is near the end.
func ordinary(s []byte) int {
	rest := s
	for len(rest) > 8 {
		found := special(binary.LittleEndian.Uint64(rest))
		if found == 0 {
			rest = rest[8:]
			continue
		}
		n := bits.TrailingZeros64(found) / 8
		if rest[n] != '\\' || simple[rest[n+1]] == 0 {
			return len(s) - len(rest) + n
		}
		rest = rest[n+2:]
	}
	n, _ := plain(rest)
	return len(s) - len(rest) + n
}

// valid is utf8.Valid for text that is mostly ASCII, and not only before its
// first other character.
func valid(text []byte) bool {
	for len(text) >= 8 {
		others := binary.LittleEndian.Uint64(text) & highs
		if others == 0 {
			text = text[8:]
			continue
		}
		text = text[bits.TrailingZeros64(others)/8:]
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			return false
		}
		text = text[size:]
	}
	return utf8.Valid(text)
}

// maxDepth is how deep the objects and arrays are that Raw reads.
const maxDepth = 100

// Raw reads any value without white space between its tokens and returns a copy
// of it as it is written. Its numbers fit a float64.
func (c *Cursor) Raw() json.RawMessage {
	start := c.rest
	c.value(maxDepth)
	if c.failed || c.brief {
		return nil
	}
	return bytes.Clone(start[:len(start)-len(c.rest)])
}

func (c *Cursor) value(depth int) {
	switch {
	case c.failed:
	case depth == 0 || len(c.rest) == 0:
		c.GiveUp()
	case c.rest[0] == '"':
		c.skip()
	case c.Has("{"):
		c.object(depth - 1)
	case c.Has("["):
		c.array(depth - 1)
	case c.Has("true"), c.Has("false"), c.Has("null"):
	default:
		c.number()
	}
}

// object is what stands behind its opening brace.
func (c *Cursor) object(depth int) {
	if c.Has("}") {
		return
	}
	for more := true; more; more = c.Has(",") {
		c.skip()
		c.Literal(":")
		c.value(depth)
	}
	c.Literal("}")
}

// array is what stands behind its opening bracket.
func (c *Cursor) array(depth int) {
	if c.Has("]") {
		return
	}
	for more := true; more; more = c.Has(",") {
		c.value(depth)
	}
	c.Literal("]")
}

// number reads one of at most 30 digits on each side of the point, and an
// exponent of at most two.
func (c *Cursor) number() {
	c.Has("-")
	if !c.Has("0") {
		c.digits(30)
	}
	if c.Has(".") {
		c.digits(30)
	}
	if c.Has("e") || c.Has("E") {
		if !c.Has("+") {
			c.Has("-")
		}
		c.digits(2)
	}
}

// digits reads at least one digit and at most so many.
func (c *Cursor) digits(most int) {
	n := 0
	for n < len(c.rest) && '0' <= c.rest[n] && c.rest[n] <= '9' {
		n++
	}
	if n == 0 || n > most {
		c.GiveUp()
		return
	}
	c.rest = c.rest[n:]
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// special has the high bit of a byte set where the first of eight is that is a
// quote, a backslash or a control character, and is 0 when none is.
func special(eight uint64) uint64 {
	quote, backslash := eight^('"'*ones), eight^('\\'*ones)
	// The high bit of a byte gets set where less is there than what is
	// subtracted; those that had it are taken out. A borrow can only mark bytes
	// behind one that is marked.
	return ((eight - ' '*ones) | (quote - ones) | (backslash - ones)) &^ eight & highs
}

// plain is how many bytes stand before the first quote, backslash or control
// character, and whether there may be any among them that are not ASCII. It
// looks at eight at a time.
func plain(s []byte) (n int, beyond bool) {
	var all uint64
	for ; len(s)-n >= 8; n += 8 {
		eight := binary.LittleEndian.Uint64(s[n:])
		all |= eight
		if found := special(eight); found != 0 {
			return n + bits.TrailingZeros64(found)/8, all&highs != 0
		}
	}
	for ; n < len(s); n++ {
		if s[n] < ' ' || s[n] == '"' || s[n] == '\\' {
			break
		}
		all |= uint64(s[n])
	}
	return n, all&highs != 0
}

// appendOrdinary reads what ordinary finds, and appends what it stands for, with
// the same word of whether any of it may not be ASCII. While there is room it
// appends eight bytes at a time, of which it counts those that are meant.
func (c *Cursor) appendOrdinary(text []byte) (_ []byte, beyond bool) {
	var all uint64
	from := c.rest
	for len(from) > 8 && cap(text)-len(text) >= 8 {
		eight := binary.LittleEndian.Uint64(from)
		all |= eight
		room := text[len(text) : len(text)+8]
		binary.LittleEndian.PutUint64(room, eight)
		found := special(eight)
		if found == 0 {
			text, from = text[:len(text)+8], from[8:]
			continue
		}
		n := bits.TrailingZeros64(found) / 8
		if from[n] != '\\' || simple[from[n+1]] == 0 {
			c.rest = from[n:]
			return text[:len(text)+n], all&highs != 0
		}
		room[n] = simple[from[n+1]]
		text, from = text[:len(text)+n+1], from[n+2:]
	}
	n, beyond := plain(from)
	c.rest = from[n:]
	return append(text, from[:n]...), beyond || all&highs != 0
}
