package manpages

import (
	"fmt"
	"path"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// topic returns the page of a topic.
func (m Manual) topic(t Topic) string {
	w := m.start(m.Commands.Name+"-"+t.Name, "7", t.Summary)
	blocks := markdown.Parse(t.Text).Blocks
	if len(blocks) > 0 && blocks[0].Kind == markdown.Heading {
		blocks = blocks[1:] // the title
	}
	if len(blocks) > 0 && blocks[0].Kind != markdown.Heading {
		w.macro("SH", "DESCRIPTION")
	}
	w.blocks(blocks)
	w.macro("SH", "SEE ALSO")
	w.line(bold(m.Commands.Name) + "(1)")
	return w.String()
}

func (w *writer) blocks(blocks []markdown.Block) {
	for _, b := range blocks {
		switch b.Kind {
		case markdown.Heading:
			macro := "SH"
			if b.Level > 2 {
				macro = "SS"
			}
			w.WriteString("." + macro + "\n")
			w.text(b.Inlines)
		case markdown.Paragraph:
			if text := w.inline(b.Inlines); strings.TrimSpace(text) != "" { // not a picture
				w.WriteString(".PP\n")
				w.lines(text)
			}
		case markdown.CodeBlock:
			w.WriteString(".PP\n")
			w.literal(b.Text)
		case markdown.List:
			w.list(b)
		case markdown.Quote:
			w.WriteString(".RS 4\n")
			w.blocks(b.Blocks)
			w.WriteString(".RE\n")
		case markdown.Table:
			w.table(b)
		}
	}
}

// list writes a list. What follows the first paragraph of an item is indented like it.
func (w *writer) list(list markdown.Block) {
	for i, item := range list.Blocks {
		if list.Ordered {
			fmt.Fprintf(w, ".IP %d. 4\n", list.Number+i)
		} else {
			w.WriteString(".IP \\(bu 4\n")
		}
		rest := item.Blocks
		if len(rest) > 0 && rest[0].Kind == markdown.Paragraph {
			w.text(rest[0].Inlines)
			rest = rest[1:]
		}
		if len(rest) > 0 {
			w.WriteString(".RS 4\n")
			w.blocks(rest)
			w.WriteString(".RE\n")
		}
	}
}

// table writes a table as terms, its first column, with what the others say of them: on a terminal of any width, long
// cells stay readable.
func (w *writer) table(b markdown.Block) {
	if len(b.Rows) == 0 {
		return
	}
	header := b.Rows[0]
	for _, row := range b.Rows[1:] {
		if len(row) == 0 {
			continue
		}
		w.WriteString(".TP\n")
		w.text(row[0])
		for i, cell := range row[1:] {
			text := w.inline(cell)
			if text == "" {
				continue
			}
			if i > 0 {
				w.WriteString(".br\n")
			}
			if len(header) > 2 && i+1 < len(header) {
				text = w.inline(header[i+1]) + ": " + text
			}
			w.lines(text)
		}
	}
}

func (w *writer) text(inlines []markdown.Inline) {
	text := w.inline(inlines)
	if text == "" {
		text = `\&`
	}
	w.lines(text)
}

// lines writes text that is escaped, and may have line breaks.
func (w *writer) lines(text string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			w.line(line)
		}
	}
}

func (w *writer) inline(inlines []markdown.Inline) string {
	var b strings.Builder
	for _, in := range inlines {
		switch in.Kind {
		case markdown.Text:
			for i, line := range strings.Split(in.Text, "\n") {
				if i > 0 {
					b.WriteString("\n")
				}
				b.WriteString(escape(line))
			}
		case markdown.CodeSpan:
			b.WriteString(bold(strings.ReplaceAll(in.Text, "\n", " ")))
		case markdown.Strong:
			b.WriteString(`\fB` + w.inline(in.Inlines) + `\fR`)
		case markdown.Emphasis:
			b.WriteString(`\fI` + w.inline(in.Inlines) + `\fR`)
		case markdown.Link:
			b.WriteString(w.link(in))
		case markdown.LineBreak:
			b.WriteString("\n")
		case markdown.Image:
		default:
			b.WriteString(w.inline(in.Inlines))
		}
	}
	return b.String()
}

// link names the page that a link leads to, or the address. Files of the repository are left out: they are not
// installed.
func (w *writer) link(in markdown.Inline) string {
	text := w.inline(in.Inlines)
	target, _, _ := strings.Cut(in.Destination, "#")
	switch {
	case strings.Contains(target, "://"):
		return text + " (" + escape(in.Destination) + ")"
	case path.Ext(target) == ".md" && path.Base(target) == target:
		page := bold(w.program+"-"+strings.TrimSuffix(target, ".md")) + "(7)"
		if text == escape(strings.TrimSuffix(target, ".md")) {
			return page
		}
		return text + " (" + page + ")"
	}
	return text
}
