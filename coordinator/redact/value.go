package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// A Variable is an environment variable.
type Variable struct {
	Name, Value string
	Certain     bool // its value is a secret, whatever its name is
}

// Secret reports whether a variable of that name has a secret. Names of files with secrets and of
// token limits have none.
func Secret(name string) bool {
	name = strings.ToUpper(name)
	if strings.HasPrefix(name, "MAX_") || strings.Contains(name, "_MAX_") {
		return false
	}
	for _, place := range []string{"_FILE", "_PATH", "_DIR"} {
		if strings.HasSuffix(name, place) {
			return false
		}
	}
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

const (
	// minLength is the length in bytes of the shortest value that is replaced within words. Shorter
	// values are replaced as separate words only.
	minLength = 8
	// minWord is the length in bytes of the shortest value that is replaced at all.
	minWord = 4
)

// A value is an encoding of a variable's value.
type value struct {
	text, kind string
	word       bool // replaced as a separate word only
}

// valuesOf returns the secrets among the variables, in every encoding, longest first.
func valuesOf(variables []Variable) []value {
	var values []value
	for _, v := range variables {
		text := strings.TrimSpace(v.Value)
		if !v.Certain && !Secret(v.Name) || !canBeSecret(text) {
			continue
		}
		kind := kindOf(v.Name)
		for _, encoded := range encodings(text) {
			values = append(values, value{text: encoded, kind: kind, word: len(encoded) < minLength})
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

// encodings returns the ways in which a value may be written.
func encodings(text string) []string {
	all := []string{text}
	if quoted, err := json.Marshal(text); err == nil {
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	all = append(all, strings.ReplaceAll(text, "/", `\/`), url.QueryEscape(text), url.PathEscape(text))
	if len(text) >= minLength {
		// base64 depends on byte alignment; this covers values that are encoded separately.
		all = append(all, base64.RawStdEncoding.EncodeToString([]byte(text)))
		all = append(all, base64.RawURLEncoding.EncodeToString([]byte(text)))
	}
	slices.Sort(all)
	return slices.Compact(all)
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
