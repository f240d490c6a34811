package agent

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// A splitter turns chunks of bytes, which end anywhere, into strings that never cut a valid
// UTF-8 sequence in two. Every byte comes out once and in order, valid or not.
type splitter struct {
	held []byte // the beginning of a rune whose rest has not come; at most 3 bytes
}

// next gives what is complete once the chunk has come.
func (s *splitter) next(chunk []byte) string {
	whole := len(chunk) - unfinished(chunk)
	if len(s.held) == 0 {
		s.held = append(s.held, chunk[whole:]...)
		return string(chunk[:whole])
	}
	// The held bytes and a short chunk may still be less than one rune.
	all := append(s.held, chunk...)
	whole = len(all) - unfinished(all)
	text := string(all[:whole])
	s.held = append([]byte(nil), all[whole:]...)
	return text
}

// rest gives what is left when no more chunks come.
func (s *splitter) rest() string {
	text := string(s.held)
	s.held = nil
	return text
}

// unfinished is the number of bytes at the end of b that begin a rune and do not end it.
// Bytes that no continuation could make valid are not unfinished: they are wrong already.
func unfinished(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if !utf8.RuneStart(b[len(b)-n]) {
			continue
		}
		if utf8.FullRune(b[len(b)-n:]) {
			return 0
		}
		return n
	}
	return 0
}

// wordMost is how many bytes a word has at most; more is no word, and no secret.
const wordMost = 512

// A tail keeps the end of what is written to it.
type tail struct {
	limit int // in bytes
	kept  []byte
	cut   bool // there was more
}

func (t *tail) write(chunk []byte) {
	t.kept = append(t.kept, chunk...)
	if extra := len(t.kept) - t.limit; extra > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[extra:]...), true
	}
}

// text is what was kept, trimmed, as valid UTF-8 of at most limit bytes. The cut may have
// left the end of a word at the front, or of a rune: it is dropped, since the end of a secret is
// not known for one.
func (t *tail) text() string {
	kept := t.kept
	if blank := bytes.IndexAny(kept, " \t\r\n"); t.cut && blank > 0 && blank <= wordMost {
		kept = kept[blank:]
	}
	for n := 0; n < utf8.UTFMax-1 && len(kept) > 0 && !utf8.RuneStart(kept[0]); n++ {
		kept = kept[1:]
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(kept), "?"))
}
