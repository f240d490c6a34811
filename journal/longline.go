package journal

import (
	"fmt"
	"hash/crc32"

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// longLine is what is kept of a line that exceeds the limit: its first bytes, its
// length, and its checksum.
type longLine struct {
	head  []byte
	bytes int64  // with its newline if it has one
	crc   uint32 // of all bytes but the tail
	tail  []byte // the last bytes, which may be the trailer
}

// headSize suffices for the numbers at the start of a line.
const headSize = 64

// skipLine discards the line that Next found too long and returns what is known
// of it. prev is the sum of the previous line. It returns io.EOF if the line has
// no newline (yet).
func skipLine(l *lines.Reader, prev Sum) (*longLine, error) {
	long := &longLine{crc: prev.crc(), tail: make([]byte, 0, 2*trailerLen)}
	var err error
	long.bytes, err = l.Skip(long.add)
	return long, err
}

// add adds the next piece of the line. The last 18 bytes of all pieces are kept
// as the tail; the checksum covers the bytes before them.
func (l *longLine) add(piece []byte) {
	l.head = append(l.head, piece[:min(len(piece), headSize-len(l.head))]...)
	if n := len(piece) - trailerLen; n >= 0 {
		l.crc = crc32.Update(l.crc, castagnoli, l.tail)
		l.crc = crc32.Update(l.crc, castagnoli, piece[:n])
		l.tail = append(l.tail[:0], piece[n:]...)
		return
	}
	l.tail = append(l.tail, piece...)
	if n := len(l.tail) - trailerLen; n > 0 {
		l.crc = crc32.Update(l.crc, castagnoli, l.tail[:n])
		l.tail = append(l.tail[:0], l.tail[n:]...)
	}
}

// sum returns the sum in the trailer of the line.
func (l *longLine) sum() (Sum, bool) {
	_, sum, err := decodeSum(l.tail)
	return sum, err == nil
}

// valid reports whether the checksum of the line matches its trailer.
func (l *longLine) valid() bool {
	sum, ok := l.sum()
	return ok && sum == Sum(l.crc)
}

// event returns the numbers of the line, which may be invalid.
func (l *longLine) event() (Event, bool) {
	sum, ok := l.sum()
	if !ok {
		return Event{}, false
	}
	return decodeStart(l.head, sum)
}

// limitError means that a line is valid and exceeds the limit.
type limitError struct {
	bytes int64
	limit int
}

func (e *limitError) Error() string {
	return fmt.Sprintf("it has %d bytes, and the limit is %d", e.bytes, e.limit)
}
