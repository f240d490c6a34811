package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// Search prints the messages that match a text.
type Search struct {
	Text    string `arg:"" help:"The text; case-sensitive if it has capital letters."`
	Regex   bool   `help:"Read TEXT as a regular expression."`
	Speaker string `help:"Only messages of this speaker: id or name." placeholder:"NAME"`
	Since   string `help:"Earliest time, or maximum age, of messages." placeholder:"2026-11-21|7d"`
	Team    string `complete:"team-id" help:"Only sessions of this team." placeholder:"ID"`
	Limit   int    `help:"Maximum number of results (default: 0, unlimited)." placeholder:"N"`
	Output  string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help returns examples.
func (Search) Help() string {
	return `Examples:
  agent-chatter sessions search 'segmentation fault'
  agent-chatter sessions search --regex 'fix(es|ed)? #\d+' --speaker claude --since 30d --output json`
}

// hitJSON is the JSON output of a hit.
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
	switch {
	case err != nil:
		return err
	case cmd.Text == "":
		return app.UsageError("The text to search for is empty.")
	case cmd.Limit < 0:
		return app.UsageError("--limit takes a number of results, 0 for all.")
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	return cmd.Search(ctx, a, a.Stdout, search.Query{
		Sessions: catalog.Query{Team: cmd.Team}, Text: cmd.Text, Regexp: cmd.Regex, Speaker: cmd.Speaker, Since: since,
	})
}

// since returns the time of --since; zero: the flag is missing.
func (cmd *Search) since(now time.Time) (time.Time, error) {
	if cmd.Since == "" {
		return time.Time{}, nil
	}
	var age home.Days
	if age.UnmarshalText([]byte(cmd.Since)) == nil {
		return now.Add(-time.Duration(age)), nil
	}
	if t, ok := view.ParseTime(cmd.Since); ok {
		return t, nil
	}
	return time.Time{}, app.UsageError("--since %s: expected a time such as 2026-11-21, or an age such as 7d or 12h.",
		tty.SafeLine(cmd.Since))
}

// Search prints at most Limit hits of a query to out, and notices to Stderr.
func (cmd *Search) Search(ctx context.Context, a *app.App, out io.Writer, query search.Query) error {
	result, err := search.Search(ctx, a.Catalog, query)
	var invalid *search.PatternError
	if errors.As(err, &invalid) {
		return app.UsageError("--regex: %s", tty.SafeLine(err.Error()))
	}
	if err != nil {
		return err
	}
	sessions := result.Sessions
	short := catalog.ShortIDs(sessions)
	if n, err := a.Remote.CountMissing(ctx, a.Catalog); n > 0 || err != nil {
		a.ReportHub(err)
		a.Show(notSearchedText(n))
	}
	show := cmd.printer(ctx, a, out)
	hits, damaged := 0, 0
	for hit, err := range result.Hits {
		if err != nil {
			a.Show(IncompleteText(err))
			if app.CodeOf(err) == app.ExitDamaged {
				damaged++
			}
			continue
		}
		if err := show(hit, short[hit.Session.ID]); err != nil {
			return err
		}
		if hits++; hits == cmd.Limit {
			return nil
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case hits == 0:
		a.Notice(fmt.Sprintf("No match in %s.", app.Count(len(sessions), "session")))
	}
	if damaged > 0 {
		return app.Exit(app.ExitDamaged, app.Message{Text: damagedCountText(damaged, len(sessions))})
	}
	return nil
}

// printer returns the function that prints a hit of a session with a short id to out.
func (cmd *Search) printer(ctx context.Context, a *app.App, out io.Writer) func(h search.Hit, short string) error {
	switch {
	case cmd.Output == "json":
		return func(h search.Hit, _ string) error {
			return app.WriteJSON(out, hitJSON{
				ID: h.Session.ID, Seq: h.Seq, Speaker: h.Speaker.DisplayName,
				Time: projection.FormatTime(h.Time), Text: h.Line, Partial: h.Partial,
			})
		}
	case tty.IsTerminal(out):
		p := &hitPrinter{app: a, out: out, style: view.StyleOn(a, out), now: time.Now()}
		return func(h search.Hit, short string) error { return p.print(ctx, h, short) }
	}
	return func(h search.Hit, short string) error {
		speaker, line := tty.SafeLine(h.Speaker.DisplayName), tty.SafeLine(h.Line)
		_, err := fmt.Fprintf(out, "%s  %d  %s  %s\n", short, h.Seq, speaker, line)
		return err
	}
}

// IncompleteText is for an error among the hits of a search: the hits of a session may be incomplete.
func IncompleteText(err error) app.Message {
	var of *search.Error
	if !errors.As(err, &of) {
		return app.Text("%s", tty.SafeLine(err.Error()))
	}
	if missing, ok := errors.AsType[*catalog.MissingHeaderError](of.Err); ok {
		return app.Text("⚠️  Session %s was searched, but %s", of.Session.ID, tty.SafeLine(missing.Reason)).
			With(app.To("see how to repair it", "verify", of.Session.ID))
	}
	return app.Text("⚠️  Session %s was not searched to its end: %s", of.Session.ID, tty.SafeLine(of.Err.Error())).
		With(app.To("locate the damage", "verify", of.Session.ID))
}

// damagedCountText ends a search of damaged sessions.
func damagedCountText(damaged, of int) string {
	return fmt.Sprintf("%d of %s damaged.", damaged, app.Count(of, "session"))
}
