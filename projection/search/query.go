package search

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/projection"
)

// Query says what is looked for. The zero Query finds every message.
type Query struct {
	Text    string    // what a message contains, or a regular expression; in any case when it has no capital
	Regexp  bool      // Text is one, as package regexp has them; "." does not match a newline
	Speaker string    // the id, name or displayed name of who said it, in any case; "" is anybody
	Since   time.Time // when it was said at the earliest; zero is any time
}

// compiled is a query that is ready to be asked.
type compiled struct {
	Query
	fold bool
	text string         // as it is compared
	re   *regexp.Regexp // nil: text is
	raw  candidate      // what a line must contain
}

func (q Query) compile() (*compiled, error) {
	c := &compiled{Query: q, fold: !strings.ContainsFunc(q.Text, unicode.IsUpper)}
	if !q.Regexp {
		c.text = q.Text
		if c.fold {
			c.text = lower(c.text)
		}
		c.raw = candidateOf(c.text, c.fold)
		return c, nil
	}
	// An escape as \S or \PL has a capital that is no letter of the text.
	c.fold = !strings.ContainsFunc(escapes.ReplaceAllString(q.Text, ""), unicode.IsUpper)
	expression := q.Text
	if c.fold {
		expression = "(?i)" + expression
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		var wrong *syntax.Error
		if errors.As(err, &wrong) { // the expression in it is not the one that was typed
			err = errors.New(wrong.Code.String())
		}
		return nil, fmt.Errorf("%q is no regular expression: %w", q.Text, err)
	}
	c.re = re
	c.raw = candidateOf(literal(q.Text), c.fold)
	return c, nil
}

var escapes = regexp.MustCompile(`\\(?:[pP](?:\{[^}]*\}|.)|.)`)

// find returns where in a message the query matches first.
func (c *compiled) find(m projection.Message) (start, end int, ok bool) {
	switch {
	case c.Speaker != "" && !isSpeaker(m.Speaker, c.Speaker):
		return 0, 0, false
	case c.re != nil:
		at := c.re.FindStringIndex(m.Content)
		if at == nil {
			return 0, 0, false
		}
		return at[0], at[1], true
	case c.fold:
		return findFolded(m.Content, c.text)
	}
	start = strings.Index(m.Content, c.text)
	return start, start + len(c.text), start >= 0
}

func isSpeaker(s projection.Speaker, name string) bool {
	return strings.EqualFold(s.ID, name) || strings.EqualFold(s.Name, name) || strings.EqualFold(s.DisplayName, name)
}

// lower changes capitals, but no rune to or from an ASCII letter.
func lower(s string) string { return strings.Map(lowerRune, s) }

func lowerRune(r rune) rune {
	if l := unicode.ToLower(r); (l < utf8.RuneSelf) == (r < utf8.RuneSelf) {
		return l
	}
	return r
}

// findFolded finds a lower-case text in one that may not be. The lower case of
// a rune may have another length, so that offsets are counted as it goes.
func findFolded(s, text string) (start, end int, ok bool) {
	folded := lower(s)
	at := strings.Index(folded, text)
	if at < 0 {
		return 0, 0, false
	}
	start = unfolded(s, at)
	return start, start + unfolded(s[start:], len(text)), true
}

// unfolded is the offset in s at which lower(s) has the offset n.
func unfolded(s string, n int) int {
	for i, r := range s {
		if n <= 0 {
			return i
		}
		n -= utf8.RuneLen(lowerRune(r))
	}
	return len(s)
}
