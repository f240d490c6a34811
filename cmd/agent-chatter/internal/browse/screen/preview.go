package screen

import "strings"

// previewRows are the rows of the preview.
func (m *model) previewRows(p places) []string {
	return m.encode(nil, p.previewColumns, p.previewRows)
}

func spaces(n int) string { return strings.Repeat(" ", n) }
