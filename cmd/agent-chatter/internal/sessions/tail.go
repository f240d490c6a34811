package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// permissionText is what became of something that an agent asked leave for.
func permissionText(p projection.PermissionAnswered) string {
	answer := "refused"
	if p.Allowed {
		answer = "allowed"
	}
	return fmt.Sprintf("%s by %s: %s", answer, p.By, tty.SafeLine(cmp.Or(p.Title, p.Name)))
}

type Tail struct {
	ID     string `arg:"" optional:"" help:"The session; without it, the latest."`
	N      int    `short:"n" help:"How many events to begin with." default:"10"`
	Follow bool   `short:"f" help:"Go on with the events to come, until Ctrl+C."`
	All    bool   `help:"All sessions of all teams, and those that come into being."`
	Output string `help:"What is printed: ${enum}; json is the lines of the journal." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (Tail) Help() string {
	return `Examples:
  agent-chatter tail -f
  agent-chatter tail 7QN3 -n 3 --output json
  agent-chatter tail -f --all`
}

// Run implements the command.
func (cmd *Tail) Run(a *app.App) error { return app.Named(cmd.ID, cmd.run(a)) }

func (cmd *Tail) run(a *app.App) error {
	if cmd.N < 0 {
		return app.UsageError("-n takes a number of events, 0 for none.")
	}
	ctx, stop := a.UntilUnread()
	defer stop()
	if cmd.All {
		if cmd.ID != "" {
			return app.UsageError("Name a session, or say --all.")
		}
		return cmd.all(ctx, a)
	}
	team, id, waited, err := cmd.session(ctx, a)
	if err != nil || id == "" {
		return err
	}
	var from journal.Position
	if !waited {
		if from, err = cmd.Last(a, team, id); err != nil {
			return err
		}
	}
	if !cmd.Follow {
		return headless(team, id)
	}
	return cmd.FollowSession(ctx, a, team, id, from)
}

// headless is what is wrong with a session whose lines check.
func headless(team *catalog.Dir, id string) error {
	s, err := team.Session(context.Background(), id)
	if err == nil && s.MissingHeader {
		return &catalog.MissingHeaderError{ID: id, Reason: s.Damaged}
	}
	return nil
}

// follow prints the events to come until ctx is done.
func (cmd *Tail) FollowSession(ctx context.Context, a *app.App, team *catalog.Dir, id string, from journal.Position) error {
	for e, err := range team.Journals().Follow(ctx, id, from) {
		if err != nil {
			return app.Exit(app.CodeOf(err), app.FollowEndedText(id, app.Named(cmd.ID, err)))
		}
		cmd.print(a, e)
	}
	return nil
}

// session finds what to follow. The latest is waited for when there is none
// yet; then everything of it is to come.
func (cmd *Tail) session(ctx context.Context, a *app.App) (team *catalog.Dir, id string, waited bool, err error) {
	c := a.Catalog
	if cmd.ID != "" {
		s, err := a.FindOrOpen(ctx, cmd.ID)
		if err != nil {
			return nil, "", false, err
		}
		return c.At(s.Dir()), s.ID, false, nil
	}
	for ; ; waited = true {
		found, skipped, err := c.Find(ctx, catalog.LatestName)
		if !waited {
			a.ReportSkipped(skipped)
		}
		if err == nil {
			return c.At(found.Dir()), found.ID, waited, nil
		}
		if !cmd.Follow || !errors.Is(err, journal.ErrNotFound) {
			return nil, "", waited, err
		}
		if !waited {
			a.Notice("There is no session yet: waiting for the first.")
		}
		select {
		case <-ctx.Done():
			return nil, "", waited, nil
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// last prints the last events and returns the place behind them.
func (cmd *Tail) Last(a *app.App, team *catalog.Dir, id string) (journal.Position, error) {
	events, end, torn, err := lastEvents(team, id, cmd.N)
	for _, e := range events {
		cmd.print(a, e)
	}
	if torn.Bytes > 0 && !cmd.Follow {
		a.Notice(view.TornText(id, torn))
	}
	return end, err
}

// lastEvents reads the last n events of a session, from its end. Of a damaged
// one it reads everything, and returns the last n before the damage.
func lastEvents(team *catalog.Dir, id string, n int) ([]journal.Event, journal.Position, journal.Torn, error) {
	reader, err := team.Journals().Reader(id, journal.Position{})
	if err != nil {
		return nil, journal.Position{}, journal.Torn{}, err
	}
	defer reader.Close()
	end, err := reader.End()
	if err != nil {
		return lastBeforeDamage(reader, n)
	}
	var last []journal.Event
	for e, err := range reader.Before(end) {
		if err != nil {
			return lastBeforeDamage(reader, n)
		}
		if len(last) == n {
			break
		}
		last = append(last, e)
	}
	slices.Reverse(last)
	return last, end, reader.Torn(), nil
}

func lastBeforeDamage(reader *journal.Reader, n int) ([]journal.Event, journal.Position, journal.Torn, error) {
	var last []journal.Event
	for e, err := range reader.All() {
		if err != nil {
			return last, reader.Position(), reader.Torn(), err
		}
		if last = append(last, e); len(last) > n {
			last = slices.Delete(last, 0, 1)
		}
	}
	return last, reader.Position(), reader.Torn(), nil
}

func (cmd *Tail) print(a *app.App, e journal.Event) {
	if cmd.Output == "json" {
		fmt.Fprintf(a.Stdout, "%s\n", e.Line())
		return
	}
	fmt.Fprintf(a.Stdout, "%s  %d  %s%s\n", e.Time.Local().Format("15:04:05"), e.Seq, tty.SafeLine(e.Type), indented(eventDetail(e)))
}

// indented is a text whose lines but the first stand further right than any event begins, so
// that none of them can be taken for one.
func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n          ") }

// eventDetail is what an event says, for people; "" when its type says it all.
func eventDetail(e journal.Event) string {
	payload, err := projection.Decode(e)
	if err != nil {
		return ""
	}
	switch p := payload.(type) {
	case projection.SessionCreated:
		return "  team " + tty.SafeLine(p.Team.ID)
	case projection.SessionEnded:
		return "  " + tty.SafeLine(p.Reason)
	case projection.MessageAppended:
		return "  " + view.MessageText(projection.Entry{Message: p.Message})
	case projection.TurnStarted:
		return "  " + tty.SafeLine(p.MemberID)
	case projection.TurnText:
		return "  " + tty.Safe(p.Text)
	case projection.ToolStarted:
		return "  " + view.ToolText(p)
	case projection.ToolCompleted:
		return "  " + tty.SafeLine(strings.TrimSpace(p.Name+" "+p.Error))
	case projection.PermissionAnswered:
		return "  " + permissionText(p)
	case projection.TurnEnded:
		return "  " + tty.SafeLine(strings.TrimSpace(p.MemberID+" "+string(p.FinishReason)+" "+p.Error))
	case projection.JournalRecovered:
		return fmt.Sprintf("  %d bytes set aside: %s", p.Bytes, tty.SafeLine(p.Reason))
	}
	return ""
}
