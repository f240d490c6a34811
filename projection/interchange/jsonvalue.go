package interchange

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"

	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// jsonValue is a value as it stands in a JSON text; nil: there is none. Its
// methods look only at what they are asked for, so that most of a long line is
// skipped: they accept some texts that are not JSON. What is not of the expected
// type is empty.
type jsonValue []byte

// fields yields the names and values of an object's fields. A name with escapes
// is yielded with them. If whole is not nil, it is set to whether the value is an
// object up to its last byte, once all fields were yielded.
func (v jsonValue) fields(whole *bool) iter.Seq2[[]byte, jsonValue] {
	return func(yield func([]byte, jsonValue) bool) {
		i := skipSpace(v, 0)
		if i >= len(v) || v[i] != '{' {
			return
		}
		i = skipSpace(v, i+1)
		for i < len(v) && v[i] == '"' {
			end := skipString(v, i)
			if end < 0 {
				return
			}
			name := v[i+1 : end-1]
			if i = skipSpace(v, end); i >= len(v) || v[i] != ':' {
				return
			}
			i = skipSpace(v, i+1)
			if end = skipJSON(v, i); end < 0 || !yield(name, v[i:end:end]) {
				return
			}
			if i = skipSpace(v, end); i >= len(v) || v[i] != ',' {
				break
			}
			i = skipSpace(v, i+1)
		}
		if whole != nil {
			*whole = i < len(v) && v[i] == '}' && skipSpace(v, i+1) == len(v)
		}
	}
}

// elements yields the elements of an array.
func (v jsonValue) elements() iter.Seq[jsonValue] {
	return func(yield func(jsonValue) bool) {
		if len(v) == 0 || v[0] != '[' {
			return
		}
		for i := skipSpace(v, 1); i < len(v) && v[i] != ']'; {
			end := skipJSON(v, i)
			if end < 0 || !yield(v[i:end:end]) {
				return
			}
			if i = skipSpace(v, end); i >= len(v) || v[i] != ',' {
				return
			}
			i = skipSpace(v, i+1)
		}
	}
}

// field returns a field of an object.
func (v jsonValue) field(name string) jsonValue {
	for n, value := range v.fields(nil) {
		if string(n) == name {
			return value
		}
	}
	return nil
}

// isString reports whether the value is a string.
func (v jsonValue) isString() bool { return len(v) > 0 && v[0] == '"' }

// text returns the characters of a string.
func (v jsonValue) text() string {
	if !v.isString() {
		return ""
	}
	if c := layout.At(v); true {
		if text := c.String(); c.OK() && len(c.Rest()) == 0 {
			return text
		}
	}
	var text string
	if json.Unmarshal(v, &text) != nil {
		return ""
	}
	return text
}

// plain returns the bytes of a string between its quotes: its characters if it
// has no escapes.
func (v jsonValue) plain() []byte {
	if !v.isString() {
		return nil
	}
	return v[1 : len(v)-1]
}

func (v jsonValue) isTrue() bool { return string(v) == "true" }

// tokens returns a number of tokens. A negative one, which no program means, is 0.
func (v jsonValue) tokens() int64 {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// skipJSON returns the end of the value that starts at i, or -1.
func skipJSON(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			if i = skipString(text, i); i < 0 {
				return -1
			}
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return -1
			}
			i++
			continue
		default:
			start := i
			for i < len(text) && isLiteral(text[i]) {
				i++
			}
			if i == start {
				return -1
			}
		}
		if depth <= 0 {
			if depth < 0 {
				return -1
			}
			return i
		}
	}
	return -1
}

// skipString returns the end of the string that starts at i, or -1.
func skipString(text []byte, i int) int {
	for i++; ; i++ {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		backslashes := 0
		for text[i-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return i + 1
		}
	}
}

// isLiteral reports whether a byte occurs in numbers, true, false or null.
func isLiteral(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || b == '-' || b == '+' || b == '.' || b == 'E'
}

// stringValue returns a text that needs no escapes as a value.
func stringValue(text string) jsonValue { return jsonValue(`"` + text + `"`) }
