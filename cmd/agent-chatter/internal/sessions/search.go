package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/search"
	"github.com/clipperhouse/displaywidth"
)

type Search struct {
	Text    string `arg:"" help:"What the messages contain; in any case, when it has no capital."`
	Regex   bool   `help:"TEXT is a regular expression."`
	Speaker string `help:"Only what this one said: an id or a name." placeholder:"NAME"`
	Since   string `help:"Only what was said since then: a time, or how long ago." placeholder:"2026-11-21|7d"`
	Team    string `complete:"team-id" help:"Only in sessions of this team." placeholder:"ID"`
	Limit   int    `help:"Stop after so many; 0: show all." placeholder:"N"`
	Output  string `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (Search) Help() string {
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
func (cmd *Search) Run(a *app.App) error {
	since, err := cmd.since(time.Now())
	if err != nil {
		return err
	}
	if cmd.Text == "" || cmd.Limit < 0 {
		return app.UsageError("Give a text to search for, and a --limit of 1 or more, or none.")
	}
	query := search.Query{
		Sessions: catalog.Query{Team: cmd.Team}, Text: cmd.Text, Regexp: cmd.Regex, Speaker: cmd.Speaker, Since: since,
	}
	return cmd.Search(a, a.Stdout, query)
}

func (cmd *Search) since(now time.Time) (time.Time, error) {
	if cmd.Since == "" {
		return time.Time{}, nil
	}
	var ago app.Days
	if ago.UnmarshalText([]byte(cmd.Since)) == nil {
		return now.Add(-time.Duration(ago)), nil
	}
	if t, ok := view.ParseTime(cmd.Since); ok {
		return t, nil
	}
	return time.Time{}, app.UsageError("--since %s: expected a time such as 2026-11-21, or how long ago, such as 7d or 12h.", tty.SafeLine(cmd.Since))
}

// Search prints the matches of query to out and notices to Stderr.
func (cmd *Search) Search(a *app.App, out io.Writer, query search.Query) error {
	result, err := search.Search(context.Background(), a.Catalog, query)
	var invalid *search.PatternError
	if errors.As(err, &invalid) {
		return app.UsageError("--regex: %s", tty.SafeLine(err.Error()))
	}
	if err != nil {
		return err
	}
	sessions := result.Sessions
	short := catalog.ShortIDs(sessions)
	found, damaged := 0, 0
	for hit, err := range result.Hits {
		if err != nil {
			a.Show(unsearchedText(err))
			if app.CodeOf(err) == app.ExitDamaged {
				damaged++
			}
			continue
		}
		if err := cmd.print(out, hit, short[hit.Session.ID]); err != nil {
			return err
		}
		if found++; found == cmd.Limit {
			return nil
		}
	}
	if found == 0 {
		a.Notice(fmt.Sprintf("No match in %s.", app.Count(len(sessions), "session")))
	}
	if damaged > 0 {
		return app.Exit(app.ExitDamaged, app.Message{Text: notSearchedText(damaged, len(sessions))})
	}
	return nil
}

func (cmd *Search) print(out io.Writer, h search.Hit, short string) error {
	if cmd.Output == "json" {
		return app.WriteJSON(out, hitJSON{
			ID: h.Session.ID, Seq: h.Seq, Speaker: h.Speaker.DisplayName, Time: projection.FormatTime(h.Time), Text: h.Line, Partial: h.Partial,
		})
	}
	place := fmt.Sprintf("%s  %d  %s  ", short, h.Seq, tty.SafeLine(h.Speaker.DisplayName))
	line := h.Line
	if columns := tty.Columns(out); columns > 0 {
		line = around(line, h.Start, max(columns-1-displaywidth.String(place), tty.LeastShown))
	}
	_, err := fmt.Fprintln(out, place+tty.SafeLine(line))
	return err
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

// unsearchedText is for a session that could not be searched, or not to its end.
func unsearchedText(err error) app.Message {
	var of *search.Error
	if !errors.As(err, &of) {
		return app.Text("%s", tty.SafeLine(err.Error()))
	}
	return app.Text("⚠️  Session %s was not searched to its end: %s", of.Session.ID, tty.SafeLine(of.Err.Error())).
		With(app.To("locate the damage", "verify", of.Session.ID))
}

// notSearchedText ends a search of damaged sessions.
func notSearchedText(damaged, of int) string {
	return fmt.Sprintf("%d of %s not searched to the end: damaged.", damaged, app.Count(of, "session"))
}
