package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Query selects messages. The zero Query matches every message of every
// session.
type Query struct {
	Sessions catalog.Query // the sessions to search, in its order

	Text    string    // what a message contains, in any case unless MatchesCase
	Regexp  bool      // Text is a regular expression, as in package regexp
	Speaker string    // id, name or displayed name of the speaker, in any case; "": any
	Since   time.Time // earliest time of a message; zero: any
}

// MatchesCase reports whether a text matches only in its case: it has a capital letter.
func MatchesCase(text string) bool { return strings.ContainsFunc(text, unicode.IsUpper) }

// PatternError reports a Query whose Text is not a regular expression.
type PatternError struct {
	Pattern string
	Err     error
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("%q is not a regular expression: %s", e.Pattern, e.Err)
}

// matcher is a compiled Query.
type matcher struct {
	Query
	fold      bool           // text is in lower case and matches in any case
	text      string         // unless re is set
	re        *regexp.Regexp // nil: text is compared
	prefilter prefilter
	after     uint64 // the events up to this one are not searched
	file      string // of a FileQuery; "": messages are searched
}

func (q Query) compile() (*matcher, error) {
	m := &matcher{Query: q, fold: !MatchesCase(q.Text)}
	if !q.Regexp {
		m.text = q.Text
		if m.fold {
			m.text = lower(m.text)
		}
		m.prefilter = newPrefilter(m.text, m.fold)
		return m, nil
	}
	// The capital of an escape such as \S or \PL is not part of the text.
	m.fold = !MatchesCase(escapes().ReplaceAllString(q.Text, ""))
	expression := q.Text
	if m.fold {
		expression = "(?i)" + expression
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		var invalid *syntax.Error
		if errors.As(err, &invalid) { // without the expression, which has an added (?i)
			err = errors.New(invalid.Code.String())
		}
		return nil, &PatternError{q.Text, err}
	}
	m.re = re
	m.prefilter = newPrefilter(requiredLiteral(q.Text), m.fold)
	return m, nil
}

// Steps returns the most steps that the regular expression of a query takes for each character of a text. It is 0 if
// Regexp is not set, or if the expression is invalid.
func (q Query) Steps() int {
	if !q.Regexp {
		return 0
	}
	parsed, err := syntax.Parse(q.Text, syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}

var escapes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\(?:[pP](?:\{[^}]*\}|.)|.)`) })

// matchesSpeaker reports whether the query selects the messages of a speaker.
func (m *matcher) matchesSpeaker(s projection.Speaker) bool {
	return m.Speaker == "" || strings.EqualFold(s.ID, m.Speaker) ||
		strings.EqualFold(s.Name, m.Speaker) || strings.EqualFold(s.DisplayName, m.Speaker)
}

// findText returns the place of the first match in a text, in bytes.
func (m *matcher) findText(text string) (start, end int, ok bool) {
	switch {
	case m.re != nil:
		at := m.re.FindStringIndex(text)
		if at == nil {
			return 0, 0, false
		}
		return at[0], at[1], true
	case m.fold:
		return findFolded(text, m.text)
	}
	start = strings.Index(text, m.text)
	return start, start + len(m.text), start >= 0
}

// lower converts letters to lower case. A rune beyond ASCII never becomes an
// ASCII letter.
func lower(s string) string { return strings.Map(lowerRune, s) }

func lowerRune(r rune) rune {
	if l := unicode.ToLower(r); (l < utf8.RuneSelf) == (r < utf8.RuneSelf) {
		return l
	}
	return r
}

// findFolded finds a lower-case text in s, in any case. The lower case of a
// rune may have another length, so offsets are converted.
func findFolded(s, text string) (start, end int, ok bool) {
	at := strings.Index(lower(s), text)
	if at < 0 {
		return 0, 0, false
	}
	start = unfoldedOffset(s, at)
	return start, start + unfoldedOffset(s[start:], len(text)), true
}

// unfoldedOffset returns the offset in s of the rune at offset n of lower(s).
func unfoldedOffset(s string, n int) int {
	for i, r := range s {
		if n <= 0 {
			return i
		}
		n -= utf8.RuneLen(lowerRune(r))
	}
	return len(s)
}
