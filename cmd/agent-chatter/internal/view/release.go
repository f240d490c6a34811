package view

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Release returns blocks from the beginning of Held, as they are now, so that the rest takes at most so many lines in
// a style. They are no longer held. Of a paragraph these are its first lines. A tool call that is returned without
// its result is returned again when it has one.
func (t *Transcript) Release(s Style, lines int) []Block {
	var released []Block
	for {
		excess := -lines
		for _, b := range t.Held() {
			excess += len(Render(b, s))
		}
		if excess <= 0 {
			return released
		}
		if len(t.queue) > 0 {
			b := t.queue[0]
			if b.running() {
				t.turn.released = append(t.turn.released, b.content.(Call))
			}
			t.queue = t.queue[1:]
			released = append(append(released, b), t.take()...)
			continue
		}
		at := t.cutAfter(s, excess)
		if at == 0 {
			return released
		}
		for _, p := range t.text.stream.Cut(at) {
			released = append(released, t.text.block(p))
		}
	}
}

// cutAfter returns how much of the text that is held takes so many lines, or the least that can be cut; 0 if there is
// nothing.
func (t *Transcript) cutAfter(s Style, lines int) int {
	pending, shown := t.text.stream.Pending()
	cuts := cuts(pending, shown)
	i := sort.Search(len(cuts), func(i int) bool {
		n, text := 0, t.text
		for _, p := range t.text.stream.Peek(cuts[i]) {
			n += len(Render(text.block(p), s))
		}
		return n > lines
	})
	if len(cuts) == 0 {
		return 0
	}
	return cuts[max(i-1, 0)]
}

// cuts returns where a text can be cut: at the end of a line, before a word that begins no other block, and if there
// is no such place, between two characters.
func cuts(pending string, shown int) []int {
	var words, characters []int
	for i, r := range pending[shown:] {
		end := shown + i + utf8.RuneLen(r)
		next := pending[min(end, len(pending)):min(end+1, len(pending))]
		switch {
		case r == utf8.RuneError:
		case r == '\n', r == ' ' && !strings.ContainsAny(next, "-+*#>|=`~[ 0123456789"):
			words = append(words, end)
		case r != ' ':
			characters = append(characters, end)
		}
	}
	if len(words) > 0 {
		return words
	}
	return characters
}
