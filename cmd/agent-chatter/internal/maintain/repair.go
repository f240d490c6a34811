package maintain

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

type Repair struct {
	ID     string `arg:"" help:"The session."`
	DryRun bool   `help:"Say what would be set aside, and do nothing."`
	Output string `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (Repair) Help() string {
	return `Examples:
  agent-chatter repair 7QN3 --dry-run
  agent-chatter repair 7QN3
  agent-chatter repair ./talk.jsonl`
}

// repaired is what repair says of a session.
type repaired struct {
	ID      string    `json:"id"`
	Action  string    `json:"action"` // repaired, or none when the journal is sound
	Kept    uint64    `json:"kept"`   // events
	Dropped []dropped `json:"setAside"`
	Aside   string    `json:"aside,omitempty"` // the file that has the journal as it was
}

// dropped is one run of bytes that does not check.
type dropped struct {
	Offset   int64  `json:"offset"`
	Bytes    int64  `json:"bytes"`
	FirstSeq uint64 `json:"firstSeq,omitempty"`
	LastSeq  uint64 `json:"lastSeq,omitempty"`
	Reason   string `json:"reason"`
}

// Run implements the command.
func (cmd *Repair) Run(a *app.App) error { return app.Named(cmd.ID, cmd.run(a)) }

func (cmd *Repair) run(a *app.App) error {
	c := a.Catalog
	s, err := a.FindOrOpen(context.Background(), cmd.ID)
	if err != nil {
		return err
	}
	done, err := c.At(s.Dir()).Journals().Repair(context.Background(), s.ID, cmd.DryRun)
	if errors.Is(err, errors.ErrUnsupported) {
		return app.Exit(app.ExitFailed, app.ArchivedText(app.ByPath(cmd.ID).Name(s.ID)))
	}
	if err != nil {
		return err
	}
	r := newRepaired(s.ID, done)
	if s.MissingHeader && r.Action == "none" {
		return &catalog.MissingHeaderError{ID: s.ID, Reason: s.Damaged}
	}
	if s, err := c.At(s.Dir()).Session(context.Background(), s.ID); err == nil && s.MissingHeader {
		defer a.Show(app.HeaderLostText(s))
	}
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, r)
	}
	return r.write(a.Stdout, cmd.DryRun)
}

func newRepaired(id string, done journal.Repaired) repaired {
	r := repaired{ID: id, Action: "none", Kept: done.Kept, Dropped: []dropped{}, Aside: done.Aside}
	for _, d := range done.Dropped {
		r.Action = "repaired"
		r.Dropped = append(r.Dropped, dropped{d.Offset, d.Bytes, d.FirstSeq, d.LastSeq, d.Reason})
	}
	return r
}

func (r repaired) write(out io.Writer, dryRun bool) error {
	if len(r.Dropped) == 0 {
		_, err := fmt.Fprintf(out, "%s  is sound: nothing to repair\n", r.ID)
		return err
	}
	for _, d := range r.Dropped {
		if _, err := fmt.Fprintf(out, "%s  byte %d: %d bytes set aside: %s\n", r.ID, d.Offset, d.Bytes, d.Reason); err != nil {
			return err
		}
	}
	outcome := "the journal as it was is in " + r.Aside
	if dryRun {
		outcome = "nothing was done (--dry-run)"
	}
	_, err := fmt.Fprintf(out, "%s  %s kept; %s\n", r.ID, app.Count(int(r.Kept), "event"), outcome)
	return err
}
