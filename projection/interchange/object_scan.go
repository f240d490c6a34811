package interchange

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// An objectScan finds the end of an object, which may come in parts. It checks the structure, and accepts any
// word as a value and any character in a string.
type objectScan struct {
	open    []byte // the containers, '{' or '['
	expects scanState
	escaped bool // the next character of a string is
	word    bool // the last byte was in a word
	unusual bool // there is a word or a character that JSON does not have
	begin   int  // of the word, if it began in this part
}

type scanState uint8

const (
	scanValue      scanState = iota // a value
	scanFirstValue                  // a value, or the end of the array
	scanFirstName                   // a name, or the end of the object
	scanName                        // a name
	scanColon                       // a colon
	scanComma                       // a comma, or the end of the container
	scanString                      // the rest of a string that is a value
	scanNameString                  // the rest of a name
)

// add scans the next part. It returns the end of the object in the part, 0 if the object is unfinished, and the
// negative place of the first byte that cannot be there, but at least -1.
func (s *objectScan) add(part []byte) (end int) {
	s.begin = 0
	for i := 0; i < len(part); i++ {
		c := part[i]
		if s.expects == scanString || s.expects == scanNameString {
			i += s.skipString(part[i:])
			continue
		}
		if s.word && !isWord(c) {
			s.endWord(part[s.begin:i])
		}
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
		case s.word:
		case !s.accept(c):
			return -max(1, i)
		case s.word:
			s.begin = i
		case len(s.open) == 0:
			return i + 1
		}
	}
	return 0
}

// skipString scans a string up to its end and returns how many bytes to skip before the next one.
func (s *objectScan) skipString(text []byte) int {
	for i, c := range text {
		switch {
		case c < ' ':
			s.unusual = true
			s.escaped = false
		case s.escaped:
			s.escaped = false
		case c == '\\':
			s.escaped = true
		case c == '"':
			if s.expects++; s.expects == scanNameString {
				s.expects = scanComma
			} else {
				s.expects = scanColon
			}
			return i
		}
	}
	return len(text)
}

// accept changes the state by a byte that is no space, in a string or in a word. It reports false if the byte cannot
// be there.
func (s *objectScan) accept(c byte) bool {
	value := s.expects == scanValue || s.expects == scanFirstValue
	switch {
	case len(s.open) == 0:
		if c != '{' {
			return false
		}
		s.push(c)
	case value && (c == '{' || c == '['):
		s.push(c)
	case value && c == '"':
		s.expects = scanString
	case value && isWord(c):
		s.word = true
	case (s.expects == scanName || s.expects == scanFirstName) && c == '"':
		s.expects = scanNameString
	case s.expects == scanColon && c == ':':
		s.expects = scanValue
	case s.expects == scanComma && c == ',':
		if s.expects = scanValue; s.top() == '{' {
			s.expects = scanName
		}
	case c == '}' && (s.expects == scanComma || s.expects == scanFirstName) && s.top() == '{',
		c == ']' && (s.expects == scanComma || s.expects == scanFirstValue) && s.top() == '[':
		s.open = s.open[:len(s.open)-1]
		s.expects = scanComma
	default:
		return false
	}
	return true
}

func (s *objectScan) top() byte { return s.open[len(s.open)-1] }

func (s *objectScan) push(c byte) {
	s.open = append(s.open, c)
	if s.expects = scanFirstName; c == '[' {
		s.expects = scanFirstValue
	}
}

func (s *objectScan) endWord(word []byte) {
	s.word, s.expects = false, scanComma
	s.unusual = s.unusual || !isJSONWord(word)
}

// isWord reports whether a byte may be in a number, or in a word such as null or -Infinity.
func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

func isJSONWord(word []byte) bool { return json.Valid(word) }

// repaired returns the object, of which the scan has seen the end, as JSON.
func (s *objectScan) repaired(object []byte) []byte {
	if !s.unusual {
		return object
	}
	var b bytes.Buffer
	inString, escaped := false, false
	for i := 0; i < len(object); i++ {
		c := object[i]
		switch {
		case inString && c < ' ' && escaped: // the escape of a control character
			b.Truncate(b.Len() - 1)
			fmt.Fprintf(&b, `\u%04x`, c)
			escaped = false
		case inString && c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		case inString:
			b.WriteByte(c)
			inString = escaped || c != '"'
			escaped = !escaped && c == '\\'
		case isWord(c):
			end := i
			for end < len(object) && isWord(object[end]) {
				end++
			}
			if word := object[i:end]; isJSONWord(word) {
				b.Write(word)
			} else {
				b.WriteString("null")
			}
			i = end - 1
		default:
			b.WriteByte(c)
			inString = c == '"'
		}
	}
	return b.Bytes()
}
