package redact

import "strings"

// A private key in its armour is a line with BEGIN, lines of base64, and a line with END.
const (
	armour = "-----BEGIN "
	footer = "-----END "
	dashes = "-----"
)

const (
	labelMost = 64       // bytes of what stands behind BEGIN or END
	noiseMost = 24       // bytes beside the base64 of a line: indentation, numbers, quotes
	noteMost  = 200      // bytes of a line before the key, such as Proc-Type: 4,ENCRYPTED
	longRun   = 40       // characters of base64 in a row that nothing but a key has at that place
	shortKey  = 16       // characters of a key that is whole
	keyMost   = 32 << 10 // bytes of a whole key
)

// matchArmour is as begun.secret, for a private key: up to END, or as far as there are lines
// of one. What only talks about keys, as code does, has no such lines. Strings in which \n
// stands for the end of a line are read as what they mean.
func matchArmour(text string, ends bool) (length int, open bool) {
	if len(text) < len(armour) {
		return 0, !ends && strings.HasPrefix(armour, text)
	}
	if !strings.HasPrefix(text, armour) {
		return 0, false
	}
	if len(text) >= keyMost {
		text, ends = text[:keyMost], true
	}
	label, ok := labelOf(text[len(armour):])
	if label < 0 && ok && !ends {
		return 0, true
	}
	if label < 0 || !ok {
		return 0, false
	}
	k := key{at: len(armour) + label}
	for !k.over {
		line, next, whole := cutLine(text[k.at:])
		if !whole && !ends && !endsKey(line) {
			return 0, true
		}
		k.take(line)
		k.at += next
		k.over = k.over || !whole
	}
	return k.length(), false
}

// labelOf is the length of what stands behind BEGIN or END, and whether it is the name of a
// private key. It is -1 when the end of it is missing, and whether it can still come.
func labelOf(text string) (length int, ok bool) {
	text = text[:min(len(text), labelMost)]
	label, _, whole := strings.Cut(text, dashes)
	name := strings.TrimRight(label, "-")
	if strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ") != "" {
		return -1, false
	}
	if !whole {
		return -1, len(text) < labelMost
	}
	return len(label) + len(dashes), strings.HasSuffix(name, "PRIVATE KEY") || strings.HasSuffix(name, "PRIVATE KEY BLOCK")
}

// cutLine is the first line of a text, where the next one begins, and whether the line is all
// there.
func cutLine(text string) (line string, next int, whole bool) {
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

// endsKey reports whether the line has the end of a key.
func endsKey(line string) bool {
	_, rest, ok := strings.Cut(line, footer)
	label, _ := labelOf(rest)
	return ok && label > 0
}

// A key is a private key that is read line by line.
type key struct {
	at   int // where the line begins
	over bool
	end  int // behind END; 0: it was not met

	lines int  // with a long run
	last  int  // behind the last of them
	short int  // lines behind that
	whole int  // characters of lines that are nothing but base64, while there are no long ones
	notes int  // bytes of what is none, before the key
	mixed bool // there are some
}

// take reads the next line.
func (k *key) take(line string) {
	if body, rest, ok := strings.Cut(line, footer); ok {
		k.takeBody(body)
		label, ok := labelOf(rest)
		if k.over = true; ok && label > 0 {
			k.end = k.at + len(body) + len(footer) + label
		}
		return
	}
	k.takeBody(line)
}

func (k *key) takeBody(line string) {
	start, n := longestRun(line)
	noise := len(line) - n
	switch {
	case n >= longRun && noise <= noiseMost:
		k.lines, k.short = k.lines+1, 0
		k.last = k.at + start + n
	case k.lines == 0:
		k.takeEarly(strings.TrimSpace(line), n, noise)
	case n < 4 && noise <= noiseMost: // nothing but quotes
	case k.short < 2 && noise <= noiseMost: // the last one, and its sum
		k.short++
	default:
		k.over = true
	}
}

// takeEarly reads a line before the first long one, which may be a note, or all of a short key.
func (k *key) takeEarly(line string, run, noise int) {
	if run == len(line) && run >= shortKey {
		k.whole += run
		return
	}
	note := strings.Contains(line, ": ") && len(line) <= labelMost+noiseMost
	k.mixed = k.mixed || line != ""
	k.notes += len(line)
	k.over = k.over || k.notes > noteMost || !note && (run >= shortKey || noise > noiseMost)
}

// length is how much of the text is the key, 0 when it is none.
func (k *key) length() int {
	if k.end > 0 && (k.lines > 0 || k.whole > 0 && !k.mixed) {
		return k.end
	}
	return k.last
}

// longestRun is the longest run of characters of base64.
func longestRun(line string) (start, n int) {
	for i := 0; i < len(line); {
		from := i
		for i < len(line) && base64Char[line[i]] {
			i++
		}
		if i-from > n {
			start, n = from, i-from
		}
		i++
	}
	return start, n
}

var base64Char = charsOf("09azAZ++//==")
