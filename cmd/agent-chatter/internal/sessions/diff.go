package sessions

import (
	"bufio"
	"fmt"
	"io"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
)

// partingText says where two sessions part.
func partingText(a, b string, p projection.Divergence) string {
	if p.A == 0 {
		return fmt.Sprintf("%s and %s have nothing in common.", a, b)
	}
	return fmt.Sprintf("%s and %s have %s in common, up to event %d of the one and %d of the other.", a, b, app.Count(p.Messages, "message"), p.A, p.B)
}

// aloneText says how much a session has alone.
func aloneText(mark, id string, messages int) string {
	if messages == 0 {
		return fmt.Sprintf("Only %s (%s): nothing.", mark, id)
	}
	return fmt.Sprintf("Only %s (%s): %s.", mark, id, app.Count(messages, "message"))
}

type Diff struct {
	A      string `arg:"" complete:"id" help:"A session."`
	B      string `arg:"" complete:"id" help:"Another."`
	Output string `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (Diff) Help() string {
	return `Examples:
  agent-chatter sessions diff 7QN3 K2WD
  agent-chatter sessions diff latest "the calculator" --output json | jq -r .content`
}

// partedJSON is the first line of a diff in JSON output: the last event that
// both have, by its number in each.
type partedJSON struct {
	Common int        `json:"common"` // messages
	A      parentJSON `json:"a"`
	B      parentJSON `json:"b"`
}

type parentJSON struct {
	ID  string `json:"id"`
	Seq uint64 `json:"seq"`
}

// aloneJSON is a message that one of the two has alone.
type aloneJSON struct {
	ID string `json:"sessionId"`
	projection.Entry
}

// Run implements the command.
func (cmd *Diff) Run(a *app.App) error {
	ra, rb, err := openTwo(a, cmd.A, cmd.B)
	if err != nil {
		return err
	}
	parting, err := projection.Diverge(ra.Events(), rb.Events())
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.Stdout)
	if err := cmd.print(out, ra, rb, parting); err != nil {
		return err
	}
	return out.Flush()
}

// openTwo finds two sessions that are not the same.
func openTwo(a *app.App, nameA, nameB string) (ra, rb *view.Replay, err error) {
	if ra, err = view.OpenReplay(a, nameA); err != nil {
		return nil, nil, err
	}
	if rb, err = view.OpenReplay(a, nameB); err != nil {
		return nil, nil, err
	}
	if ra.ID == rb.ID {
		return nil, nil, app.UsageError("Both names are of the same session: name two.")
	}
	return ra, rb, nil
}

func (cmd *Diff) print(out io.Writer, ra, rb *view.Replay, p projection.Divergence) error {
	if cmd.Output == "json" {
		if err := app.WriteJSON(out, partedJSON{p.Messages, parentJSON{ra.ID, p.A}, parentJSON{rb.ID, p.B}}); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(out, partingText(ra.ID, rb.ID, p))
	}
	if err := cmd.printAlone(out, "<", ra, p.A); err != nil {
		return err
	}
	return cmd.printAlone(out, ">", rb, p.B)
}

// printAlone prints what a session has behind an event.
func (cmd *Diff) printAlone(out io.Writer, mark string, r *view.Replay, seq uint64) error {
	if cmd.Output == "text" {
		n := 0
		for _, err := range r.Behind(seq) { // how many comes first
			if err != nil {
				return err
			}
			n++
		}
		fmt.Fprintln(out, aloneText(mark, r.ID, n))
	}
	for entry, err := range r.Behind(seq) {
		switch {
		case err != nil:
			return err
		case cmd.Output == "json":
			if err := app.WriteJSON(out, aloneJSON{r.ID, entry}); err != nil {
				return err
			}
		default:
			fmt.Fprintf(out, "%s %d  %s\n", mark, entry.Seq, view.MessageText(entry))
		}
	}
	return nil
}
