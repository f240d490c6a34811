package marker

import (
	"strings"
	"unicode"
)

// remove returns the text without the markers, which are sorted and each on one line. A line that holds
// nothing else is removed whole; so are blank lines before a marker that begins the text and after one that
// ends it. All other text is kept as it is.
func remove(text string, markers []marker) string {
	leading := blank(text[:markers[0].start])
	trailing := blank(text[markers[len(markers)-1].end:])
	var b strings.Builder
	done := 0
	for len(markers) > 0 {
		start := done + strings.LastIndexByte(text[done:markers[0].start], '\n') + 1
		next := len(text) // where the next line starts
		if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
			next = start + n + 1
		}
		end := start + len(strings.TrimRight(text[start:next], "\r\n"))
		n := 1
		for n < len(markers) && markers[n].start < end {
			n++
		}
		b.WriteString(text[done:start])
		if line := removeInLine(text, start, end, markers[:n]); !blank(line) {
			b.WriteString(line + text[end:next])
		}
		done, markers = next, markers[n:]
	}
	b.WriteString(text[done:])
	return trimLines(b.String(), leading, trailing)
}

// removeInLine returns the line text[start:end] without the markers in it. If a marker has a space on both
// sides, or a space on one side and the edge of the line on the other, one space is removed, too.
func removeInLine(text string, start, end int, markers []marker) string {
	line := make([]byte, 0, end-start)
	for _, m := range markers {
		line = append(line, text[start:m.start]...)
		start = m.end
		n := len(line)
		switch {
		case start == end:
			if n > 0 && line[n-1] == ' ' {
				line = line[:n-1]
			}
		case text[start] == ' ' && (n == 0 || line[n-1] == ' ' || line[n-1] == '\t'):
			start++
		}
	}
	return string(append(line, text[start:end]...))
}

// trimLines removes blank lines at the beginning, and blank lines and the last line break at the end.
func trimLines(text string, leading, trailing bool) string {
	if trailing {
		text = strings.TrimRightFunc(text, unicode.IsSpace)
	}
	if leading { // the first line that is left keeps its indentation
		indented := len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
		text = text[strings.LastIndexByte(text[:indented], '\n')+1:]
	}
	return text
}

func blank(s string) bool {
	return strings.TrimSpace(s) == ""
}

// escape inserts a space into every NEXT and DROP marker that removing others has put together, as in
// "[NE[NEXT: a]XT: b]". The author wrote no such marker, so it must not count.
func escape(text string) string {
	if len(commands(text)) == 0 {
		return text
	}
	var b strings.Builder
	done := 0
	for i := range len(text) {
		// A marker that is not closed, within another or in code counts, too: the space before it may change that.
		if text[i] == '[' && kindAt(text, i, kindNext, kindDrop) != "" {
			b.WriteString(text[done:i] + "[ ")
			done = i + 1
		}
	}
	b.WriteString(text[done:])
	return b.String()
}
