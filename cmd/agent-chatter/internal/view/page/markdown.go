package page

import (
	"fmt"
	"html"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A markup is HTML that is being written.
type markup struct {
	strings.Builder
	level int // of the last heading; 0: none
}

const (
	pageLevels = 3 // of the headings outside of messages
	maxLevel   = 6 // of HTML
)

// text writes text.
func (m *markup) text(text string) { m.WriteString(html.EscapeString(tty.Safe(text))) }

// message writes a message, which is Markdown.
func (m *markup) message(source string) { m.blocks(markdown.Parse(source).Blocks, false) }

// blocks writes blocks. With tight, paragraphs have no element of their own.
func (m *markup) blocks(blocks []markdown.Block, tight bool) {
	for _, b := range blocks {
		m.block(b, tight)
	}
}

func (m *markup) block(b markdown.Block, tight bool) {
	switch b.Kind {
	case markdown.Paragraph:
		if tight {
			m.inlines(b.Inlines)
			return
		}
		m.element("p", func() { m.inlines(b.Inlines) })
	case markdown.Heading:
		// The page has the headings up to the third level. No level is left out, as readers of the headings expect.
		m.level = min(b.Level+pageLevels, max(m.level, pageLevels)+1, maxLevel)
		m.element(fmt.Sprintf("h%d", m.level), func() { m.inlines(b.Inlines) })
	case markdown.CodeBlock:
		m.code(b.Language, b.Text)
	case markdown.List:
		m.list(b)
	case markdown.ListItem:
		m.element("li", func() { m.blocks(b.Blocks, tight) })
	case markdown.Quote:
		m.element("blockquote", func() { m.blocks(b.Blocks, false) })
	case markdown.Table:
		m.table(b)
	case markdown.ThematicBreak:
		m.WriteString("<hr>")
	}
}

// element writes an element without attributes.
func (m *markup) element(name string, content func()) {
	m.WriteString("<" + name + ">")
	content()
	m.WriteString("</" + name + ">")
}

func (m *markup) list(b markdown.Block) {
	switch {
	case !b.Ordered:
		m.element("ul", func() { m.blocks(b.Blocks, b.Tight) })
	default:
		fmt.Fprintf(m, `<ol start="%d">`, b.Number)
		m.blocks(b.Blocks, b.Tight)
		m.WriteString("</ol>")
	}
}

func (m *markup) table(b markdown.Block) {
	m.WriteString(`<div class="wide" tabindex="0"><table>`)
	for i, row := range b.Rows {
		name := "td"
		if i == 0 {
			name = "th"
		}
		m.WriteString("<tr>")
		for j, cell := range row {
			m.WriteString("<" + name)
			if j < len(b.Align) && b.Align[j] != "" {
				fmt.Fprintf(m, ` class="%s"`, b.Align[j])
			}
			m.WriteString(">")
			m.inlines(cell)
			m.WriteString("</" + name + ">")
		}
		m.WriteString("</tr>")
	}
	m.WriteString("</table></div>")
}

// code writes a block of code in its colours.
func (m *markup) code(language, text string) {
	m.WriteString(`<pre class="code" tabindex="0"`)
	if name := runecut.Prefix(tty.SafeLine(language), maxLanguage); name != "" {
		fmt.Fprintf(m, ` data-language="%s"`, html.EscapeString(name))
	}
	m.WriteString("><code>")
	lexer := view.NewLexer(language)
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		m.line(lexer.Line(strings.TrimSuffix(line, "\r")))
		m.WriteString("\n")
	}
	m.WriteString("</code></pre>")
}

// maxLanguage is the length in bytes at which the name of a language is cut.
const maxLanguage = 20

// line writes text in styles.
func (m *markup) line(line ansi.Line) {
	for _, span := range line {
		class := styleClass(span.Style)
		if class == "" {
			m.text(span.Text)
			continue
		}
		m.WriteString(`<span class="` + class + `">`)
		m.text(span.Text)
		m.WriteString("</span>")
	}
}

// styleClass returns the classes of a style.
func styleClass(s ansi.Style) string {
	var classes []string
	if s.Color != ansi.Default {
		classes = append(classes, colorClass(s.Color))
	}
	if s.Bold {
		classes = append(classes, "bold")
	}
	if s.Dim {
		classes = append(classes, "dim")
	}
	if s.Italic {
		classes = append(classes, "italic")
	}
	return strings.Join(classes, " ")
}

// colorClass returns the class of a colour.
func colorClass(c ansi.Color) string { return fmt.Sprintf("fg%d", c-ansi.Black) }

func (m *markup) inlines(inlines []markdown.Inline) {
	for _, in := range inlines {
		m.inline(in)
	}
}

func (m *markup) inline(in markdown.Inline) {
	inner := func() { m.inlines(in.Inlines) }
	switch in.Kind {
	case markdown.Text:
		m.text(in.Text)
	case markdown.CodeSpan:
		m.element("code", func() { m.text(in.Text) })
	case markdown.Emphasis:
		m.element("em", inner)
	case markdown.Strong:
		m.element("strong", inner)
	case markdown.Strikethrough:
		m.element("del", inner)
	case markdown.Link:
		address := ansi.SafeLink(in.Destination)
		if address == "" {
			inner()
			return
		}
		fmt.Fprintf(m, `<a rel="noopener noreferrer nofollow" target="_blank" href="%s">`, html.EscapeString(address))
		inner()
		m.WriteString("</a>")
	case markdown.Image:
		m.WriteString(`<span class="image">`)
		inner()
		m.WriteString("</span>")
	case markdown.LineBreak:
		m.WriteString("<br>")
	}
}
