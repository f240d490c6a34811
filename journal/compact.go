package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"strings"
)

// compactJSON returns data without the white space between its tokens, or the
// error of package json when it is not JSON. Payloads mostly are compact when
// they come, and are returned as they are: seeing that takes a small part of
// the time that json.Compact needs, which is longer than writing them.
func compactJSON(data []byte) ([]byte, error) {
	if isCompact(data) {
		return data, nil
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, data)
	return compact.Bytes(), err
}

// maxDepth is how deep the objects and arrays are that isCompact looks at.
const maxDepth = 100

// isCompact reports whether json.Compact would leave data as it is. False says
// nothing.
func isCompact(data []byte) bool {
	c := cursor{rest: data, ok: true}
	c.value(maxDepth)
	return c.ok && len(c.rest) == 0
}

func (c *cursor) value(depth int) {
	switch {
	case depth == 0:
		c.ok = false
	case c.has(`"`):
		c.text()
	case c.has("{"):
		c.object(depth - 1)
	case c.has("["):
		c.array(depth - 1)
	case c.has("true"), c.has("false"), c.has("null"):
	default:
		c.numeral()
	}
}

// object is what stands behind its opening brace.
func (c *cursor) object(depth int) {
	if c.has("}") {
		return
	}
	for more := true; more && c.ok; more = c.has(",") {
		c.literal(`"`)
		c.text()
		c.literal(":")
		c.value(depth)
	}
	c.literal("}")
}

// array is what stands behind its opening bracket.
func (c *cursor) array(depth int) {
	if c.has("]") {
		return
	}
	for more := true; more && c.ok; more = c.has(",") {
		c.value(depth)
	}
	c.literal("]")
}

func (c *cursor) numeral() {
	c.has("-")
	if !c.has("0") {
		c.digits()
	}
	if c.has(".") {
		c.digits()
	}
	if c.has("e") || c.has("E") {
		if !c.has("+") {
			c.has("-")
		}
		c.digits()
	}
}

// digits is one digit or more.
func (c *cursor) digits() {
	n := 0
	for n < len(c.rest) && '0' <= c.rest[n] && c.rest[n] <= '9' {
		n++
	}
	c.ok = c.ok && n > 0
	c.rest = c.rest[n:]
}

// text is what stands behind the opening quote of a string.
func (c *cursor) text() {
	for c.ok {
		c.rest = c.rest[plain(c.rest):]
		switch {
		case c.has(`"`):
			return
		case len(c.rest) >= 2 && c.rest[0] == '\\' && escapable[c.rest[1]]:
			c.rest = c.rest[2:]
		default:
			c.literal(`\u`)
			c.hexDigits(4)
		}
	}
}

// escapable are the characters that may stand behind a backslash, but for u.
var escapable = [256]bool{'"': true, '\\': true, '/': true, 'b': true, 'f': true, 'n': true, 'r': true, 't': true}

func (c *cursor) hexDigits(n int) {
	if !c.ok || len(c.rest) < n {
		c.ok = false
		return
	}
	for _, digit := range c.rest[:n] {
		c.ok = c.ok && strings.IndexByte("0123456789abcdefABCDEF", digit) >= 0
	}
	c.rest = c.rest[n:]
}

// plain is how many bytes stand before the first quote, backslash or control
// character. It looks at eight at a time.
func plain(s []byte) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	n := 0
	for ; len(s)-n >= 8; n += 8 {
		eight := binary.LittleEndian.Uint64(s[n:])
		quote, backslash := eight^('"'*ones), eight^('\\'*ones)
		// The high bit of a byte gets set where less is there than what is
		// subtracted; those that had it are taken out. A borrow can only mark
		// bytes behind one that is marked.
		found := ((eight - ' '*ones) | (quote - ones) | (backslash - ones)) &^ eight
		if found &= highs; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for ; n < len(s); n++ {
		if s[n] < ' ' || s[n] == '"' || s[n] == '\\' {
			break
		}
	}
	return n
}
