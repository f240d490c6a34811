package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/term"
)

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
			line.WriteString(text + strings.Repeat(" ", widths[i]+2-displaywidth.String(text)))
			room -= widths[i] + 2
		}
		text := row[last]
		if t.columns > 0 {
			text = displaywidth.TruncateString(text, max(room, leastShown), "…")
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
			widths[i] = max(widths[i], displaywidth.String(text))
		}
	}
	return widths
}
