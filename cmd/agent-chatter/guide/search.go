package guide

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// foundLine is a line with the words, in JSON output.
type foundLine struct {
	Topic string `json:"topic"`
	Line  int    `json:"line"` // of the page as Markdown, from 1
	Text  string `json:"text"`
}

// foundPage is a page with the words.
type foundPage struct {
	topic   Topic
	lines   []foundLine
	heading bool // one of the lines is a heading
}

// mostLines is how many lines of a page are shown on a terminal.
const mostLines = 5

// search prints the lines of the manual that have all words. nearest is the topic with a similar name, "" if there is
// none.
func (cmd *Command) search(a *app.App, nearest string) error {
	style := view.OutputStyle(a)
	onTerminal := cmd.Output == "text" && !style.Plain
	found := searchPages(cmd.Words, func(t Topic) []string {
		if onTerminal {
			narrow := view.Style{Width: min(style.Width, maxColumns+1) - 2, Profile: ansi.NoColor}
			return view.Render(view.Page(t.page()), narrow)
		}
		return strings.Split(t.text(), "\n")
	})
	words := strings.Join(cmd.Words, " ")
	if len(found) == 0 {
		return app.Exit(app.ExitNotFound, unknownText(words, nearest))
	}
	var err error
	if onTerminal {
		err = a.Page(func(w io.Writer) error { return printFound(w, found) })
	} else {
		err = cmd.writeFound(a.Stdout, found)
	}
	if err == nil {
		a.Show(foundText(words, nearest, found))
	}
	return err
}

// writeFound writes all lines for another program.
func (cmd *Command) writeFound(w io.Writer, found []foundPage) error {
	for _, page := range found {
		for _, line := range page.lines {
			var err error
			if cmd.Output == "json" {
				err = app.WriteJSON(w, line)
			} else {
				_, err = fmt.Fprintf(w, "%s:%d: %s\n", line.Topic, line.Line, line.Text)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// printFound prints the first lines of each page.
func printFound(w io.Writer, found []foundPage) error {
	var b strings.Builder
	for _, page := range found {
		fmt.Fprintf(&b, "%s: %s\n", page.topic.Name, page.topic.Summary)
		for _, line := range page.lines[:min(len(page.lines), mostLines)] {
			fmt.Fprintf(&b, "  %s\n", line.Text)
		}
		if more := len(page.lines) - mostLines; more > 0 {
			fmt.Fprintf(&b, "  (and %d more)\n", more)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// searchPages returns the pages with a line that has all words: those with such a heading first, then those with most
// lines.
func searchPages(words []string, linesOf func(Topic) []string) (found []foundPage) {
	for _, t := range Topics() {
		page := foundPage{topic: t}
		lines := linesOf(t)
		for _, i := range searchLines(lines, words) {
			page.lines = append(page.lines, foundLine{t.Name, i + 1, strings.TrimSpace(lines[i])})
			page.heading = page.heading || strings.HasPrefix(lines[i], "#")
		}
		if len(page.lines) > 0 {
			found = append(found, page)
		}
	}
	slices.SortStableFunc(found, func(a, b foundPage) int {
		switch {
		case a.heading && !b.heading:
			return -1
		case b.heading && !a.heading:
			return 1
		}
		return len(b.lines) - len(a.lines)
	})
	return found
}

// searchLines returns the indices of the lines that have all words, in upper or lower case, alone or with the next
// line: a sentence may continue there.
func searchLines(lines, words []string) (at []int) {
	words = strings.Fields(strings.ToLower(strings.Join(words, " ")))
	has := func(i int) bool {
		return i < len(lines) && hasAll(strings.ToLower(lines[i]), words)
	}
	for i := range lines {
		if has(i) || i+1 < len(lines) && !has(i+1) && lines[i] != "" && lines[i+1] != "" &&
			hasAll(strings.ToLower(lines[i]+" "+lines[i+1]), words) {
			at = append(at, i)
		}
	}
	return at
}

func hasAll(line string, words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) })
}

// unknownText is for words that are nowhere in the manual.
func unknownText(words, nearest string) app.Message {
	m := app.Text("The manual has no topic and no line with %s", tty.SafeLine(words))
	if nearest != "" {
		return m.With(app.To("read the page with the nearest name", "guide", nearest))
	}
	return m.With(app.To("list the topics", "guide"))
}

// foundText follows what was found.
func foundText(words, nearest string, found []foundPage) app.Message {
	m := app.Text("No topic is called %s; these lines have it.", tty.SafeLine(words))
	if nearest != "" {
		return m.With(app.To("read the page with the nearest name", "guide", nearest))
	}
	return m.With(app.To("read the first of these pages", "guide", found[0].topic.Name))
}
