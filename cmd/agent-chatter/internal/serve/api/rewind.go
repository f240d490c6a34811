package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A rewindJSON is what going back to before a message would do.
type rewindJSON struct {
	Before uint64 `json:"before"` // the event to go back to
	Text   string `json:"text"`   // of the message
	Plan   string `json:"plan"`   // what happens to the files, or why they cannot be set back
	Files  bool   `json:"files"`  // whether files can be set back
}

// rewindPlan returns what going back to before a message of a person would do. No file is changed: for that the page
// enters the command /rewind, as on a terminal.
func (d *Server) rewindPlan(r *http.Request) (rewindJSON, error) {
	if d.hosts == nil {
		return rewindJSON{}, app.Exit(app.ExitUsage, readOnlyText())
	}
	key, err := d.key(r)
	if err != nil {
		return rewindJSON{}, err
	}
	wanted, err := bodyOf[wantedJSON](r)
	if err != nil {
		return rewindJSON{}, err
	}
	ctx, cancel := d.untilEnd(r)
	defer cancel()
	s, err := d.app.Catalog.At(key.Dir).Session(ctx, key.ID)
	if err != nil {
		return rewindJSON{}, err
	}
	text, err := d.messageOf(ctx, s, wanted.Seq)
	if err != nil {
		return rewindJSON{}, err
	}
	secrets := d.secrets(r)
	plan := rewindJSON{Before: wanted.Seq - 1, Text: secrets.Text(tty.Safe(text))}
	p, err := (&filechanges.Restore{}).Prepare(ctx, d.app, s, strconv.FormatUint(plan.Before, 10))
	if err != nil { // such as a session that has recorded no files
		plan.Plan = secrets.Text(d.text(err))
		return plan, ctx.Err()
	}
	plan.Plan, plan.Files = secrets.Text(p.Text()), p.Changes()
	return plan, p.Close()
}

// messageOf returns the text of the message of a person that an event has.
func (d *Server) messageOf(ctx context.Context, s catalog.Session, seq uint64) (string, error) {
	for e, err := range view.NewReplay(d.app, s).Events(ctx) {
		if err != nil {
			return "", err
		}
		if e.Seq < seq {
			continue
		}
		m, ok := projection.DecodeEvent(e).Payload.(projection.MessageAppended)
		if ok && e.Seq == seq && seq > 1 && m.Message.Speaker.Type == projection.TypeHuman {
			return m.Message.Content, nil
		}
		break
	}
	return "", &requestError{fmt.Sprintf("Event %d is no message of a person.", seq)}
}
