package sessions

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A side is one of two sessions that are compared on a terminal.
type side struct {
	replay *view.Replay
	title  string
	common uint64 // the last event of the common prefix; 0: there is none
}

const (
	minSideBySide = 100 // columns of a terminal that shows two sessions side by side
	divider       = " │ "
)

// printSides prints what two sessions have in common as one line, and then what each has after it as the chat shows
// it: side by side, or the one below the other on a narrow terminal.
func printSides(ctx context.Context, out io.Writer, a, b side, d projection.Divergence, s view.Style) error {
	columns := s.Width - 1
	profile := s.Profile
	print := func(line ansi.Line) error {
		_, err := fmt.Fprintln(out, profile.Encode(line))
		return err
	}
	common := ansi.Cut(ansi.Line{{Text: FoldedText(d), Style: dim}}, columns)
	if err := cmp.Or(print(common), print(nil)); err != nil {
		return err
	}
	lines := func(s side) func(int) iter.Seq2[ansi.Line, error] {
		return func(columns int) iter.Seq2[ansi.Line, error] { return s.lines(ctx, columns, profile) }
	}
	return printBeside(out, lines(a), lines(b), s)
}

// printBeside prints lines of at most so many columns side by side, or the one below the other on a narrow terminal.
func printBeside(out io.Writer, a, b func(columns int) iter.Seq2[ansi.Line, error], s view.Style) error {
	columns := s.Width - 1
	print := func(line ansi.Line) error {
		_, err := fmt.Fprintln(out, s.Profile.Encode(line))
		return err
	}
	if s.Width < minSideBySide {
		for i, lines := range []func(int) iter.Seq2[ansi.Line, error]{a, b} {
			if i > 0 {
				if err := print(nil); err != nil {
					return err
				}
			}
			for line, err := range lines(columns) {
				if err == nil {
					err = print(line)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	}
	half := (columns - len([]rune(divider))) / 2
	left, stopLeft := iter.Pull2(a(half))
	defer stopLeft()
	right, stopRight := iter.Pull2(b(half))
	defer stopRight()
	for {
		line, err, ok := left()
		if err != nil {
			return err
		}
		other, err, alsoOK := right()
		switch {
		case err != nil:
			return err
		case !ok && !alsoOK:
			return nil
		}
		blanks := ansi.Span{Text: strings.Repeat(" ", half-line.Columns())}
		line = append(append(line[:len(line):len(line)], blanks, ansi.Span{Text: divider, Style: dim}), other...)
		if err := print(line); err != nil {
			return err
		}
	}
}

// lines yields a heading and the conversation after the common prefix, in lines of at most so many columns.
func (s side) lines(ctx context.Context, columns int, p ansi.Profile) iter.Seq2[ansi.Line, error] {
	return func(yield func(ansi.Line, error) bool) {
		messages, unfinished, err := countAfter(ctx, s.replay, s.common)
		if err != nil {
			yield(nil, err)
			return
		}
		about := countText(messages, unfinished)
		if s.common > 0 {
			about += fmt.Sprintf(" after event %d", s.common)
		}
		for _, line := range []ansi.Line{
			{{Text: s.title, Style: ansi.Style{Bold: true}}},
			{{Text: s.replay.ID, Style: ansi.Style{Color: ansi.Cyan}}},
			{{Text: about, Style: dim}},
			nil,
		} {
			if !yield(ansi.Cut(line, columns), nil) {
				return
			}
		}
		style, first := view.Style{Width: columns + 1, Profile: p}, true
		for block, err := range view.BlocksFrom(projection.Decoded(s.replay.Events(ctx)), s.common+1) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, line := range view.Lines(block, style) {
				if first && len(line) == 0 {
					continue
				}
				first = false
				for _, part := range fitted(line, columns) {
					if !yield(part, nil) {
						return
					}
				}
			}
		}
	}
}

// fitted divides a line that is wider than it may be, such as a line of code, and indents its parts as the line is.
func fitted(line ansi.Line, columns int) (parts []ansi.Line) {
	if line.Columns() <= columns {
		return []ansi.Line{line}
	}
	text := ""
	for _, span := range line {
		text += span.Text
	}
	indent := min(len(text)-len(strings.TrimLeft(text, " ")), columns/2)
	line, rest := slices.Clone(line), indent
	for i := range line {
		n := min(rest, len(line[i].Text))
		line[i].Text, rest = line[i].Text[n:], rest-n
	}
	for _, part := range ansi.Wrap(line, columns-indent) {
		parts = append(parts, append(ansi.Line{{Text: strings.Repeat(" ", indent)}}, part...))
	}
	return parts
}

// countAfter counts the messages and the unfinished replies after an event.
func countAfter(ctx context.Context, r *view.Replay, seq uint64) (messages, unfinished int, err error) {
	for entry, err := range entriesAfter(ctx, r, seq) {
		switch {
		case err != nil:
			return messages, unfinished, err
		case entry.Partial:
			unfinished++
		default:
			messages++
		}
	}
	return messages, unfinished, nil
}

// FoldedText stands for the common prefix of two sessions.
func FoldedText(d projection.Divergence) string {
	if d.A == 0 {
		return "⋯ nothing in common"
	}
	return fmt.Sprintf("⋯ %s in common", app.Count(d.Messages, "message"))
}
