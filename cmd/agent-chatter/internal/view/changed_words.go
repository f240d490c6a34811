package view

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxReplaced is how many lines are compared with those that replace them.
const maxReplaced = 50

// counterpart returns the line that replaces the removed line i, or that the added line i replaces: the one at the same
// place of the lines that are added after as many removed ones.
func counterpart(changes []Change, i int) (text string, ok bool) {
	kind := changes[i].Kind
	if kind == Kept {
		return "", false
	}
	first, last := i, i
	for first > 0 && changes[first-1].Kind == kind && i-first < maxReplaced {
		first--
	}
	for last < len(changes)-1 && changes[last+1].Kind == kind && last-first < maxReplaced {
		last++
	}
	if last-first >= maxReplaced {
		return "", false
	}
	n, other, begin := last-first+1, Added, last+1
	if kind == Added {
		other, begin = Removed, first-(last-first+1)
	}
	for j := begin; j < begin+n; j++ {
		if j < 0 || j >= len(changes) || changes[j].Kind != other {
			return "", false
		}
	}
	if before := begin - 1; kind == Added && before >= 0 && changes[before].Kind == other {
		return "", false
	}
	if after := begin + n; kind == Removed && after < len(changes) && changes[after].Kind == other {
		return "", false
	}
	return changes[begin+i-first].Text, true
}

// differing returns the part of a line that differs from another one, extended to whole words. It is empty if nearly
// all of the line differs, or nothing.
func differing(text, other string) (from, to int) {
	for from < min(len(text), len(other)) && text[from] == other[from] {
		from++
	}
	to = len(text)
	for rest := len(other); to > from && rest > from && text[to-1] == other[rest-1]; rest-- {
		to--
	}
	inWord := func(at int) bool {
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at:])
		return isWord(before) && isWord(after) || at < len(text) && !utf8.RuneStart(text[at])
	}
	for from > 0 && from < len(text) && inWord(from) {
		from--
	}
	for to < len(text) && inWord(to) {
		to++
	}
	same := len(strings.TrimSpace(text[:from])) + len(strings.TrimSpace(text[to:]))
	if same == 0 || same*4 < len(text) {
		return 0, 0
	}
	return from, to
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
