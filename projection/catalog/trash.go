package catalog

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Trashed is a session in the trash of a team.
type Trashed struct {
	trash.Item
	Dir string // path of the team's directory
}

// Trash returns the sessions in the trash of all teams, those that were deleted last first. It reads no journal. A team
// whose trash cannot be read is treated as in List. When ctx is done, it stops with its error.
func (c *Catalog) Trash(ctx context.Context) ([]Trashed, error) {
	teams, err := c.Teams()
	if err != nil {
		return nil, err
	}
	var all []Trashed
	for _, d := range teams {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found, err := trash.Of(d.journals).List()
		switch {
		case err != nil && c.DirError == nil:
			return nil, err
		case err != nil:
			c.DirError(d.journals.Path(), err)
		}
		for _, item := range found {
			all = append(all, Trashed{item, d.journals.Path()})
		}
	}
	slices.SortStableFunc(all, func(a, b Trashed) int { return b.Since.Compare(a.Since) })
	return all, nil
}

// headEvents is how many events of a session in the trash are read at most.
const headEvents = 32

// TrashHead is how a session in the trash began, and its title.
type TrashHead struct {
	TeamID    string
	CWD       string
	Title     string // that it was given last, or got from its first message
	CreatedAt time.Time
	Source    *projection.Source // the team's configuration file; nil if the journal does not record one
}

// TrashHead reads the first events of a session in the trash, and searches the others, up to damage, for titles. The
// error wraps journal.ErrNotFound if it is not there, and is a *MissingHeaderError or a *journal.CorruptError if the
// first events are damaged.
func (d *Dir) TrashHead(ctx context.Context, id string) (TrashHead, error) {
	r, err := trash.Of(d.journals).Reader(id)
	if err != nil {
		return TrashHead{}, err
	}
	defer r.Close()
	var state projection.State
	n := 0
	for e, err := range r.Scan() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return TrashHead{}, err
		}
		state.Apply(e)
		if n++; n == headEvents || state.Row.Title != "" {
			break
		}
	}
	if state.SessionID == "" {
		return TrashHead{}, &MissingHeaderError{ID: id, Reason: errNotSession.Error()}
	}
	if err := applyTitles(ctx, r, &state); err != nil {
		return TrashHead{}, err
	}
	return TrashHead{state.Team.ID, state.CWD, state.Row.Title, state.Row.CreatedAt, state.Team.Source}, nil
}

// applyTitles applies the events in which a session was renamed. It decodes no others, and ends at damage.
func applyTitles(ctx context.Context, r *journal.Reader, state *projection.State) error {
	renamed := []byte(`"` + sessionRenamed + `"`)
	for e, err := range r.Grep(func(lines []byte) int {
		if ctx.Err() != nil {
			return -1
		}
		return bytes.Index(lines, renamed)
	}) {
		var corrupt *journal.CorruptError
		switch {
		case errors.As(err, &corrupt):
			return nil
		case err != nil:
			return err
		case e.Type == sessionRenamed:
			state.Apply(e)
		}
	}
	return ctx.Err()
}
