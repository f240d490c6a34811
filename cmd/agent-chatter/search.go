package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/search"
	"github.com/clipperhouse/displaywidth"
)

type sessionsSearch struct {
	Text    string `arg:"" help:"What the messages contain; in any case, when it has no capital."`
	Regex   bool   `help:"TEXT is a regular expression."`
	Speaker string `help:"Only what this one said: an id or a name." placeholder:"NAME"`
	Since   string `help:"Only what was said since then: a time, or how long ago." placeholder:"2026-11-21|7d"`
	Team    string `complete:"team-id" help:"Only in sessions of this team." placeholder:"ID"`
	Limit   int    `help:"Stop after so many; 0: show all." placeholder:"N"`
	Output  string `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (sessionsSearch) Help() string {
	return `Examples:
  agent-chatter sessions search 'segmentation fault'
  agent-chatter sessions search --regex 'fix(es|ed)? #\d+' --speaker claude --since 30d --output json`
}

// hitJSON is a message that was found, in JSON output.
type hitJSON struct {
	ID      string `json:"id"`
	Seq     uint64 `json:"seq"`
	Speaker string `json:"speaker"`
	Time    string `json:"time"`
	Text    string `json:"text"`
	Partial bool   `json:"partial,omitempty"`
}

// Run implements the command.
func (cmd *sessionsSearch) Run(a *app) error {
	since, err := cmd.since(now())
	if err != nil {
		return err
	}
	if cmd.Text == "" || cmd.Limit < 0 {
		return usageError("Give a text to search for, and a --limit of 1 or more, or none.")
	}
	query := search.Query{Text: cmd.Text, Regexp: cmd.Regex, Speaker: cmd.Speaker, Since: since}
	return cmd.run(a, query)
}

func (cmd *sessionsSearch) since(now time.Time) (time.Time, error) {
	if cmd.Since == "" {
		return time.Time{}, nil
	}
	var ago days
	if ago.UnmarshalText([]byte(cmd.Since)) == nil {
		return now.Add(-time.Duration(ago)), nil
	}
	if t, ok := parseTime(cmd.Since); ok {
		return t, nil
	}
	return time.Time{}, usageError("--since %s: expected a time such as 2026-11-21, or how long ago, such as 7d or 12h.", safeLine(cmd.Since))
}

func (cmd *sessionsSearch) run(a *app, query search.Query) error {
	c := a.catalog()
	list := c.List
	if cmd.Team != "" {
		list = c.Team(cmd.Team).List
	}
	sessions, err := list()
	if err != nil {
		return err
	}
	hits, err := search.Search(context.Background(), c, sessions, query)
	if err != nil {
		return usageError("--regex: %s", safeLine(err.Error()))
	}
	short := catalog.ShortIDs(sessions)
	found, damaged := 0, 0
	for hit, err := range hits {
		if err != nil {
			a.notice(unsearchedText(err))
			if codeOf(err) == exitDamaged {
				damaged++
			}
			continue
		}
		if err := cmd.print(a, hit, short[hit.Session.ID]); err != nil {
			return err
		}
		if found++; found == cmd.Limit {
			return nil
		}
	}
	if found == 0 {
		a.notice(fmt.Sprintf("Nothing was found in %s.", count(len(sessions), "session")))
	}
	if damaged > 0 {
		return &exitError{exitDamaged, notSearchedText(damaged, len(sessions))}
	}
	return nil
}

func (cmd *sessionsSearch) print(a *app, h search.Hit, short string) error {
	if cmd.Output == "json" {
		return writeJSON(a.stdout, hitJSON{
			ID: h.Session.ID, Seq: h.Seq, Speaker: h.Speaker.DisplayName, Time: projection.FormatTime(h.Time), Text: h.Line, Partial: h.Partial,
		})
	}
	place := fmt.Sprintf("%s  %d  %s  ", short, h.Seq, safeLine(h.Speaker.DisplayName))
	line := h.Line
	if columns := a.columns(); columns > 0 {
		line = around(line, h.Start, max(columns-1-displaywidth.String(place), leastShown))
	}
	_, err := fmt.Fprintln(a.stdout, place+safeLine(line))
	return err
}

// slashSearch is sessions search, without its flags.
func (t *talk) slashSearch(text string) error {
	if text == "" {
		t.refuse("/search TEXT: what shall be looked for?")
		return nil
	}
	find := &sessionsSearch{Text: text, Limit: 20, Output: "text"}
	t.judge(find.run(t.aside(), search.Query{Text: text}))
	return nil
}

// around is as much of a line as fits into so many columns, with what begins at
// start: before it stands a third of them, or what is left over behind it.
func around(line string, start, columns int) string {
	before := ending(line[:start], max(columns/3, columns-1-displaywidth.String(line[start:])))
	if len(before) == start || displaywidth.String(line) <= columns {
		return displaywidth.TruncateString(line, columns, "…")
	}
	return "…" + displaywidth.TruncateString(strings.TrimSpace(before+line[start:]), columns-1, "…")
}

// ending is as much of the end of a text as fits into so many columns.
func ending(text string, columns int) string {
	width := displaywidth.String(text)
	letters := displaywidth.StringGraphemes(text)
	for width > columns && letters.Next() {
		width -= letters.Width()
		text = text[len(letters.Value()):]
	}
	return text
}
