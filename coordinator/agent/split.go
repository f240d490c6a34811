package agent

import (
	"bytes"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A splitter turns chunks of bytes, which end anywhere, into strings that never cut a valid
// UTF-8 sequence in two. Every byte comes out once and in order, valid or not.
type splitter struct {
	held []byte // the beginning of a rune whose rest has not come; at most 3 bytes
}

// next gives what is complete once the chunk has come.
func (s *splitter) next(chunk []byte) string {
	// The held bytes and a short chunk may still be less than one rune.
	all := append(s.held, chunk...)
	complete := runecut.Prefix(all, len(all))
	text := string(complete)
	s.held = append([]byte(nil), all[len(complete):]...)
	return text
}

// rest gives what is left when no more chunks come.
func (s *splitter) rest() string {
	text := string(s.held)
	s.held = nil
	return text
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
	kept = runecut.Suffix(kept, len(kept))
	return strings.TrimSpace(strings.ToValidUTF8(string(kept), "?"))
}
