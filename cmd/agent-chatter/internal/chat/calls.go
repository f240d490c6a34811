package chat

import (
	"context"
	"errors"
	"iter"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// recordedCalls yields the tool calls that the journal of the session has before an event, 0 being its end, as
// conversation.CallsBefore does. A session that is not on the disk has none. It may run on any goroutine.
func (r *repl) recordedCalls(ctx context.Context, before uint64) iter.Seq2[[]view.Call, error] {
	return func(yield func([]view.Call, error) bool) {
		own := r.own.Load()
		if own == nil || own.ID == "" {
			return
		}
		reader, err := r.app.Catalog.At(own.Dir).Journals().Reader(own.ID, journal.Position{})
		switch {
		case errors.Is(err, journal.ErrNotFound):
			return
		case err != nil:
			yield(nil, err)
			return
		}
		defer reader.Close()
		end := journal.Position{}
		if before > 0 {
			end, err = reader.Find(before)
		} else {
			end, _, err = conversation.End(reader, end)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for calls, err := range conversation.CallsBefore(ctx, reader, end, nil) {
			shown := make([]view.Call, len(calls))
			for i, c := range calls {
				shown[i] = view.Call{Call: c}
			}
			if !yield(shown, err) {
				return
			}
		}
	}
}
