package journal

import (
	"fmt"
	"hash/crc32"

	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// longLine is what can be told of a line that is too long to be kept in
// memory: its beginning, its length, and whether it checks.
type longLine struct {
	head  []byte
	bytes int64  // with its newline when it has one
	crc   uint32 // of all but the tail
	tail  []byte // the last bytes, which may be the trailer
}

// headSize is enough of a line for the numbers that it begins with.
const headSize = 64

// newLongLine starts on a line behind one with the sum prev.
func newLongLine(prev Sum) *longLine {
	var digits [8]byte
	return &longLine{
		crc:  crc32.Update(0, castagnoli, prev.appendHex(digits[:0])),
		tail: make([]byte, 0, 2*trailerLen),
	}
}

// add takes the next piece of the line. What is not among the last 18 bytes of
// all pieces goes into the sum.
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

// sum is the one that the line says it has.
func (l *longLine) sum() (Sum, bool) {
	_, sum, err := decodeSum(l.tail)
	return sum, err == nil
}

// checks reports whether the sum of the whole line matches its bytes and the
// line before.
func (l *longLine) checks() bool {
	sum, ok := l.sum()
	return ok && sum == Sum(l.crc)
}

// said is what the line says of itself, whatever its sum.
func (l *longLine) said() (Event, bool) {
	sum, ok := l.sum()
	if !ok {
		return Event{}, false
	}
	return readBeginning(l.head, sum)
}

// readBeginning reads the numbers of a line in the layout of a writer.
func readBeginning(line []byte, sum Sum) (Event, bool) {
	c := layout.At(line)
	e := Event{Sum: sum}
	c.Literal(`{"seq":`)
	e.Seq = uint64(c.Int())
	if c.Has(`,"synced":`) {
		e.Synced = uint64(c.Int())
	}
	c.Literal(`,"time":"`)
	return e, c.OK() && e.Seq > 0
}

// limitError says that nothing is wrong with a line but its length.
type limitError struct {
	bytes int64
	limit int
}

func (e *limitError) Error() string {
	return fmt.Sprintf("it has %d bytes, and the limit is %d", e.bytes, e.limit)
}
