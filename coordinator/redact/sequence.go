package redact

import "strings"

// escape begins a control sequence.
const escape = '\x1b'

// maxSequence is the length in bytes of the longest control sequence that is recognized.
const maxSequence = 64

// sequenceEnd returns the end of the control sequence, such as a change of colour, that begins with the
// escape at text[at]. It returns at if none begins there, and -1 if that depends on how the text continues.
func sequenceEnd(text string, at int) int {
	for i := at + 1; i < len(text) && i < at+maxSequence; i++ {
		switch b := text[i]; {
		case i == at+1 && (b == '[' || b == '(' || b == ')'):
		case i == at+1:
			return at
		case text[at+1] != '[' || b >= 0x40 && b <= 0x7e:
			return i + 1
		case b < 0x20 || b > 0x7e:
			return at
		}
	}
	if len(text)-at < maxSequence {
		return -1
	}
	return at
}

// withoutSequences returns plain, which is text without its complete control sequences. offsets[i] is the
// offset in text of plain[i], and offsets[len(plain)] is len(text).
func withoutSequences(text string) (plain string, offsets []int) {
	var b strings.Builder
	for at := 0; at < len(text); at++ {
		if text[at] == escape {
			if end := sequenceEnd(text, at); end > at {
				at = end - 1
				continue
			}
		}
		b.WriteByte(text[at])
		offsets = append(offsets, at)
	}
	return b.String(), append(offsets, len(text))
}

// cutOpen returns a text without the beginning of a control sequence at its end, and that beginning.
func cutOpen(text string) (complete, open string) {
	last := strings.LastIndexByte(text, escape)
	if last < 0 || sequenceEnd(text, last) >= 0 {
		return text, ""
	}
	return text[:last], text[last:]
}

// replaceInterrupted is the replacer of secrets that contain control sequences, as in the output of a
// program that highlights a part of one, or that are secrets because of what follows a sequence after them. It
// moves the sequences after the mark of the secret. The text has passed replace, which has held back what may
// continue as a secret. So a text without sequences is returned as it is, and nothing of it is held back.
func (r *Redactor) replaceInterrupted(before, text string, ends bool) (clean, rest string) {
	if strings.IndexByte(text, escape) < 0 {
		return text, ""
	}
	open := ""
	if !ends {
		text, open = cutOpen(text)
	}
	plain, offsets := withoutSequences(text)
	var b strings.Builder
	copied := 0 // length of the prefix of text that is in b
	for at, c := r.next(plain, 0); at < len(plain); at, c = r.next(plain, at+1) {
		from := offsets[at]
		length, kind, incomplete := c.match(before, text[copied:from], plain[at:], ends)
		switch {
		case incomplete && (open != "" || strings.IndexByte(text[from:], escape) >= 0):
			b.WriteString(text[copied:from])
			return b.String(), text[from:] + open
		case length > 0:
			to := offsets[at+length-1] + 1
			if to-from == length && !strings.HasPrefix(text[to:], string(escape)) {
				continue // no sequence in it or after it: replace has decided to keep it
			}
			b.WriteString(text[copied:from])
			b.WriteString(mark(kind))
			for i := from; i < to; i++ {
				if text[i] == escape {
					end := max(i+1, sequenceEnd(text, i))
					b.WriteString(text[i:end])
					i = end - 1
				}
			}
			r.found = append(r.found, kind)
			copied, before = to, mark(kind)
			at += length - 1
		}
	}
	b.WriteString(text[copied:])
	return b.String(), open
}
