package page

import (
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// Hunks returns the HTML of hunks of a file, a table for each: the lines one below the other, or those before the
// change beside those after it. The pages of package page have none: captured contents stay in the home.
func Hunks(hunks []view.Hunk, beside bool) string {
	var m markup
	for i, h := range hunks {
		fmt.Fprintf(&m, `<table class="hunk"><caption>hunk %d of %d, line %d</caption><tbody>`, i+1, len(hunks), h.New)
		if beside {
			for _, row := range view.BesideRows(h) {
				m.WriteString("<tr>")
				m.hunkLine(row[0])
				m.hunkLine(row[1])
				m.WriteString("</tr>")
			}
		} else {
			for _, line := range view.HunkLines(h) {
				m.WriteString("<tr>")
				m.hunkLine(line)
				m.WriteString("</tr>")
			}
		}
		m.WriteString("</tbody></table>")
	}
	return m.String()
}

// hunkLine writes the cells of a line: its number, what happens to it, and its text.
func (m *markup) hunkLine(l view.HunkLine) {
	if l.Kind == 0 {
		m.WriteString(`<td class="number"></td><td class="sign"></td><td class="none"></td>`)
		return
	}
	class := changeClasses[l.Kind]
	fmt.Fprintf(m, `<td class="number">%d</td><td class="sign %s">%c</td><td class="%s"><code>`,
		l.Number, class, l.Kind, class)
	for _, span := range l.Text {
		if !span.Underline {
			m.line(ansi.Line{span})
			continue
		}
		m.WriteString(`<span class="changed">`)
		span.Bold = false
		m.line(ansi.Line{span})
		m.WriteString("</span>")
	}
	m.WriteString("</code></td>")
}

// changeClasses are the classes of lines.
var changeClasses = map[view.ChangeKind]string{view.Added: "added", view.Removed: "removed", view.Kept: "kept"}
