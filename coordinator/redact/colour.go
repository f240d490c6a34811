package redact

import "strings"

// escape begins a control sequence.
const escape = '\x1b'

// maxSequence is the length in bytes of the longest control sequence that is recognized.
const maxSequence = 64

// sequenceEnd returns the end of the control sequence at text[at], which is an escape: the colours of a
// terminal, for example. It is at if there is none, and -1 if it depends on how the text continues.
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

// withoutColours returns a text without its complete control sequences, and the offset of each of its
// bytes in the text, and of its end.
func withoutColours(text string) (plain string, offsets []int) {
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

// replaceColoured is the replacer of secrets with control sequences in them, which a program that
// highlights a part of its output prints. The sequences stay, after the mark. The text has passed
// replace, so that no secret is without a sequence. A text without any is returned as it is: what may
// become a secret when a sequence follows, replace has held back until then.
func (r *Redactor) replaceColoured(before, text string, ends bool) (clean, rest string) {
	if strings.IndexByte(text, escape) < 0 {
		return text, ""
	}
	open := ""
	if !ends {
		text, open = cutOpen(text)
	}
	plain, offsets := withoutColours(text)
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
			if to-from == length {
				continue // replace has kept it
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
