package sessions

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// Diff prints the length of the common prefix of two sessions and the messages that each
// has after it.
type Diff struct {
	A      string   `arg:"" complete:"id" help:"A session: id, title, path or latest."`
	B      string   `arg:"" optional:"" complete:"id" help:"Another session."`
	Member []string `complete:"member" help:"Compare the replies of two members, such as ada,bea." placeholder:"A,B"`
	Output string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help returns examples.
func (Diff) Help() string {
	return `Examples:
  agent-chatter sessions diff 7QN3 K2WD
  agent-chatter sessions diff latest "the calculator" --output json | jq -r .content
  agent-chatter sessions diff latest --member ada,bea`
}

// divergenceJSON is the first line of the JSON output: the last event of the common
// prefix in each session.
type divergenceJSON struct {
	Common int          `json:"common"` // messages
	A      positionJSON `json:"a"`
	B      positionJSON `json:"b"`
}

type positionJSON struct {
	ID  string `json:"id"`
	Seq uint64 `json:"seq"`
}

// messageJSON is a message that only one session has.
type messageJSON struct {
	ID string `json:"sessionId"`
	projection.Entry
}

// Run implements the command.
func (cmd *Diff) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	switch {
	case cmd.B == "" && len(cmd.Member) == 2 && !strings.EqualFold(cmd.Member[0], cmd.Member[1]):
		return cmd.compareMembers(ctx, a)
	case cmd.B == "", len(cmd.Member) > 0:
		return app.UsageError("%s", textTwoSessions)
	}
	sessionA, err := a.FindOrOpen(ctx, cmd.A)
	if err != nil {
		return err
	}
	replayA := view.NewReplay(a, sessionA)
	sessionB, err := a.FindOrOpen(ctx, cmd.B)
	if err != nil {
		return err
	}
	replayB := view.NewReplay(a, sessionB)
	if replayA.ID == replayB.ID {
		return app.UsageError("%s", textSameSession)
	}
	d, err := projection.Diverge(replayA.Events(ctx), replayB.Events(ctx))
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.Stdout)
	if cmd.Output == "text" && tty.IsTerminal(a.Stdout) {
		left, right := side{replayA, sessionA.Title, d.A}, side{replayB, sessionB.Title, d.B}
		err := printSides(ctx, out, left, right, d, view.OutputStyle(a))
		return cmp.Or(err, out.Flush())
	}
	if cmd.Output == "json" {
		line := divergenceJSON{d.Messages, positionJSON{replayA.ID, d.A}, positionJSON{replayB.ID, d.B}}
		if err := app.WriteJSON(out, line); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(out, divergenceText(replayA.ID, replayB.ID, d))
	}
	if err := cmd.printAfter(ctx, out, "<", replayA, d.A); err != nil {
		return err
	}
	if err := cmd.printAfter(ctx, out, ">", replayB, d.B); err != nil {
		return err
	}
	return out.Flush()
}

// printAfter prints the messages of a session after an event. The text output starts with
// their number, so it reads the session twice.
func (cmd *Diff) printAfter(ctx context.Context, out io.Writer, mark string, r *view.Replay, seq uint64) error {
	if cmd.Output == "text" {
		messages, unfinished, err := countAfter(ctx, r, seq)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, onlyText(mark, r.ID, messages, unfinished))
	}
	for entry, err := range entriesAfter(ctx, r, seq) {
		switch {
		case err != nil:
			return err
		case cmd.Output == "json":
			if err := app.WriteJSON(out, messageJSON{r.ID, entry}); err != nil {
				return err
			}
		default:
			fmt.Fprintf(out, "%s %d  %s\n", mark, entry.Seq, view.MessageText(entry))
		}
	}
	return nil
}

// entriesAfter yields the conversation after an event.
func entriesAfter(ctx context.Context, r *view.Replay, seq uint64) iter.Seq2[projection.Entry, error] {
	return func(yield func(projection.Entry, error) bool) {
		for item, err := range new(conversation.Conversation).Read(projection.Brief(r.Events(ctx))) {
			if err != nil {
				yield(projection.Entry{}, err)
				return
			}
			if entry, ok := item.Entry(); ok && entry.Seq > seq && !yield(entry, nil) {
				return
			}
		}
	}
}

// textTwoSessions rejects other things to compare.
const textTwoSessions = "Name two sessions, or one session and two of its members, such as: " +
	"sessions diff latest --member ada,bea"

// textSameSession rejects a session that is compared or merged with itself.
const textSameSession = "Both names are of the same session."

func divergenceText(a, b string, d projection.Divergence) string {
	if d.A == 0 {
		return fmt.Sprintf("%s and %s have nothing in common.", a, b)
	}
	return fmt.Sprintf("%s and %s have %s in common, up to event %d of the one and %d of the other.",
		a, b, app.Count(d.Messages, "message"), d.A, d.B)
}

// onlyText is the heading of what only one session has.
func onlyText(mark, id string, messages, unfinished int) string {
	return fmt.Sprintf("Only %s (%s): %s.", mark, id, countText(messages, unfinished))
}

// countText counts messages. As in a list, unfinished replies are no messages.
func countText(messages, unfinished int) string {
	var counts []string
	if messages > 0 {
		counts = append(counts, app.Count(messages, "message"))
	}
	switch {
	case unfinished == 1:
		counts = append(counts, "1 unfinished reply")
	case unfinished > 1:
		counts = append(counts, fmt.Sprintf("%d unfinished replies", unfinished))
	}
	return cmp.Or(strings.Join(counts, " and "), "nothing")
}
