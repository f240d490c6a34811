package journal

import (
	"io"
)

// lineEnder reads the bytes of a live journal. If they end in a checksum, it adds the newline that the last
// line lacks: another program may have removed it, or a crash may have cut the write exactly there. The checksum
// decides whether that is a line: the newline is the only byte of a line that tells nothing.
type lineEnder struct {
	r    io.Reader
	tail []byte // the last bytes that were read, at most a trailer
	done bool   // the newline was added
}

func newLineEnder(r io.Reader) *lineEnder {
	return &lineEnder{r: r, tail: make([]byte, 0, 2*trailerLen)}
}

func (l *lineEnder) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := l.r.Read(p)
	l.note(p[:n])
	if err != io.EOF || l.done || !l.endsInSum() {
		return n, err
	}
	if n == 0 {
		p[0], l.done, n = '\n', true, 1
	}
	return n, nil
}

// note keeps the end of what was read.
func (l *lineEnder) note(read []byte) {
	l.tail = append(l.tail, read[max(0, len(read)-trailerLen):]...)
	if more := len(l.tail) - trailerLen; more > 0 {
		l.tail = l.tail[:copy(l.tail, l.tail[more:])]
	}
}

func (l *lineEnder) endsInSum() bool {
	_, _, err := decodeSum(l.tail)
	return err == nil
}
