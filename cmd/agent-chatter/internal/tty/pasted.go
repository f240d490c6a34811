package tty

import (
	"bytes"
	"strings"
)

// maxPasted is how many bytes of a paste are kept.
const maxPasted = 16 << 20

const pasteMark = "\x1b[201~" // ends a paste

// pasted collects a paste.
type pasted struct {
	text    []byte
	dropped int
	mark    []byte // the end of the input, if the mark may begin there
}

// add takes the input up to the mark, and reports whether the mark was there.
func (p *pasted) add(input []byte) (rest []byte, ended bool) {
	input = append(p.mark, input...)
	text, rest, ended := bytes.Cut(input, []byte(pasteMark))
	if !ended {
		begun := min(len(input), len(pasteMark)-1)
		for !strings.HasPrefix(pasteMark, string(input[len(input)-begun:])) {
			begun--
		}
		text = input[:len(input)-begun]
		p.mark = bytes.Clone(input[len(input)-begun:])
	}
	kept := min(len(text), maxPasted-len(p.text))
	p.text = append(p.text, text[:kept]...)
	p.dropped += len(text) - kept
	return rest, ended
}

func (p *pasted) event() Event {
	lines := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(p.text))
	return Paste{strings.ToValidUTF8(lines, "\uFFFD"), p.dropped}
}
