package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/lines"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

var asideName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.aside-[0-9]+$`) })

// isAside reports whether a name is the path of a file that was set aside from a journal.
func isAside(name string) bool {
	if !asideName().MatchString(name) {
		return false
	}
	_, err := os.Lstat(name)
	return err == nil
}

// asideLine is a line that may be an event of a journal. Its checksum is not checked: the line before it may be
// missing.
type asideLine struct {
	Seq    uint64          `json:"seq"`
	Synced uint64          `json:"synced"`
	Time   time.Time       `json:"time"`
	Type   string          `json:"type"`
	Data   json.RawMessage `json:"data"`
	Sum    journal.Sum     `json:"sum"`
}

// printAside prints the last N events in a file that was set aside from a journal, and how many bytes are no events.
func (cmd *Tail) printAside(ctx context.Context, a *app.App) error {
	if cmd.Follow {
		return app.UsageError("%s does not grow: leave out -f.", tty.SafeLine(cmd.ID))
	}
	f, err := regularfile.Open(cmd.ID)
	if err != nil {
		return err
	}
	defer f.Close()
	last, other, err := lastAside(ctx, f, cmd.N)
	if err != nil {
		return err
	}
	for _, e := range last {
		cmd.printEvent(a, "", e)
	}
	if other > 0 {
		a.Notice(notEventsText(cmd.ID, other))
	}
	return nil
}

// lastAside returns the last n events of a stream, and the number of bytes that are no events.
func lastAside(ctx context.Context, r io.Reader, n int) (last []journal.Event, other int64, err error) {
	in := lines.NewReader(r, journal.DefaultMaxLine)
	for ctx.Err() == nil {
		line, err := in.Next()
		switch {
		case errors.Is(err, lines.ErrTooLong):
			skipped, err := in.Skip(nil)
			other += skipped
			if err != nil && err != io.EOF {
				return last, other, err
			}
			continue
		case err == io.EOF:
			return last, other + int64(len(in.Rest())), nil
		case err != nil:
			return last, other, err
		}
		var e asideLine
		if json.Unmarshal(line, &e) != nil || e.Seq == 0 || e.Type == "" || len(e.Data) == 0 || e.Data[0] != '{' {
			other += int64(len(line)) + 1
			continue
		}
		if last = append(last, journal.Event(e)); len(last) > n {
			last = last[1:]
		}
	}
	return last, other, ctx.Err()
}

// notEventsText is for a file that was set aside.
func notEventsText(path string, bytes int64) string {
	return fmt.Sprintf("%s: %s of it are not events.", tty.SafeLine(path), app.Count(int(bytes), "byte"))
}
