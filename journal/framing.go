package journal

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
)

// Why a line is invalid although its own bytes are whole.
var (
	errCRLF    = errors.New("its line break was changed to CR LF; its checksum matches without the CR")
	errForeign = errors.New("bytes that are not of the journal are next to it; its checksum matches without them")
)

// findLine finds in text, which may have bytes of another program, or several lines without a line break
// between them, a line that is valid after one with the sum prev. The line is text[start:end]: its checksum covers
// every byte of it.
func findLine(text []byte, prev Sum) (start, end int, ok bool) {
	start = len(text) - len(bytes.TrimLeft(text, "\ufeff\x00 \t\r"))
	for budget := max(minFindBudget, findBudget*len(text)); ; {
		length, ok := lineAt(text[start:], prev)
		if ok {
			return start, start + length, true
		}
		if budget -= len(text) - start; budget < 0 || start == len(text) {
			return 0, 0, false
		}
		next := bytes.Index(text[start+1:], []byte(lineStart))
		if next < 0 {
			return 0, 0, false
		}
		start += 1 + next
	}
}

// lineStart is how a writer begins a line. An object in the data of a line may begin so, too.
const lineStart = `{"seq":`

// findLine reads a text at most so many times, or so many bytes of a short one.
const (
	findBudget    = 16
	minFindBudget = 1 << 20
)

// lineAt returns the length of the line with which text begins, if it is valid after one with the sum prev.
func lineAt(text []byte, prev Sum) (length int, ok bool) {
	crc, covered := prev.crc(), 0
	for end := 0; ; {
		key := bytes.Index(text[end:], []byte(sumKey))
		if key < 0 || end+key+trailerLen > len(text) {
			return 0, false
		}
		end += key
		crc, covered = crc32.Update(crc, castagnoli, text[covered:end]), end
		line := text[:end+trailerLen]
		if _, sum, err := decodeSum(line); err == nil && sum == Sum(crc) {
			if _, err := decode(line, prev); err == nil {
				return len(line), true
			}
		}
		end++
	}
}

// wholeNext finds the line that is valid at a position in text, which does not start there, or is not that line alone.
// It returns which of both, and nil if there is no such line, or if a crash may have left the text.
func wholeNext(text []byte, at Position, startsThere bool) error {
	for {
		start, end, ok := findLine(text, at.Sum)
		if !ok || !isNext(text[start:end], at) {
			return nil
		}
		switch rest := text[end:]; {
		case startsThere && start == 0 && string(rest) == "\r":
			return errCRLF
		case !startsThere || start > 0 || len(rest) > 0 && rest[0] != 0:
			return errForeign
		}
		// A power cut loses the page that begins with the newline. If the following line is whole, it did not.
		_, sum, _ := decodeSum(text[:end])
		at, text = Position{Seq: at.Seq + 1, Sum: sum}, text[end:]
	}
}

// foreignParts are the invalid parts between lines that follow each other: another program has added them.
type foreignParts struct {
	first Torn
	parts int
	crlf  bool // all of them are the CR of a CR LF
}

// add adds a part; cr reports whether it is such a CR.
func (p *foreignParts) add(part Torn, cr bool) {
	if p.parts++; p.parts == 1 {
		p.first, p.crlf = part, cr
		return
	}
	p.first.Bytes += part.Bytes
	p.first.LastSeq = max(p.first.LastSeq, part.LastSeq)
	p.crlf = p.crlf && cr
}

// torn describes them as one part, which begins with the first.
func (p *foreignParts) torn() Torn {
	t := p.first
	switch {
	case t.Bytes == 0:
		t.Reason = fmt.Sprintf("%d line breaks are missing", p.parts)
	case p.crlf:
		t.Reason = fmt.Sprintf("%d line breaks were changed to CR LF", p.parts)
	case p.parts > 1:
		t.Reason = fmt.Sprintf("bytes that do not belong between the lines, in %d places", p.parts)
	default:
		t.Reason = "bytes that do not belong between the lines"
	}
	return t
}
