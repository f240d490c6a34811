package main

import (
	"bufio"
	"fmt"
	"io"
	"iter"

	"github.com/agent-chatter/agent-chatter/projection"
)

type sessionsDiff struct {
	A      string `arg:"" complete:"id" help:"A session."`
	B      string `arg:"" complete:"id" help:"Another."`
	Output string `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (sessionsDiff) Help() string {
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
func (cmd *sessionsDiff) Run(a *app) error {
	ra, rb, err := a.openTwo(cmd.A, cmd.B)
	if err != nil {
		return err
	}
	parting, err := projection.Part(ra.events(), rb.events())
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.stdout)
	if err := cmd.print(out, ra, rb, parting); err != nil {
		return err
	}
	return out.Flush()
}

// openTwo finds two sessions that are not the same.
func (a *app) openTwo(nameA, nameB string) (ra, rb *replay, err error) {
	if ra, err = a.openReplay(nameA); err != nil {
		return nil, nil, err
	}
	if rb, err = a.openReplay(nameB); err != nil {
		return nil, nil, err
	}
	if ra.id == rb.id {
		return nil, nil, usageError("%s", textTwoSessions)
	}
	return ra, rb, nil
}

func (cmd *sessionsDiff) print(out io.Writer, ra, rb *replay, p projection.Parting) error {
	if cmd.Output == "json" {
		if err := writeJSON(out, partedJSON{p.Messages, parentJSON{ra.id, p.A}, parentJSON{rb.id, p.B}}); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(out, partingText(ra.id, rb.id, p))
	}
	if err := cmd.printAlone(out, "<", ra, p.A); err != nil {
		return err
	}
	return cmd.printAlone(out, ">", rb, p.B)
}

// printAlone prints what a session has behind an event.
func (cmd *sessionsDiff) printAlone(out io.Writer, mark string, r *replay, seq uint64) error {
	if cmd.Output == "text" {
		n := 0
		for _, err := range r.behind(seq) { // how many comes first
			if err != nil {
				return err
			}
			n++
		}
		fmt.Fprintln(out, aloneText(mark, r.id, n))
	}
	for entry, err := range r.behind(seq) {
		switch {
		case err != nil:
			return err
		case cmd.Output == "json":
			if err := writeJSON(out, aloneJSON{r.id, entry}); err != nil {
				return err
			}
		default:
			fmt.Fprintf(out, "%s %d  %s\n", mark, entry.Seq, messageText(entry))
		}
	}
	return nil
}

// behind yields the conversation behind an event.
func (r *replay) behind(seq uint64) iter.Seq2[projection.Entry, error] {
	return func(yield func(projection.Entry, error) bool) {
		for entry, err := range projection.Replay(r.events()) {
			if (err != nil || entry.Seq > seq) && !yield(entry, err) {
				return
			}
		}
	}
}
