package interchange

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf8Text returns a reader of the text of r in UTF-8, without a byte order mark. The text may be in UTF-16: with such
// a mark, or if it begins with an object.
func utf8Text(r io.Reader) *bufio.Reader {
	b := bufio.NewReaderSize(r, detectLine)
	start, _ := b.Peek(4)
	skip := 0
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(start, byteOrderMark):
		skip = len(byteOrderMark)
	case bytes.HasPrefix(start, []byte{0xFF, 0xFE}):
		skip, order = 2, binary.LittleEndian
	case bytes.HasPrefix(start, []byte{0xFE, 0xFF}):
		skip, order = 2, binary.BigEndian
	case len(start) == 4 && start[0] == '{' && start[1] == 0 && start[3] == 0:
		order = binary.LittleEndian
	case len(start) == 4 && start[0] == 0 && start[1] == '{' && start[2] == 0:
		order = binary.BigEndian
	}
	_, _ = b.Discard(skip) // what was peeked
	if order == nil {
		return b
	}
	return bufio.NewReaderSize(&utf16Reader{r: b, order: order}, detectLine)
}

// utf16Reader decodes UTF-16.
type utf16Reader struct {
	r     *bufio.Reader
	order binary.ByteOrder
	high  rune   // the first half of a pair; 0: none
	ready []byte // decoded
	err   error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.ready) == 0 && u.err == nil {
		u.fill()
	}
	n := copy(p, u.ready)
	u.ready = u.ready[n:]
	if n == 0 && len(p) > 0 {
		return 0, u.err
	}
	return n, nil
}

// fill decodes up to a few kilobytes.
func (u *utf16Reader) fill() {
	var units [4096]byte
	n, err := io.ReadFull(u.r, units[:])
	if u.err = err; err == io.ErrUnexpectedEOF {
		u.err = io.EOF
	}
	u.ready = u.ready[:0]
	for i := 0; i+1 < n; i += 2 {
		unit := rune(u.order.Uint16(units[i:]))
		if u.high != 0 {
			high := u.high
			u.high = 0
			if pair := utf16.DecodeRune(high, unit); pair != utf8.RuneError {
				u.ready = utf8.AppendRune(u.ready, pair)
				continue
			}
			u.ready = utf8.AppendRune(u.ready, utf8.RuneError)
		}
		switch {
		case !utf16.IsSurrogate(unit):
			u.ready = utf8.AppendRune(u.ready, unit)
		case unit < 0xDC00:
			u.high = unit
		default:
			u.ready = utf8.AppendRune(u.ready, utf8.RuneError)
		}
	}
	if u.err == io.EOF && u.high != 0 {
		u.high = 0
		u.ready = utf8.AppendRune(u.ready, utf8.RuneError)
	}
}
