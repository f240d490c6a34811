package browse

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

const (
	wideColumns = 100 // from here on the preview is beside the list
	leastList   = 44  // columns of the list beside the preview
	headerRows  = 2   // the header and the rule below it
	footerRows  = 1
	allKeys     = 74 // from here on the last line names all keys of the list
)

// places are the parts of the screen.
type places struct {
	wide                    bool
	listTop, listRows       int
	listColumns             int
	previewTop, previewRows int
	previewLeft             int
	previewColumns          int
}

// places divides the screen: the preview is beside the list, or below it if the screen is narrow.
func (m *model) places() places {
	rows := max(m.rows-headerRows-footerRows, 1)
	p := places{listTop: headerRows, listRows: rows, listColumns: m.columns, previewTop: headerRows}
	if m.columns >= wideColumns {
		p.wide = true
		p.listColumns = max(leastList, m.columns*2/5)
		p.previewLeft = p.listColumns + 1
		p.previewRows, p.previewColumns = rows, m.columns-p.previewLeft-1
		return p
	}
	p.listRows = max((rows-1)*2/5, min(rows, 4))
	if p.previewRows = rows - p.listRows - 1; p.previewRows < 3 {
		p.listRows, p.previewRows = rows, 0
		return p
	}
	p.previewTop, p.previewColumns = headerRows+p.listRows+1, m.columns
	return p
}

// rowHeight is how many rows a session takes.
func (m *model) rowHeight() int {
	if m.finder.Text != "" {
		return 2
	}
	return 1
}

// inPreview reports whether a place of the screen is in the preview.
func (p places) inPreview(x, y int) bool {
	return p.previewRows > 0 && x >= p.previewLeft && y >= p.previewTop && y < p.previewTop+p.previewRows
}

// arrange gives the parts of the screen their sizes.
func (m *model) arrange() tea.Cmd {
	p := m.places()
	m.list.height = max(p.listRows/m.rowHeight(), 1)
	m.list.scroll()
	if p.previewRows == 0 && m.mode == reading {
		m.mode = choosing
	}
	if size := [2]int{m.columns, max(m.rows-1-footerRows, 0)}; m.paneSize != size {
		m.paneSize = size
		m.files.SetSize(size[0], size[1])
		return tea.Batch(m.timeline.SetSize(size[0], size[1]), m.compare.SetSize(size[0], size[1]),
			m.trash.SetSize(size[0], size[1]), m.sizePreview(p))
	}
	return m.sizePreview(p)
}

// sizePreview gives the preview its size.
func (m *model) sizePreview(p places) tea.Cmd {
	if size := [2]int{p.previewColumns, p.previewRows}; size != m.previewed.size {
		m.previewed.size = size
		return m.preview.SetSize(p.previewColumns, p.previewRows)
	}
	return nil
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.draw(), "\n"))
	v.Cursor = m.cursor()
	v.AltScreen, v.MouseMode = true, tea.MouseModeCellMotion
	return v
}

// draw returns the rows of the screen.
func (m *model) draw() []string { return m.withNotice(m.drawMode()) }

// withNotice shows a notice of several lines over the last rows, or one of any over those before a question.
func (m *model) withNotice(rows []string) []string {
	lines, kept := m.noticeLines(), 0
	if m.notice != "" && m.actions.Asking() {
		kept = footerRows
	}
	if len(lines)+kept < 2 || len(rows) < 2+kept {
		return rows
	}
	lines = lines[:min(len(lines), len(rows)-1-kept)]
	from := len(rows) - len(lines) - kept
	rows[from-1] = m.rule(0, "")
	for i, line := range lines {
		rows[from+i] = m.encodeLine(line, m.columns)
	}
	return rows
}

// noticeLines are the lines of the notice.
func (m *model) noticeLines() (lines []ansi.Line) {
	for paragraph := range strings.SplitSeq(m.notice, "\n") {
		for _, line := range ansi.Wrap(ansi.Line{colored(paragraph, ansi.Yellow)}, max(m.columns-2, 1)) {
			lines = append(lines, append(ansi.Line{plain(" ")}, line...))
		}
	}
	return lines
}

// drawMode returns the rows of the screen without a notice of several lines.
func (m *model) drawMode() []string {
	switch m.mode {
	case timing:
		return m.drawPane(ansi.Line{plain(" "), bold("Timeline"), plain("  " + titleOf(m.timed))}, m.timeline.Rows())
	case comparing:
		return m.drawPane(ansi.Line{plain(" "), bold("Comparison")}, m.compare.Rows())
	case trashing:
		return m.drawPane(ansi.Line{plain(" "), bold("Trash")}, m.trash.Rows())
	case reviewing:
		return m.drawPane(ansi.Line{plain(" "), bold("Files"), plain("  " + titleOf(m.reviewed))}, m.files.Rows())
	}
	if m.mode == helping {
		return m.drawHelp()
	}
	p := m.places()
	rows := []string{m.encodeLine(m.header(), m.columns)}
	left := m.encode(m.listLines(p.listColumns), p.listColumns, p.listRows)
	switch {
	case p.wide:
		rows = append(rows, m.rule(p.listColumns, "┬"))
		right := m.preview.Rows()
		for i := range left {
			rows = append(rows, left[i]+m.profile.Encode(ansi.Line{m.border("│")})+" "+right[i])
		}
	case p.previewRows > 0:
		rows = append(rows, m.rule(m.columns, ""))
		rows = append(rows, left...)
		rows = append(rows, m.rule(m.columns, ""))
		rows = append(rows, m.preview.Rows()...)
	default:
		rows = append(rows, m.rule(m.columns, ""))
		rows = append(rows, left...)
	}
	rows = rows[:min(len(rows), max(m.rows-footerRows, 0))]
	return append(rows, m.encodeLine(m.footer(), m.columns))
}

// border is a part of the lines between the list and the preview, which show where the keys go.
func (m *model) border(text string) ansi.Span {
	if m.mode == reading {
		return accent(text)
	}
	return dim(text)
}

// drawPane returns the rows of a pane on the whole screen, between a title and the keys.
func (m *model) drawPane(title ansi.Line, pane []string) []string {
	rows := append([]string{m.encodeLine(title, m.columns)}, pane...)
	return append(rows, m.encodeLine(m.footer(), m.columns))[:max(m.rows, 1)]
}

// rule is a horizontal line with a sign at a column.
func (m *model) rule(at int, sign string) string {
	line := strings.Repeat("─", m.columns)
	if sign != "" {
		line = strings.Repeat("─", at) + sign + strings.Repeat("─", max(m.columns-at-1, 0))
	}
	return m.encodeLine(ansi.Line{m.border(line)}, m.columns)
}

// encode returns exactly rows lines of exactly so many columns.
func (m *model) encode(lines []ansi.Line, columns, rows int) []string {
	encoded := make([]string, rows)
	for i := range encoded {
		var line ansi.Line
		if i < len(lines) {
			line = lines[i]
		}
		encoded[i] = m.encodeLine(line, columns)
	}
	return encoded
}

// encodeLine cuts or fills a line to so many columns.
func (m *model) encodeLine(line ansi.Line, columns int) string {
	if columns <= 0 {
		return ""
	}
	line = ansi.Cut(line, columns)
	return m.profile.Encode(line) + strings.Repeat(" ", max(columns-encodedColumns(line), 0))
}

// encodedColumns is how many columns a line takes when it is encoded, which removes the blanks at its end.
func encodedColumns(line ansi.Line) int {
	for i := len(line) - 1; i >= 0; i-- {
		if text := strings.TrimRight(line[i].Text, " "); text != "" {
			last := line[i]
			last.Text = text
			return line[:i].Columns() + ansi.Line{last}.Columns()
		}
	}
	return 0
}

func plain(text string) ansi.Span { return ansi.Span{Text: text} }
func bold(text string) ansi.Span  { return ansi.Span{Text: text, Style: ansi.Style{Bold: true}} }
func dim(text string) ansi.Span {
	return ansi.Span{Text: text, Style: ansi.Style{Color: ansi.BrightBlack}}
}
func accent(text string) ansi.Span { return colored(text, ansi.Cyan) }

func colored(text string, c ansi.Color) ansi.Span {
	return ansi.Span{Text: text, Style: ansi.Style{Color: c}}
}

// headerLead is what precedes the text to search for in the header.
var headerLead = ansi.Line{plain(" "), bold("Sessions"), plain("  "), accent("/")}

// searchColumns is how many columns of the header the text to search for may take.
func (m *model) searchColumns() int { return max(min(m.columns/2, 60)-headerLead.Columns(), 8) }

// cursor is where the cursor is; nil: it is hidden.
func (m *model) cursor() *tea.Cursor {
	switch {
	case m.actions.Asking():
		_, at := m.actions.Line(m.columns)
		return tea.NewCursor(at, max(m.rows-1, 0))
	case m.mode != typing:
		return nil
	}
	_, at := m.input.View(m.searchColumns())
	return tea.NewCursor(headerLead.Columns()+at, 0)
}

// header is the first row: the text to search for, what the list has, and the filter.
func (m *model) header() ansi.Line {
	line := headerLead[:3:3]
	if text, _ := m.input.View(m.searchColumns()); m.mode == typing || text != "" {
		line = append(headerLead[:4:4], plain(text), plain("   "))
	}
	line = append(line, dim(m.counts()))
	for _, name := range m.filter.Names() {
		line = append(line, dim("  "), colored(name, ansi.Yellow))
	}
	switch {
	case m.problem != "" && len(m.list.shown) > 0: // else the list says it
		line = append(line, dim("  "), colored("the list is not current: "+m.problem, ansi.Red))
	case m.finder.Problem != nil:
		line = append(line, dim("  "), colored("the search failed", ansi.Red))
	case len(m.finder.Failed) > 0:
		searched := app.Count(len(m.finder.Failed), "session") + " not searched to the end"
		line = append(line, dim("  "), colored(searched, ansi.Red))
	}
	if n := m.list.remote; n > 0 && m.finder.Text != "" {
		line = append(line, dim("  "+app.Count(n, "session")+" on the hub searched by title only"))
	}
	if n := len(m.unreadable); n > 0 {
		line = append(line, dim("  "), colored(app.Count(n, "team")+" unreadable", ansi.Red))
	}
	return line
}

// counts says how many sessions the list has.
func (m *model) counts() string {
	switch {
	case !m.listed:
		return "Reading …"
	case m.finder.Text == "":
		return app.Count(len(m.list.all), "session")
	case !m.finder.Ended():
		return app.Count(len(m.list.shown), "session") + " so far …"
	}
	return app.Count(len(m.list.shown), "session")
}

// footer is the last row: a notice, or the keys.
func (m *model) footer() ansi.Line {
	switch {
	case m.actions.Asking():
		question, _ := m.actions.Line(m.columns)
		return question
	case m.notice != "":
		return ansi.Line{plain(" "), colored(m.notice, ansi.Yellow)}
	case m.mode == trashing:
		return keysLine("↑↓", "select", "enter", "restore", "q", "back to the list")
	case m.mode == reviewing:
		return m.files.Footer()
	case m.mode == typing:
		return keysLine("enter", "keep", "esc", "end the search", "↑↓", "select")
	case m.mode == timing:
		return keysLine("↑↓", "select", "enter", "continue there in a fork", "t", "back to the list")
	case m.mode == comparing:
		return keysLine("↑↓", "select", "tab", "other session", "enter", "continue there in a fork", "q", "back")
	case m.mode == reading:
		return keysLine("↑↓", "scroll", "n/N", "next match", "tab", "list", "enter", "resume", "?", "help")
	case m.columns < allKeys:
		return keysLine("enter", "resume", "/", "search", "?", "help", "q", "quit")
	}
	return keysLine("enter", "resume", "/", "search", "t", "timeline", "tab", "read", "1-4", "filter",
		"?", "help", "q", "quit")
}

// keysLine is a line of keys and what they do.
func keysLine(pairs ...string) ansi.Line {
	var line ansi.Line
	for i := 0; i < len(pairs); i += 2 {
		line = append(line, plain(" "), accent(pairs[i]), dim(" "+pairs[i+1]+" "))
	}
	return line
}
