package manpages

import (
	"strings"
)

// A writer writes roff with the macros of man(7).
type writer struct {
	strings.Builder
	program string
}

// macro writes a macro. Its arguments are texts.
func (w *writer) macro(name string, args ...string) {
	w.WriteString("." + name)
	for _, arg := range args {
		w.WriteString(` "` + strings.ReplaceAll(escape(arg), `"`, `\(dq`) + `"`)
	}
	w.WriteString("\n")
}

// line writes a line of text that is escaped. A dot or a quote at its start would make it a macro.
func (w *writer) line(text string) {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	w.WriteString(text + "\n")
}

// literal writes lines as they are, indented.
func (w *writer) literal(text string) {
	w.WriteString(".RS 4\n.nf\n")
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		w.line(escape(strings.TrimSuffix(line, "\n")))
	}
	w.WriteString(".fi\n.RE\n")
}

// tagged writes a term, whose text is escaped, and what it means.
func (w *writer) tagged(term, text string) {
	w.WriteString(".TP\n")
	w.line(term)
	w.line(text)
}

func bold(text string) string { return `\fB` + escape(text) + `\fR` }

// escape returns a text that roff prints as it is. Hyphens stay hyphens, so that flags can be copied; an accent or a
// tilde would become a typographic sign. Control characters are left out.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '\t':
			b.WriteString("    ")
		case r >= ' ' && r != 0x7f:
			b.WriteRune(r)
		}
	}
	return b.String()
}
