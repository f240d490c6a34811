package completion

import (
	"strings"
)

// bashWords joins the parts into which bash splits words at = and :, and removes their
// quotes and backslashes. fixed is the part of the last word that bash does not
// replace.
func bashWords(parts []string) (words []string, fixed string) {
	for i, part := range parts {
		text := unquoted(part)
		glued := i > 0 && (breaksWord(part) || breaksWord(parts[i-1]))
		switch {
		case !glued:
			words, fixed = append(words, text), ""
		default:
			fixed = words[len(words)-1]
			words[len(words)-1] += text
			if breaksWord(part) {
				fixed += text
			}
		}
	}
	return words, fixed
}

func breaksWord(part string) bool { return part != "" && strings.Trim(part, "=:") == "" }

// unquoted removes the quotes and backslashes of a shell from a word, whose last quote
// may be open.
func unquoted(word string) string {
	var b strings.Builder
	var quote byte
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c == quote: // an argument has no NUL
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == '\\' && quote != '\'' && i+1 < len(word):
			i++
			b.WriteByte(word[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
