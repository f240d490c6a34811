package process

import (
	"bytes"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A splitter turns chunks of bytes, which may be cut anywhere, into strings that never cut a valid
// UTF-8 sequence. It returns every byte once and in order, valid or not.
type splitter struct {
	held []byte // an incomplete rune; at most 3 bytes
}

// next returns the held bytes and the chunk, up to the last complete rune.
func (s *splitter) next(chunk []byte) string {
	// The held bytes and a short chunk may still be less than one rune.
	all := append(s.held, chunk...)
	complete := runecut.Prefix(all, len(all))
	text := string(complete)
	s.held = append([]byte(nil), all[len(complete):]...)
	return text
}

// rest returns the held bytes at the end of the input.
func (s *splitter) rest() string {
	text := string(s.held)
	s.held = nil
	return text
}

// maxWord is the length in bytes of the longest word that a tail drops if it was cut. Longer
// words are no secrets.
const maxWord = 512

// A tail keeps the last bytes that are written to it.
type tail struct {
	limit int // in bytes
	kept  []byte
	cut   bool // something was dropped
}

func (t *tail) write(chunk []byte) {
	t.kept = append(t.kept, chunk...)
	if extra := len(t.kept) - t.limit; extra > 0 {
		t.kept, t.cut = append(t.kept[:0], t.kept[extra:]...), true
	}
}

// text returns what was kept, trimmed, as valid UTF-8 of at most limit bytes. A word or rune that
// the cut has shortened is dropped: redaction does not recognize the end of a secret.
func (t *tail) text() string {
	kept := t.kept
	if blank := bytes.IndexAny(kept, " \t\r\n"); t.cut && blank > 0 && blank <= maxWord {
		kept = kept[blank:]
	}
	kept = runecut.Suffix(kept, len(kept))
	return strings.TrimSpace(strings.ToValidUTF8(string(kept), "?"))
}
