package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
)

// A Variable is an environment variable.
type Variable struct {
	Name, Value string
	Certain     bool // its value is a secret, whatever its name is
}

// Secret reports whether a variable of that name has a secret: SECRET, PASSWORD or PASSWD occurs in it,
// or a word ends with KEY, KEYS, TOKEN or TOKENS, in any case. Names of files with secrets and of
// token limits have none.
func Secret(name string) bool {
	name = separateWords(name)
	if strings.HasPrefix(name, "MAX_") || strings.Contains(name, "_MAX_") {
		return false
	}
	for _, place := range []string{"_FILE", "_PATH", "_DIR"} {
		if strings.HasSuffix(name, place) {
			return false
		}
	}
	for _, word := range []string{"SECRET", "PASSWORD", "PASSWD"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return slices.ContainsFunc(strings.FieldsFunc(name, isNoLetter), endsWithKey)
}

// separateWords returns a name in capitals, with an underscore between the words of a name such as
// apiKey.
func separateWords(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if i > 0 && name[i] >= 'A' && name[i] <= 'Z' && name[i-1] >= 'a' && name[i-1] <= 'z' {
			b.WriteByte('_')
		}
		b.WriteByte(name[i])
	}
	return strings.ToUpper(b.String())
}

func isNoLetter(r rune) bool { return !unicode.IsLetter(r) }

// endsWithKey reports whether a word in capitals ends with KEY or TOKEN, or their plurals. Words such
// as KEYBOARD, KEYRING and TOKENIZER only begin with them, and some others are words of their own.
func endsWithKey(word string) bool {
	word = strings.TrimSuffix(word, "S")
	switch word {
	case "MONKEY", "DONKEY", "TURKEY", "JOCKEY", "HOCKEY", "HOTKEY", "WHISKEY":
		return false
	}
	return strings.HasSuffix(word, "KEY") || strings.HasSuffix(word, "TOKEN")
}

const (
	// minLength is the length in bytes of the shortest value that is replaced within words. Shorter
	// values are replaced as separate words only.
	minLength = 8
	// minWord is the length in bytes of the shortest value that is replaced at all.
	minWord = 4
	// maxOrdinary is the length in bytes of the longest value that counts as ordinary words.
	maxOrdinary = 15
)

// A value is an encoding of a variable's value.
type value struct {
	text, kind string
	word       bool // replaced as a separate word only
	ordinary   bool // replaced as a separate word that is assigned to a secret only
}

// valuesOf returns the secrets among the variables, in every encoding, longest first.
func valuesOf(variables []Variable) []value {
	var values []value
	for _, v := range variables {
		text := strings.TrimSpace(v.Value)
		if !v.Certain && !Secret(v.Name) || !canBeSecret(text) {
			continue
		}
		kind, ordinary := kindOf(v.Name), isOrdinary(text)
		for _, encoded := range encodings(text) {
			short := ordinary || len(encoded) < minLength
			values = append(values, value{text: encoded, kind: kind, word: short, ordinary: ordinary})
		}
	}
	slices.SortStableFunc(values, func(a, b value) int { return len(b.text) - len(a.text) })
	return values
}

// canBeSecret reports whether a value can be a secret: not a boolean, a small number, or an address.
func canBeSecret(text string) bool {
	switch strings.ToLower(text) {
	case "true", "false", "none", "null":
		return false
	}
	digits := strings.Trim(text, "0123456789") == ""
	address := strings.Contains(text, "://") && !strings.ContainsAny(text, "@?#")
	return len(text) >= minWord && !address && (!digits || len(text) >= minLength)
}

// isOrdinary reports whether a value consists of a few words, such as postgres, password or file-based.
// Most texts with these words are not about the secret.
func isOrdinary(text string) bool {
	isOther := func(r rune) bool { return isNoLetter(r) && !strings.ContainsRune(" -_./", r) }
	return len(text) <= maxOrdinary && !strings.ContainsFunc(text, isOther)
}

// encodings returns the ways in which a value may be written.
func encodings(text string) []string {
	quoted := jsonEscaped(text, false)
	all := []string{text, jsonEscaped(text, true), quoted, asciiEscaped(quoted), strings.ReplaceAll(text, "/", `\/`)}
	form := url.QueryEscape(text)
	component := strings.ReplaceAll(form, "+", "%20") // as JavaScript's encodeURIComponent
	for code, char := range map[string]string{"%21": "!", "%27": "'", "%28": "(", "%29": ")", "%2A": "*"} {
		component = strings.ReplaceAll(component, code, char)
	}
	for _, escaped := range []string{form, component, strings.ReplaceAll(form, "+", "%20"), url.PathEscape(text)} {
		all = append(all, escaped, percentCode().ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	if len(text) >= minLength && !isOrdinary(text) {
		all = append(all, base64Forms(text)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

var percentCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("%[0-9A-F]{2}")
})

// jsonEscaped returns a text as in a JSON string, with < and > escaped or not.
func jsonEscaped(text string, html bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	_ = enc.Encode(text) // strings cannot fail
	quoted := strings.TrimSuffix(b.String(), "\n")
	return quoted[1 : len(quoted)-1]
}

// asciiEscaped returns the content of a JSON string with the escapes of Python's json.dumps, which writes
// ASCII only.
func asciiEscaped(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		if unit < 0x80 {
			b.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// base64Forms returns a text in base64: as it is encoded alone, and the characters that it has in a
// longer text, such as user:password, wherever it begins there. Base64 encodes three bytes at a time.
// The characters at the ends, which also depend on the neighbours, are left out.
func base64Forms(text string) (forms []string) {
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		forms = append(forms, encoding.EncodeToString([]byte(text)))
		for before := range 3 {
			encoded := encoding.EncodeToString(append(make([]byte, before), text...))
			from, to := (before*8+5)/6, (before+len(text))*8/6
			forms = append(forms, encoded[from:to])
		}
	}
	return forms
}

// kindOf returns the name as a kind, without characters that could end the mark.
func kindOf(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (inName(byte(r)) || r == '-') {
			return r
		}
		return '_'
	}, name)
}

// match is like candidates.match for the value.
func (v *value) match(text string, ends bool) (length int, incomplete bool) {
	switch {
	case len(text) < len(v.text):
		return 0, !ends && strings.HasPrefix(v.text, text)
	case !strings.HasPrefix(text, v.text):
	case !v.word:
		return len(v.text), false
	case len(text) == len(v.text):
		if !ends {
			return 0, true
		}
		return len(v.text), false
	case !inName(text[len(v.text)]):
		return len(v.text), false
	}
	return 0, false
}

// mayBegin reports whether a value may begin after a text, which is in two parts, and before rest. A
// rest that begins with the value's end, "" for example, may continue.
func (v *value) mayBegin(earlier, before, rest string) bool {
	switch {
	case v.ordinary:
		return isAssigned(earlier, before, rest)
	case v.word:
		return beginsWord(earlier, before)
	}
	return true
}

// isAssigned reports whether a value after a text, which is in two parts, is assigned to a name of a
// secret: PASSWORD=postgres, "password": "postgres", --password postgres. The password in a URL, which
// rest follows, is assigned, too.
func isAssigned(before, text, rest string) bool {
	if len(text) < contextLength {
		text = before + text
	}
	text, _ = withoutSequences(text[max(0, len(text)-contextLength):])
	if scheme := strings.LastIndex(text, "://"); scheme >= 0 && (rest == "" || rest[0] == '@') {
		user, isPassword := strings.CutSuffix(text[scheme+len("://"):], ":")
		if isPassword && !strings.ContainsAny(user, " \t\r\n/@:") {
			return true
		}
	}
	const quotes, blanks = "\"'`\\", " \t"
	unquoted := strings.TrimRight(text, quotes)
	name := strings.TrimRight(unquoted, blanks)
	if operand := strings.TrimRight(name, "=:>"); operand != name {
		name = strings.TrimRight(operand, blanks+quotes+"])")
		return Secret(lastName(name))
	}
	return name != unquoted && strings.HasPrefix(lastName(name), "--") && Secret(lastName(name))
}

// lastName returns the name at the end of a text, with the dashes of an option.
func lastName(text string) string {
	return text[len(strings.TrimRightFunc(text, func(r rune) bool {
		return r == '-' || r < 0x80 && inName(byte(r))
	})):]
}
