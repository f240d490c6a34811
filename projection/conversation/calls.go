package conversation

import (
	"context"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// CallsBefore yields the tool calls before a position that have a result, the newest ones first: those of a chunk, in
// the order of the journal, and then those of the chunks before it. members names the members. An error of reading ends
// the sequence, after what could be read.
func CallsBefore(
	ctx context.Context, r *journal.Reader, end journal.Position, members []projection.Speaker,
) iter.Seq2[[]Call, error] {
	return func(yield func([]Call, error) bool) {
		for {
			c, err := Before(ctx, r, end, Enough)
			var calls []Call
			for _, i := range c.Items(members) {
				for _, step := range i.Steps {
					if step.Call != nil && step.Call.Result != nil {
						calls = append(calls, *step.Call)
					}
				}
			}
			if !yield(calls, err) || err != nil || c.From.Seq == 0 {
				return
			}
			end = c.From
		}
	}
}
