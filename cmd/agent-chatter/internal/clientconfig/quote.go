package clientconfig

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted returns s as a string literal in double quotes. All formats here escape a quote, a backslash and a newline in
// the same way; escape returns any other character that is not printable.
func quoted(s string, escape func(rune) string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			b.WriteString(escape(r))
		}
	}
	b.WriteByte('"')
	return b.String()
}

// list returns the literals of all strings, with a separator between them.
func list(all []string, separator string, literal func(string) string) string {
	literals := make([]string, len(all))
	for i, s := range all {
		literals[i] = literal(s)
	}
	return strings.Join(literals, separator)
}

func inJSON(s string) string {
	return quoted(s, func(r rune) string {
		var units strings.Builder
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&units, `\u%04x`, unit)
		}
		return units.String()
	})
}

// inTOML returns a basic string.
func inTOML(s string) string { return quoted(s, codePoint) }

func inLisp(s string) string { return quoted(s, codePoint) }

func codePoint(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08X`, r)
	}
	return fmt.Sprintf(`\u%04X`, r)
}

// inLua escapes bytes: Lua 5.1 knows no code points.
func inLua(s string) string {
	return quoted(s, func(r rune) string {
		var bytes strings.Builder
		for _, b := range utf8.AppendRune(nil, r) {
			fmt.Fprintf(&bytes, `\%03d`, b)
		}
		return bytes.String()
	})
}

// expanded finds a $ that begins the name of a variable.
var expanded = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$([A-Za-z0-9_{])`)
})

// unexpanded returns s so that Claude Code and Gemini CLI, which replace $NAME and ${NAME} in their configuration, read
// s. Neither can escape a $, but both know a default for an unset variable.
func unexpanded(s string) string {
	return expanded().ReplaceAllString(s, `$${AGENT_CHATTER_DOLLAR:-$$}$1`)
}
