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
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// Tail prints the last events of a session, and with Follow those that are appended.
type Tail struct {
	ID     string `arg:"" optional:"" help:"The session: id, title or a path (default: latest)."`
	N      int    `short:"n" help:"Number of past events to print." default:"10"`
	Follow bool   `short:"f" help:"Follow new events until Ctrl+C."`
	All    bool   `help:"Include all sessions of all teams."`
	Output string `help:"Output format: ${enum} (journal lines)." enum:"text,json" default:"text"`

	members turnMembers
}

// Help returns examples.
func (Tail) Help() string {
	return `Examples:
  agent-chatter tail -f
  agent-chatter tail 7QN3 -n 3 --output json
  agent-chatter tail -f --all`
}

// Run implements the command. A signal, or a closed pipe at stdout, ends Follow without an
// error.
func (cmd *Tail) Run(a *app.App) error {
	ctx, stop := a.UntilUnread()
	defer stop()
	err := cmd.run(ctx, a)
	if cmd.Follow && errors.Is(err, context.Canceled) {
		return nil
	}
	return app.WithName(cmd.ID, err)
}

func (cmd *Tail) run(ctx context.Context, a *app.App) error {
	switch {
	case cmd.N < 0:
		return app.UsageError("-n takes a number of events, 0 for none.")
	case cmd.All && cmd.ID != "":
		return app.UsageError("Name a session or use --all, not both.")
	case cmd.All:
		return cmd.printAll(ctx, a)
	case isAside(cmd.ID):
		return cmd.printAside(ctx, a)
	case cmd.ID != "":
		s, err := a.FindOrOpen(ctx, cmd.ID)
		if err != nil {
			return err
		}
		return cmd.Print(ctx, a, a.Catalog.At(s.Dir()), s.ID)
	}
	s, err := a.Find(ctx, catalog.LatestName)
	if !cmd.Follow || !errors.Is(err, journal.ErrNotFound) {
		if err != nil {
			return err
		}
		return cmd.Print(ctx, a, a.Catalog.At(s.Dir()), s.ID)
	}
	a.Notice("There is no session yet: waiting for the first.")
	for errors.Is(err, journal.ErrNotFound) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		s, _, err = a.Catalog.Find(ctx, catalog.LatestName)
	}
	if err != nil {
		return err
	}
	return cmd.follow(ctx, a, a.Catalog.At(s.Dir()), s.ID, journal.Position{})
}

// Print prints the last N events of a session, and with Follow those to come until ctx is
// done.
func (cmd *Tail) Print(ctx context.Context, a *app.App, dir *catalog.Dir, id string) error {
	events, end, torn, err := cmd.lastEvents(ctx, dir, id)
	for _, e := range events {
		cmd.printEvent(a, "", e)
	}
	if torn.Bytes > 0 && !cmd.Follow {
		a.Notice(view.TornText(id, torn))
	}
	if err != nil {
		return err
	}
	s, err := dir.Session(ctx, id)
	if err == nil {
		a.ReportFaults(s)
	}
	switch {
	case cmd.Follow:
		return cmd.follow(ctx, a, dir, id, end)
	case err == nil && s.MissingHeader:
		return s.HeaderError()
	}
	return nil
}

func (cmd *Tail) follow(ctx context.Context, a *app.App, dir *catalog.Dir, id string, from journal.Position) error {
	go func() { a.ReportHub(a.Remote.Follow(ctx, dir, id)) }()
	for e, err := range dir.Journals().Follow(ctx, id, from) {
		if err != nil {
			return app.Exit(app.CodeOf(err), app.FollowEndedText(id, app.WithName(cmd.ID, err)))
		}
		cmd.printEvent(a, "", e)
	}
	return nil
}

// lastEvents returns the last N events of a session, the position after them and the torn
// tail. If the part that it reads from the end is damaged or cannot be read, it reads the
// journal from its beginning, and returns the last N events before the error with the error.
func (cmd *Tail) lastEvents(ctx context.Context, dir *catalog.Dir, id string) (
	last []journal.Event, end journal.Position, torn journal.Torn, err error,
) {
	if cmd.Output != "json" && cmd.members == nil {
		cmd.members = turnMembers{}
	}
	reader, err := dir.Journals().Reader(id, journal.Position{})
	if err != nil {
		return nil, end, torn, err
	}
	defer reader.Close()
	if end, err = reader.End(); err == nil {
		last, err = eventsBefore(ctx, reader, end, cmd.N)
	}
	if err == nil {
		torn := reader.Torn()
		if slices.ContainsFunc(last, func(e journal.Event) bool { return ofTurn[e.Type] }) {
			cmd.members.read(reader, reader.Position())
		}
		return last, end, torn, nil
	}
	for e, err := range reader.All() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return last, reader.Position(), reader.Torn(), err
		}
		if last = append(last, e); len(last) > cmd.N {
			last = last[1:]
		}
	}
	return last, reader.Position(), reader.Torn(), nil
}

// eventsBefore returns the last n events before a position, and reads no others.
func eventsBefore(
	ctx context.Context, reader *journal.Reader, end journal.Position, n int,
) (last []journal.Event, err error) {
	if n == 0 {
		return nil, nil
	}
	for e, err := range reader.Before(end) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if last = append(last, e); len(last) == n {
			break
		}
	}
	slices.Reverse(last)
	return last, nil
}

// printEvent prints an event, as text after a prefix.
func (cmd *Tail) printEvent(a *app.App, prefix string, e journal.Event) {
	if cmd.Output == "json" {
		fmt.Fprintf(a.Stdout, "%s\n", e.Line())
		return
	}
	const indent = "          " // lines that have it cannot be mistaken for events
	d := conversation.Alone(projection.DecodeEvent(e))
	cmd.members.add(d)
	text := fmt.Sprintf("%s%s  %d  %s%s%s", prefix, e.Time.Local().Format("15:04:05"), e.Seq, tty.SafeLine(e.Type),
		cmd.members.of(d), eventDetail(d))
	text = tty.Fold(text, max(0, tty.Columns(a.Stdout)-len(indent)))
	fmt.Fprintln(a.Stdout, strings.ReplaceAll(text, "\n", "\n"+indent))
}

// eventDetail returns the part of an event that follows its type in text output, with a
// separator; "" if there is none.
func eventDetail(d conversation.Delta) string {
	switch d := d.(type) {
	case conversation.Said:
		d.Message.Content = d.Text()
		return "  " + view.MessageText(projection.Entry{Message: d.Message})
	case conversation.Began:
		return "  " + tty.SafeLine(d.Turn.Speaker.ID)
	case conversation.Text:
		return "  " + tty.Safe(d.Text) // as a message: the caller indents it
	case conversation.Called:
		return "  " + view.ToolText(d.Call.Started)
	case conversation.Completed:
		return "  " + tty.SafeLine(strings.TrimSpace(d.Call.Result.Name+" "+d.Call.Result.Error))
	case conversation.Planned:
		return "\n" + view.PlanText(d.Plan.Entries, d.Plan.More)
	case conversation.Permitted:
		return "  " + permissionText(d.Answer)
	case conversation.PermissionBypassed:
		return "  " + bypassText(d.Bypass)
	case conversation.Ended:
		return "  " + tty.SafeLine(strings.TrimSpace(d.End.MemberID+" "+string(d.End.FinishReason)+" "+d.End.Error))
	case conversation.Changed:
		return changeDetail(d.Payload)
	}
	return ""
}

func changeDetail(p projection.Payload) string {
	switch p := p.(type) {
	case projection.SessionCreated:
		return "  team " + tty.SafeLine(p.Team.ID)
	case projection.SessionEnded:
		return "  " + tty.SafeLine(p.Reason)
	case projection.Described:
		return "  " + tty.SafeLine(p.Text())
	case projection.AgentAttached:
		return "  " + attachedText(p)
	case projection.AgentCompacted:
		return fmt.Sprintf("  %s compacted its session, %d → %d tokens", tty.SafeLine(p.MemberID), p.Before, p.After)
	case projection.SummaryWritten:
		return fmt.Sprintf("  of events %d to %d, for %s", p.From, p.To, tty.SafeLine(p.MemberID))
	case projection.JournalRecovered:
		return fmt.Sprintf("  %d bytes set aside: %s", p.Bytes, tty.SafeLine(p.Reason))
	}
	return ""
}

// attachedText is for the session of an agent that a turn uses.
func attachedText(p projection.AgentAttached) string {
	way := string(p.Way)
	if p.Way == projection.AttachImported {
		way = "continues the imported session in"
	}
	text := fmt.Sprintf("%s %s session %s", p.MemberID, way, p.AgentSession)
	if p.Reason != "" && p.Reason != projection.ReasonFirst {
		text += " (" + p.Reason + ")"
	}
	return tty.SafeLine(text)
}

// bypassText is for a tool that an agent used without the permission that it needs.
func bypassText(p projection.PermissionBypassed) string {
	return view.WithoutPermission + ": " + tty.SafeLine(cmp.Or(p.Title, p.Name))
}

// permissionText is for the answer to an agent's request for permission.
func permissionText(p projection.PermissionAnswered) string {
	action, by := tty.SafeLine(cmp.Or(p.Title, p.Name)), tty.SafeLine(string(p.By))
	switch {
	case p.By == projection.ByDefault:
		return "refused without an answer: " + action
	case p.Allowed:
		if answers := view.AnswersText(p); answers != "" {
			return fmt.Sprintf("answered by %s: %s", by, strings.ReplaceAll(answers, "\n", "; "))
		}
		return fmt.Sprintf("allowed by %s: %s", by, action)
	}
	return fmt.Sprintf("refused by %s: %s", by, action)
}
