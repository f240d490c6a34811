package layout

import (
	"bytes"
	"encoding/json"
)

// maxDepth bounds the nesting of values whose type is not known.
const maxDepth = 1000

// Compact reports whether data certainly is JSON without white space between its
// tokens. It reports false for some unusual texts that are, too.
func Compact(data []byte) bool {
	c := At(data)
	c.value(maxDepth)
	return c.atEnd()
}

// Raw consumes a value without white space between its tokens, and returns a
// copy of it as it is written.
func (c *Cursor) Raw() json.RawMessage {
	start := c.rest
	if c.value(maxDepth); c.failed {
		return nil
	}
	return bytes.Clone(start[:len(start)-len(c.rest)])
}

func (c *Cursor) value(depth int) {
	switch {
	case depth == 0:
		c.fail()
	case c.Accept("{"):
		c.members(true, "}", depth-1)
	case c.Accept("["):
		c.members(false, "]", depth-1)
	case len(c.rest) > 0 && c.rest[0] == '"':
		c.quoted()
	default:
		c.scalar()
	}
}

// scalar consumes a number or a literal, and returns it as a part of the text.
func (c *Cursor) scalar() []byte {
	n := 0
	for n < len(c.rest) && c.rest[n] != ',' && c.rest[n] != ']' && c.rest[n] != '}' {
		n++
	}
	scalar := c.Take(n)
	integer := At(scalar) // most scalars are
	if integer.Uint(); integer.atEnd() {
		return scalar
	}
	if bytes.ContainsAny(scalar, " \t\r\n") || !json.Valid(scalar) {
		c.fail()
	}
	return scalar
}

// members consumes what follows the opening bracket of an object or an array.
func (c *Cursor) members(named bool, end string, depth int) {
	if c.Accept(end) {
		return
	}
	for more := true; more && !c.failed; more = c.Accept(",") {
		if named {
			c.quoted()
			c.Expect(":")
		}
		c.value(depth)
	}
	c.Expect(end)
}
