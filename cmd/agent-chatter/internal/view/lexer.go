package view

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// The styles of tokens.
var (
	plain        = ansi.Style{}
	comment      = ansi.Style{Dim: true, Italic: true}
	quoted       = ansi.Style{Color: ansi.Green}
	number       = ansi.Style{Color: ansi.Yellow}
	keyword      = ansi.Style{Color: ansi.Magenta}
	function     = ansi.Style{Color: ansi.Blue}
	key          = ansi.Style{Color: ansi.Cyan}
	variable     = ansi.Style{Color: ansi.Cyan}
	added        = ansi.Style{Color: ansi.Green}
	removed      = ansi.Style{Color: ansi.Red}
	place        = ansi.Style{Color: ansi.Cyan}
	prompt       = ansi.Style{Dim: true}
	commandStyle = ansi.Style{Bold: true}
)

// A Lexer colours the lines of one block of code. Copies are independent. The zero Lexer, and that of an unknown
// language, colour nothing.
type Lexer struct {
	language *language
	until    string // the end of the comment or string that the next line begins in; "" is none
	style    ansi.Style
	inTag    bool // the next line begins in a tag
	session  bool // of a shell: commands follow a prompt, and the other lines are their output
	typed    bool // the next line continues a command of the session
}

// NewLexer returns the Lexer of a language as it is named after the fence of a code block.
func NewLexer(language string) Lexer {
	known := find(language)
	return Lexer{language: known, session: known != nil && contains(sessions, strings.ToLower(language))}
}

// sessions are the names of languages for a session of a shell.
const sessions = "console shell-session"

// shellPrompt precedes a command of a session.
const shellPrompt = "$ "

// Line returns the next line of code in styles. It has no line break.
func (l *Lexer) Line(line string) ansi.Line {
	switch {
	case l.language == nil:
		return ansi.Line{{Text: line}}
	case l.language.flags&changes != 0:
		return ansi.Line{{Text: line, Style: changeStyle(line)}}
	case l.session:
		return l.sessionLine(line)
	}
	return l.scan(line)
}

func (l *Lexer) scan(line string) ansi.Line {
	s := scanner{Lexer: l, line: line}
	for s.at < len(line) {
		s.token()
	}
	s.flush()
	return s.spans
}

// sessionLine returns a line of a session of a shell: a command, the rest of one, or output.
func (l *Lexer) sessionLine(line string) ansi.Line {
	typed, begins := strings.CutPrefix(line, shellPrompt)
	if !begins && !l.typed {
		return ansi.Line{{Text: line}}
	}
	spans := l.scan(typed)
	for i := range spans {
		switch spans[i].Style {
		case plain, keyword, number: // of arguments, mostly
			spans[i].Style = commandStyle
		}
	}
	if begins {
		spans = append(ansi.Line{{Text: shellPrompt, Style: prompt}}, spans...)
	}
	l.typed = strings.HasSuffix(line, "\\")
	return spans
}

// changeStyle returns the style of a line of a diff.
func changeStyle(line string) ansi.Style {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return ansi.Style{Bold: true}
	case strings.HasPrefix(line, "+"):
		return added
	case strings.HasPrefix(line, "-"):
		return removed
	case strings.HasPrefix(line, "@@"):
		return place
	}
	return plain
}

// A scanner divides a line into tokens.
type scanner struct {
	*Lexer
	line  string
	at    int
	start int  // of the plain text before at
	begun bool // more than blanks and dashes precede at
	spans ansi.Line
}

// take makes line[at:end] a token.
func (s *scanner) take(end int, style ansi.Style) {
	if style != plain {
		s.flush()
		s.spans = append(s.spans, ansi.Span{Text: s.line[s.at:end], Style: style})
		s.start = end
	}
	s.begun = s.begun || strings.Trim(s.line[s.at:end], " \t-") != ""
	s.at = end
}

func (s *scanner) flush() {
	if s.start < s.at {
		s.spans = append(s.spans, ansi.Span{Text: s.line[s.start:s.at]})
		s.start = s.at
	}
}

// takeUntil takes text up to the end of a comment or string, which may be on a later line.
func (s *scanner) takeUntil(from int, end string, style ansi.Style) {
	s.until, s.style = end, style
	for i := from; i < len(s.line); i++ {
		if s.line[i] == '\\' && style == quoted {
			i++
		} else if strings.HasPrefix(s.line[i:], end) {
			s.until = ""
			s.take(i+len(end), style)
			return
		}
	}
	s.take(len(s.line), style)
}

// token takes the next token.
func (s *scanner) token() {
	if s.until != "" {
		s.takeUntil(s.at, s.until, s.style)
		return
	}
	rest, l := s.line[s.at:], s.language
	if begin, end, _ := strings.Cut(l.block, " "); begin != "" && strings.HasPrefix(rest, begin) {
		s.takeUntil(s.at+len(begin), end, comment)
		return
	}
	if mark := prefix(rest, l.comment); mark != "" && (l.flags&sigils == 0 || s.at == 0 || s.line[s.at-1] <= ' ') {
		s.take(len(s.line), comment)
		return
	}
	if quote := prefix(rest, l.raw); quote != "" {
		s.takeUntil(s.at+len(quote), quote, quoted)
		return
	}
	if quote := prefix(rest, l.strings); quote != "" && s.stringAt(quote) {
		return
	}
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case l.flags&tags != 0:
		s.markup(r, size)
	case r >= '0' && r <= '9':
		s.take(s.at+wordEnd(rest, "._"), number)
	case r == '_' || unicode.IsLetter(r):
		s.word()
	case prefix(rest, l.variable) != "":
		s.take(s.at+size+wordEnd(rest[size:], "_-{}"), variable)
	default:
		s.take(s.at+size, plain)
	}
}

// prefix returns the first word of a list that a text begins with; "" if there is none.
func prefix(text, list string) string {
	for list != "" {
		word, rest, _ := strings.Cut(list, " ")
		if strings.HasPrefix(text, word) {
			return word
		}
		list = rest
	}
	return ""
}

// stringAt takes a string that ends on the line. It reports false if the quote begins something else.
func (s *scanner) stringAt(quote string) bool {
	end := s.at + len(quote)
	if quote == "'" && s.language.flags&lifetimes != 0 {
		_, size := utf8.DecodeRuneInString(s.line[end:])
		if !strings.HasPrefix(s.line[end:], `\`) && !strings.HasPrefix(s.line[end+size:], quote) {
			return false
		}
	}
	for end < len(s.line) && !strings.HasPrefix(s.line[end:], quote) {
		if s.line[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end+len(quote), len(s.line))
	style := quoted
	if s.language.flags&keys != 0 && strings.HasPrefix(strings.TrimLeft(s.line[end:], " "), ":") {
		style = key
	}
	s.take(end, style)
	return true
}

// word takes a name or a keyword.
func (s *scanner) word() {
	more := "_"
	if s.language.flags&dashes != 0 {
		more = "_-."
	}
	end := s.at + wordEnd(s.line[s.at:], more)
	word, after := s.line[s.at:end], strings.TrimLeft(s.line[end:], " ")
	if s.language.flags&anyCase != 0 {
		word = strings.ToLower(word)
	}
	isKey := s.language.flags&keys != 0 && !s.begun &&
		(strings.HasPrefix(after, ":") || strings.HasPrefix(after, "="))
	switch {
	case isKey:
		s.take(end, key)
	case contains(s.language.keywords, word):
		s.take(end, keyword)
	case strings.HasPrefix(s.line[end:], "("):
		s.take(end, function)
	default:
		s.take(end, plain)
	}
}

// markup takes a part of HTML or XML.
func (s *scanner) markup(r rune, size int) {
	rest := s.line[s.at:]
	switch {
	case r == '<':
		s.inTag = true
		s.take(s.at+size+wordEnd(rest[size:], "/!?-:"), keyword)
	case s.inTag && (r == '>' || strings.HasPrefix(rest, "/>")):
		s.inTag = false
		s.take(s.at+strings.IndexByte(rest, '>')+1, keyword)
	case s.inTag && (r == '"' || r == '\''):
		s.stringAt(rest[:1])
	case s.inTag && unicode.IsLetter(r):
		s.take(s.at+wordEnd(rest, "-:_@."), key)
	default:
		s.take(s.at+size, plain)
	}
}

// wordEnd returns the length of the letters and digits, and of the other characters of a word, at the start of a
// text.
func wordEnd(text, more string) int {
	for i, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(more, r) {
			return i
		}
	}
	return len(text)
}
