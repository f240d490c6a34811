package hint

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Join returns argv as a command line for a POSIX shell: the quoted words, separated by spaces.
// The result is one line that is safe to print and to paste.
func Join(argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		words[i] = quote(arg)
	}
	// In the command's place an unquoted word may be an assignment or a keyword.
	if len(argv) > 0 && words[0] == argv[0] && (strings.Contains(argv[0], "=") || slices.Contains(keywords, argv[0])) {
		words[0] = "'" + argv[0] + "'"
	}
	return strings.Join(words, " ")
}

var keywords = []string{
	"if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "in",
	"function", "select", "time", "coproc",
}

// quote returns word as one word of a POSIX shell: unchanged if no shell gives its characters a
// meaning, otherwise in single quotes. A word that has control characters, invisible characters or
// invalid UTF-8 is written as $'…', which dash does not know but bash, zsh, ksh and busybox do.
// An argument cannot contain NUL: it becomes U+FFFD. The result is printable and has one line.
func quote(word string) string {
	word = strings.ReplaceAll(word, "\x00", "\uFFFD")
	switch {
	case word != "" && word[0] != '=' && strings.Trim(word, plain) == "": // zsh expands =word
		return word
	case utf8.ValidString(word) && !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return escape(word)
}

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-"

// escape returns word as $'…'. Quotes and "!" are escaped by number: the history expansion of
// interactive shells does not know \' within $'…'.
func escape(word string) string {
	var b strings.Builder
	b.WriteString("$'")
	for len(word) > 0 {
		r, size := utf8.DecodeRuneInString(word)
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\\':
			b.WriteString(`\\`)
		case r == utf8.RuneError && size == 1, r == '\'', r == '!', !unicode.IsPrint(r):
			for i := range size {
				fmt.Fprintf(&b, `\%03o`, word[i])
			}
		default:
			b.WriteRune(r)
		}
		word = word[size:]
	}
	b.WriteString("'")
	return b.String()
}
