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

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/letters"
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
		m.text = m.form(q.Text)
		m.prefilter = newPrefilter(m.text, m.fold)
		return m, nil
	}
	// The capital of an escape such as \S or \PL is not part of the text.
	m.fold = !MatchesCase(escapes().ReplaceAllString(q.Text, ""))
	expression := letters.Compose(q.Text)
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
	m.prefilter = newPrefilter(requiredLiteral(letters.Compose(q.Text)), m.fold)
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
	speaker := letters.Fold(m.Speaker)
	return m.Speaker == "" || letters.Fold(s.ID) == speaker ||
		letters.Fold(s.Name) == speaker || letters.Fold(s.DisplayName) == speaker
}

// findText returns the place of the first match in a text, in bytes.
func (m *matcher) findText(text string) (start, end int, ok bool) {
	switch {
	case m.re != nil:
		at := m.re.FindStringIndex(letters.Compose(text))
		if at == nil {
			return 0, 0, false
		}
		start, end = letters.Source(text, letters.Compose, at[0], at[1])
		return start, end, true
	}
	if m.fold {
		return letters.IndexFold(text, m.text)
	}
	return letters.Index(text, m.text, letters.Compose)
}

// form returns a text as it is compared.
func (m *matcher) form(text string) string {
	if m.fold {
		return letters.Fold(text)
	}
	return letters.Compose(text)
}
