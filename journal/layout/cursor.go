package layout

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// Cursor is a position in a JSON text. After the first mismatch it has failed:
// its methods consume nothing and return zero values. The zero Cursor is at the
// end of an empty text.
type Cursor struct {
	rest   []byte
	failed bool
}

// At returns a Cursor at the start of text, which it does not copy.
func At(text []byte) Cursor { return Cursor{rest: text} }

// OK reports whether everything consumed so far had the expected layout.
func (c *Cursor) OK() bool { return !c.failed }

// atEnd reports whether the whole text was consumed and had the expected layout.
func (c *Cursor) atEnd() bool { return !c.failed && len(c.rest) == 0 }

// Rest returns what was not consumed yet, as a part of the text.
func (c *Cursor) Rest() []byte { return c.rest }

func (c *Cursor) fail() { c.rest, c.failed = nil, true }

// Accept consumes s if the text continues with it, and reports whether it did.
func (c *Cursor) Accept(s string) bool {
	if len(c.rest) < len(s) || string(c.rest[:len(s)]) != s {
		return false
	}
	c.rest = c.rest[len(s):]
	return true
}

// Expect consumes s, and fails if the text continues differently.
func (c *Cursor) Expect(s string) {
	if !c.Accept(s) {
		c.fail()
	}
}

// Take consumes n bytes and returns them as a part of the text.
func (c *Cursor) Take(n int) []byte {
	if len(c.rest) < n {
		c.fail()
		return nil
	}
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

// Uint consumes a non-negative integer.
func (c *Cursor) Uint() (n uint64) {
	i := 0
	for ; i < len(c.rest) && '0' <= c.rest[i] && c.rest[i] <= '9'; i++ {
		digit := uint64(c.rest[i] - '0')
		if n > math.MaxUint64/10 || n*10 > math.MaxUint64-digit {
			c.fail()
			return 0
		}
		n = n*10 + digit
	}
	if i == 0 || i > 1 && c.rest[0] == '0' {
		c.fail()
		return 0
	}
	c.rest = c.rest[i:]
	return n
}

// Plain consumes a string without escapes and returns the bytes between its
// quotes as a part of the text. They may be invalid UTF-8.
func (c *Cursor) Plain() []byte {
	text, escaped := c.quoted()
	if escaped {
		c.fail()
		return nil
	}
	return text
}

// String consumes a string of valid UTF-8 without escaped surrogates.
func (c *Cursor) String() string {
	c.Expect(`"`)
	n := plain(c.rest)
	text := c.rest[:n]
	if n < len(c.rest) && c.rest[n] == '"' {
		c.rest = c.rest[n+1:]
	} else {
		buffer := buffers.Get().(*[]byte)
		defer buffers.Put(buffer)
		text = c.unescape((*buffer)[:0])
		if text != nil && cap(text) <= maxBuffer {
			*buffer = text
		}
	}
	if !utf8.Valid(text) {
		c.fail()
		return ""
	}
	return string(text)
}

// buffers are for strings with escapes, whose length is known only at their end.
// Larger ones than maxBuffer are not kept.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxBuffer = 1 << 20

// unescape consumes a string after its opening quote and appends what it stands
// for to text.
func (c *Cursor) unescape(text []byte) []byte {
	for rest := c.rest; ; {
		n := plain(rest)
		text = append(text, rest[:n]...)
		rest = rest[n:]
		switch {
		case len(rest) > 1 && rest[0] == '\\' && escapes[rest[1]] != 0:
			text, rest = append(text, escapes[rest[1]]), rest[2:]
		case len(rest) > 0 && rest[0] == '"':
			c.rest = rest[1:]
			return text
		default:
			r, size := escape(rest)
			if size == 0 {
				c.fail()
				return nil
			}
			text, rest = utf8.AppendRune(text, r), rest[size:]
		}
	}
}

// quoted consumes a string and returns the bytes between its quotes, and whether
// there are escapes among them.
func (c *Cursor) quoted() (text []byte, escaped bool) {
	c.Expect(`"`)
	for rest := c.rest; ; {
		n := plain(rest)
		rest = rest[n:]
		switch {
		case len(rest) > 1 && rest[0] == '\\' && escapes[rest[1]] != 0:
			rest, escaped = rest[2:], true
		case len(rest) > 0 && rest[0] == '"':
			text = c.rest[:len(c.rest)-len(rest)]
			c.rest = rest[1:]
			return text, escaped
		default:
			_, size := escape(rest)
			if size == 0 {
				c.fail()
				return nil, false
			}
			rest, escaped = rest[size:], true
		}
	}
}

// escape returns the character that the escape with \u at the start of text stands
// for, and the length of the escape: 0 if there is none, or one of a surrogate.
func escape(text []byte) (r rune, length int) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, 0
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil || utf16.IsSurrogate(rune(unit)) {
		return 0, 0
	}
	return rune(unit), 6
}

// escapes has the characters that a backslash and one character stand for.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// plain returns the number of bytes before the first quote, backslash or control
// character. It compares eight bytes at a time.
func plain(s []byte) int {
	n := 0
	for ; len(s)-n >= 8; n += 8 {
		if found := special(binary.LittleEndian.Uint64(s[n:])); found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(s) && s[n] >= ' ' && s[n] != '"' && s[n] != '\\' {
		n++
	}
	return n
}

// special returns a number whose lowest bit that is set is the highest bit of the first
// of eight bytes that is a quote, a backslash or a control character; 0: none is.
func special(eight uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	quote, backslash := eight^('"'*ones), eight^('\\'*ones)
	// A subtraction sets the high bit of each byte that is less than what is
	// subtracted. A borrow can only mark bytes after one that is marked.
	return ((eight - ' '*ones) | (quote - ones) | (backslash - ones)) &^ eight & highs
}
