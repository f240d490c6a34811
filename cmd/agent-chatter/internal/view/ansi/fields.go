package ansi

import (
	"bytes"
	"io"
	"strings"
)

// minValue is how many columns a value has at least, however long the names are.
const minValue = 20

// WriteFields prints names and their values on a terminal of so many columns. A value that is too long is broken
// between words. The error is that of w.
func WriteFields(w io.Writer, fields [][2]string, columns int, p Profile) error {
	width := 0
	for _, field := range fields {
		width = max(width, Line{{Text: field[0]}}.Columns())
	}
	width = max(min(width, columns-1-gap-minValue), 1)
	var b bytes.Buffer
	for _, field := range fields {
		name := Cut(Text(field[0], Style{Dim: true}), width)
		for _, value := range Flow(Line{{Text: field[1]}}, max(columns-1-gap-width, minValue)) {
			blanks := Span{Text: strings.Repeat(" ", width+gap-name.Columns())}
			b.WriteString(p.Encode(append(append(name, blanks), value...)) + "\n")
			name = nil
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
