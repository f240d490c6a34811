package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// cells is how many columns of a terminal a text takes, which is on one line.
func cells(text string) (n int) {
	for _, r := range text {
		n += runeCells(r)
	}
	return n
}

func runeCells(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide are the characters that take two columns: East Asian ones and emoji.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, {0x231a, 0x231b, 1}, {0x23e9, 0x23ec, 1}, {0x25fd, 0x25fe, 1}, {0x2614, 0x2615, 1},
		{0x2648, 0x2653, 1}, {0x26a1, 0x26a1, 1}, {0x26bd, 0x26be, 1}, {0x26c4, 0x26c5, 1}, {0x26d4, 0x26d4, 1},
		{0x26ea, 0x26ea, 1}, {0x2705, 0x2705, 1}, {0x270a, 0x270b, 1}, {0x2728, 0x2728, 1}, {0x274c, 0x274c, 1},
		{0x2753, 0x2755, 1}, {0x2795, 0x2797, 1}, {0x2b1b, 0x2b1c, 1}, {0x2b50, 0x2b50, 1}, {0x2e80, 0x303e, 1},
		{0x3041, 0x33ff, 1}, {0x3400, 0x4dbf, 1}, {0x4e00, 0xa4cf, 1}, {0xa960, 0xa97f, 1}, {0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1}, {0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18cff, 1}, {0x1b000, 0x1b2ff, 1}, {0x1f18e, 0x1f18e, 1}, {0x1f191, 0x1f19a, 1}, {0x1f200, 0x1f320, 1},
		{0x1f32d, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f7e0, 0x1f7eb, 1}, {0x1f90c, 0x1f9ff, 1}, {0x1fa70, 0x1faff, 1},
		{0x20000, 0x3fffd, 1},
	},
}

// fitting is as much of a text as fits into so many columns.
func fitting(text string, columns int) string {
	for i, r := range text {
		if columns -= runeCells(r); columns < 0 {
			return text[:i]
		}
	}
	return text
}

// shortened is a text, or its beginning and an ellipsis, in so many columns.
func shortened(text string, columns int) string {
	if cells(text) <= columns {
		return text
	}
	return fitting(text, columns-1) + "…"
}

// leastShown is how many columns a text that is shortened gets where there is
// no room at all.
const leastShown = 12

// columns is how wide the terminal is that results are printed to; 0 when they
// go elsewhere, where nothing is shortened.
func (a *app) columns() int {
	switch out := a.stdout.(type) {
	case *console:
		return out.width()
	case interface{ Fd() uintptr }:
		if width, _, err := term.GetSize(int(out.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// table lines up rows of as many texts each. On a terminal of so many columns
// the last one is shortened; 0: it never is.
type table struct {
	columns int
	rows    [][]string
}

func (t *table) add(row ...string) { t.rows = append(t.rows, row) }

func (t *table) write(w io.Writer) error {
	widths := t.widths()
	for _, row := range t.rows {
		var line strings.Builder
		room := t.columns - 1
		last := len(row) - 1
		for i, text := range row[:last] {
			line.WriteString(text + strings.Repeat(" ", widths[i]+2-cells(text)))
			room -= widths[i] + 2
		}
		text := row[last]
		if t.columns > 0 {
			text = shortened(text, max(room, leastShown))
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String()+text, " ")); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) widths() (widths []int) {
	for _, row := range t.rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], cells(text))
		}
	}
	return widths
}

// around is as much of a line as fits into so many columns, with what begins at
// start, which is where a third of them is behind it.
func around(line string, start, columns int) string {
	from, room := start, columns/3
	for from > 0 {
		r, size := utf8.DecodeLastRuneInString(line[:from])
		if room -= runeCells(r); room < 0 {
			break
		}
		from -= size
	}
	if from == 0 {
		return shortened(line, columns)
	}
	return "…" + shortened(strings.TrimSpace(line[from:]), columns-1)
}
