package journaltest

import (
	"context"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Archive archives a journal that has no writer.
func Archive(ctx context.Context, dir *journal.Dir, id string) error {
	log, err := dir.Open(ctx, id)
	if err != nil {
		return err
	}
	return log.Archive(ctx)
}
