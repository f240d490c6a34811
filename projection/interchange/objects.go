package interchange

import (
	"bytes"
	"errors"
	"io"

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// maxTorn is how much of an object is held that continues on the next line, in bytes.
const maxTorn = 4 << 20

// eachPiece passes the objects in the lines of r to a function until that returns false, and the pieces between them
// that are no object. Blank lines, and NUL bytes, spaces and byte order marks around a line, are no part of it.
// An object may continue on the next lines, and a line may have several: where a line break is missing, the end of an
// unfinished object is found by the beginning of the next one, which reaches to the end of its line. A piece is valid
// during the call; a line longer than the limit is nil. Values that are no JSON, such as NaN, become null, and control
// characters in strings become escapes.
func eachPiece(r io.Reader, limit int, each func(piece []byte) bool) error {
	p := pieces{each: each}
	all := lines.NewReader(r, limit)
	for !p.stopped {
		line, err := all.Next()
		last := err == io.EOF
		switch {
		case last:
			line = all.Rest()
		case errors.Is(err, lines.ErrTooLong):
			p.flush()
			p.yield(nil)
			if _, err := all.Skip(nil); err != nil && err != io.EOF {
				return err
			}
			continue
		case err != nil:
			return err
		}
		p.addLine(line)
		if last {
			p.flush()
			return nil
		}
	}
	return nil
}

// pieces divides lines into pieces.
type pieces struct {
	each    func([]byte) bool
	stopped bool
	torn    []byte // an object that is unfinished at the end of a line
	scan    objectScan
}

func (p *pieces) yield(piece []byte) {
	if !p.stopped {
		p.stopped = !p.each(piece)
	}
}

// flush passes on an unfinished object.
func (p *pieces) flush() {
	if len(p.torn) > 0 {
		torn := p.torn
		p.torn = p.torn[:0]
		p.yield(torn)
	}
}

// separators are no part of a line at its ends: byte order marks are found where they are whole.
const separators = " \t\r\x00\x1e"

var byteOrderMark = []byte("\uFEFF")

// trimSeparators returns a line without what surrounds it.
func trimSeparators(line []byte) []byte {
	for {
		line = bytes.Trim(line, separators)
		if trimmed := bytes.TrimPrefix(line, byteOrderMark); len(trimmed) < len(line) {
			line = trimmed
			continue
		}
		return line
	}
}

func (p *pieces) addLine(line []byte) {
	text := trimSeparators(line)
	if len(p.torn) > 0 {
		if p.continueObject(line, text) {
			return
		}
		p.flush()
	}
	p.addText(text)
}

// continueObject adds a line to the unfinished object. It reports false if the line is no part of it.
func (p *pieces) continueObject(line, text []byte) bool {
	if len(text) > 0 && &text[0] == &line[0] && text[0] == '{' || len(p.torn)+len(line) >= maxTorn {
		return false
	}
	scan := p.scan
	before := len(p.torn)
	p.torn = append(append(p.torn, '\n'), line...)
	end := p.scan.add(p.torn[before:])
	switch {
	case end < 0: // it does not continue the object
		p.torn, p.scan = p.torn[:before], scan
		return false
	case end == 0:
		return true
	}
	rest := trimSeparators(p.torn[before+end:])
	if len(rest) > 0 && rest[0] != '{' && rest[0] != ',' {
		p.torn, p.scan = p.torn[:before], scan
		return false
	}
	object := p.torn[:before+end]
	p.torn = nil
	p.yield(p.scan.repaired(object))
	p.addText(rest)
	return true
}

// addText divides a text that has no unfinished object before it.
func (p *pieces) addText(text []byte) {
	for text = trimSeparators(text); len(text) > 0 && !p.stopped; text = trimSeparators(text) {
		if objects := trimSeparators(text[1:]); text[0] == '[' && text[len(text)-1] == ',' && objects[0] == '{' {
			text = objects // of a list on lines
		}
		end, at := 0, 0
		if p.scan = (objectScan{}); text[0] == '{' {
			end = p.scan.add(text)
			at = -end
		}
		if end > 0 {
			p.yield(p.scan.repaired(text[:end]))
			text = bytes.TrimPrefix(trimSeparators(text[end:]), []byte(","))
			continue
		}
		if next := resynchronise(text, at); next > 0 {
			p.yield(text[:next])
			text = text[next:]
			continue
		}
		if text[0] == '{' && end == 0 && len(text) < maxTorn {
			p.torn = append(p.torn[:0], text...)
			return
		}
		p.yield(text)
		return
	}
}

// maxCandidates bounds the places in a line where an object is looked for.
const maxCandidates = 64

// resynchronise returns where the next object begins in a text that does not begin with a whole one; 0: nowhere. The
// text is no JSON from the byte at on; 0: it has no end, or begins with no object.
func resynchronise(text []byte, at int) int {
	begin, name := []byte(`{"`), firstName(text)
	for next, n := 0, 0; n < maxCandidates; {
		i := bytes.Index(text[next+1:], begin)
		if i < 0 {
			return 0
		}
		next += 1 + i
		if isValue(text, next) && !bytes.Equal(firstName(text[next:]), name) {
			continue
		}
		if isFollowed(text[next:]) {
			return next
		}
		n++
	}
	// The beginning of the other object ended a string, or is where no value may be.
	if next := bytes.LastIndex(text[:min(len(text), at+2)], begin); next > 0 && isFollowed(text[next:]) {
		return next
	}
	return 0
}

// isValue reports whether an object in a text that begins with an unfinished one may be a value of that. Such an object
// is one of its own if it has the first name of the other: a program writes the same name first in each of its objects.
func isValue(text []byte, at int) bool {
	before := bytes.TrimRight(text[:at], separators)
	return text[0] == '{' && len(before) > 0 && bytes.IndexByte([]byte(":[,"), before[len(before)-1]) >= 0
}

// isFollowed reports whether a text begins with a whole object, and the next one or nothing follows it.
func isFollowed(text []byte) bool {
	var scan objectScan
	end := scan.add(text)
	if end <= 0 {
		return false
	}
	rest := trimSeparators(text[end:])
	return len(rest) == 0 || rest[0] == '{'
}

// firstName returns the first string of an object, the name of its first field.
func firstName(object []byte) []byte {
	i := skipSpace(object, min(1, len(object)))
	if i >= len(object) || object[i] != '"' {
		return nil
	}
	end := skipString(object, i)
	return object[i:max(i, end)]
}

// objectStart returns where the first object of a text begins, before which a program may have printed its status.
// It returns 0 if there is none, or if the text begins with a list.
func objectStart(text []byte) int {
	first := len(text) - len(bytes.TrimLeft(text, separators+"\n"))
	if first < len(text) && (text[first] == '{' || text[first] == '[') {
		return first
	}
	for at := first; ; at++ {
		i := bytes.IndexByte(text[at:], '{')
		if i < 0 {
			return 0
		}
		at += i
		if next := bytes.TrimLeft(text[at+1:], " \t\r\n"); len(next) > 0 && (next[0] == '"' || next[0] == '}') {
			return at
		}
	}
}
