package sessioncopy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// The context is done when the copy writes its first batch.
func TestCancelledCopyLeavesNoSession(t *testing.T) {
	long := strings.Repeat("word ", 250_000)
	for name, copySession := range map[string]func(context.Context, *catalog.Dir) error{
		"Fork": func(ctx context.Context, dir *catalog.Dir) error {
			_, err := sessioncopy.Fork(ctx, dir, id(2), 0)
			return err
		},
		"Merge": func(ctx context.Context, dir *catalog.Dir) error {
			_, err := sessioncopy.Merge(ctx, dir, id(2), id(3))
			return err
		},
		"Import": func(ctx context.Context, dir *catalog.Dir) error {
			_, err := sessioncopy.Import(ctx, dir, save(t, long, long), keepSecrets)
			return err
		},
		"ImportEvents": func(ctx context.Context, dir *catalog.Dir) error {
			events := eventsOf(t, conversation(id(1), long, long)...)
			_, _, err := sessioncopy.ImportEvents(ctx, dir, id(1), fromBundle, events)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			disk := journaltest.New(vfs.OS)
			c, dir := newTeam(t, journal.Options{FS: disk})
			put(t, dir, id(2), conversation(id(2), long, long)...)
			put(t, dir, id(3), conversation(id(3), long, long)...)
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			once(disk, cancel)
			if err := copySession(ctx, dir); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if sessions := list(t, c); len(sessions) != 2 {
				t.Errorf("%d sessions are listed", len(sessions))
			}
		})
	}
}
