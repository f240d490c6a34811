package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// A Variable is one of an environment.
type Variable struct {
	Name, Value string
	Certain     bool // it is a secret, whatever its name says
}

// Secret reports whether the name of a variable says that its value is a secret. What says
// where a secret is found, or how many tokens there may be, is none.
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
	// leastLength is how many bytes a value has that is a secret wherever it stands; a shorter
	// one is a secret only as a word by itself.
	leastLength = 8
	// leastWord is how many bytes such a word has. Less is no secret, and in every text.
	leastWord = 4
)

// A value is the value of a variable, as it may stand in a text.
type value struct {
	text, kind string
	word       bool // it counts only as a word by itself
}

// valuesOf are the secrets among the variables, in every spelling, the longest first.
func valuesOf(variables []Variable) []value {
	var values []value
	for _, v := range variables {
		text := strings.TrimSpace(v.Value)
		if !v.Certain && !Secret(v.Name) || !keeps(text) {
			continue
		}
		kind := kindOf(v.Name)
		for _, spelling := range spellings(text) {
			values = append(values, value{text: spelling, kind: kind, word: len(spelling) < leastLength})
		}
	}
	slices.SortStableFunc(values, func(a, b value) int { return len(b.text) - len(a.text) })
	return values
}

// keeps reports whether a value can be a secret: not a switch, a limit, or a place.
func keeps(text string) bool {
	switch strings.ToLower(text) {
	case "true", "false", "none", "null":
		return false
	}
	digits := strings.Trim(text, "0123456789") == ""
	address := strings.Contains(text, "://") && !strings.ContainsAny(text, "@?#")
	return len(text) >= leastWord && !address && (!digits || len(text) >= leastLength)
}

// spellings are the ways in which a value is written.
func spellings(text string) []string {
	all := []string{text}
	if quoted, err := json.Marshal(text); err == nil {
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	all = append(all, strings.ReplaceAll(text, "/", `\/`), url.QueryEscape(text), url.PathEscape(text))
	if len(text) >= leastLength {
		// Behind other bytes base64 is another; what is encoded alone is what people print.
		all = append(all, base64.RawStdEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text)))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// kindOf is the name as a kind: nothing in it ends the mark.
func kindOf(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (inName(byte(r)) || r == '-') {
			return r
		}
		return '_'
	}, name)
}

// match is as begun.secret.
func (v *value) match(text string, ends bool) (length int, open bool) {
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
