package redact

import "strings"

// A private key in PEM is a line with BEGIN, lines of base64, and a line with END.
const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
	dashes   = "-----"
)

const (
	maxLabel   = 64       // bytes after BEGIN or END
	maxPadding = 24       // bytes of a line of base64 that are not base64: indentation, line numbers, quotes
	maxHeader  = 200      // bytes of headers before the key, such as Proc-Type: 4,ENCRYPTED
	longRun    = 40       // consecutive base64 characters that, at this place, are part of a key
	minKey     = 16       // base64 characters of a complete key
	maxKey     = 32 << 10 // bytes of a key
)

// matchPrivateKey is like candidates.match for a private key. The key ends with END, or with its
// last line. Text about keys, such as code, has no such lines. Strings with \n instead of newlines
// are understood.
func matchPrivateKey(text string, ends bool) (length int, incomplete bool) {
	if len(text) < len(pemBegin) {
		return 0, !ends && strings.HasPrefix(pemBegin, text)
	}
	if !strings.HasPrefix(text, pemBegin) {
		return 0, false
	}
	if len(text) >= maxKey {
		text, ends = text[:maxKey], true
	}
	label, ok := keyLabel(text[len(pemBegin):])
	if label < 0 && ok && !ends {
		return 0, true
	}
	if label < 0 || !ok {
		return 0, false
	}
	k := keyScanner{at: len(pemBegin) + label}
	for !k.done {
		line, next, terminated := cutLine(text[k.at:])
		if !terminated && !ends {
			_, rest, ok := strings.Cut(line, pemEnd)
			if label, _ := keyLabel(rest); !ok || label <= 0 {
				return 0, true
			}
		}
		k.scan(line)
		k.at += next
		k.done = k.done || !terminated
	}
	if k.end > 0 && (k.longLines > 0 || k.base64 > 0 && !k.hasHeader) {
		return k.end, false
	}
	return k.longEnd, false
}

// keyLabel returns the length of the text after BEGIN or END up to and including the dashes, and
// whether it is the label of a private key. The length is -1 if the dashes are missing; ok then
// reports whether they may follow.
func keyLabel(text string) (length int, ok bool) {
	text = text[:min(len(text), maxLabel)]
	label, _, closed := strings.Cut(text, dashes)
	name := strings.TrimRight(label, "-")
	if strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ") != "" {
		return -1, false
	}
	if !closed {
		return -1, len(text) < maxLabel
	}
	name = strings.TrimSuffix(name, " BLOCK")
	return len(label) + len(dashes), strings.HasSuffix(name, "PRIVATE KEY")
}

// cutLine returns the first line of a text and the offset of the next one. terminated is false if
// the line has no end.
func cutLine(text string) (line string, next int, terminated bool) {
	for i := range len(text) {
		switch {
		case text[i] == '\n':
			return text[:i], i + 1, true
		case text[i] == '\\' && strings.HasPrefix(text[i+1:], "n"):
			return text[:i], i + 2, true
		}
	}
	return text, len(text), false
}

// A keyScanner scans a private key line by line.
type keyScanner struct {
	at   int // offset of the line
	done bool
	end  int // offset after END; 0 if it was not found

	longLines  int // lines with a long run
	longEnd    int // offset after the last of them
	shortLines int // lines after that
	base64     int // characters of lines of base64 alone, before the first long run
	header     int // bytes of other lines before the first long run
	hasHeader  bool
}

func (k *keyScanner) scan(line string) {
	if body, rest, ok := strings.Cut(line, pemEnd); ok {
		k.scanBody(body)
		label, ok := keyLabel(rest)
		if k.done = true; ok && label > 0 {
			k.end = k.at + len(body) + len(pemEnd) + label
		}
		return
	}
	k.scanBody(line)
}

func (k *keyScanner) scanBody(line string) {
	start, n := longestRun(line)
	padding := len(line) - n
	switch {
	case n >= longRun && padding <= maxPadding:
		k.longLines, k.shortLines = k.longLines+1, 0
		k.longEnd = k.at + start + n
	case k.longLines == 0:
		k.scanHeader(strings.TrimSpace(line), n, padding)
	case n < 4 && padding <= maxPadding: // quotes only
	case k.shortLines < 2 && padding <= maxPadding: // the last line, and the checksum
		k.shortLines++
	default:
		k.done = true
	}
}

// scanHeader scans a line before the first long run: a header, or all of a short key.
func (k *keyScanner) scanHeader(line string, run, padding int) {
	if run == len(line) && run >= minKey {
		k.base64 += run
		return
	}
	header := strings.Contains(line, ": ") && len(line) <= maxLabel+maxPadding
	k.hasHeader = k.hasHeader || line != ""
	k.header += len(line)
	k.done = k.done || k.header > maxHeader || !header && (run >= minKey || padding > maxPadding)
}

// longestRun returns the longest run of base64 characters.
func longestRun(line string) (start, n int) {
	for i := 0; i < len(line); {
		from := i
		for i < len(line) && base64Chars[line[i]] {
			i++
		}
		if i-from > n {
			start, n = from, i-from
		}
		i++
	}
	return start, n
}
