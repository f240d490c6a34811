package hub

import (
	"cmp"
	"context"
	"errors"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
)

// Fetched is what Fetch did.
type Fetched struct {
	Comparison       // after Fetch
	Bytes      int64 // that were appended
}

// syncEvery is how many bytes of lines Fetch appends between two syncs: a Log keeps what is not synced in memory, and
// uses a small buffer again.
const syncEvery = 2 << 20

// Fetch appends the lines of the hub that a journal of dir lacks, after verifying them, and syncs the journal. The
// files of the session that were stored since the mark are kept before that.
// It holds the journal's lock meanwhile. If the journal does not exist, Fetch creates it; a crash
// leaves a beginning of it, which the next Fetch continues.
//
// If the journal diverged, or has more lines than the hub, it stays unchanged. Errors: a *journal.LockedError; a
// *journal.CorruptError of the local journal; ErrPurged; a *SealedError or a *NewerError, after which the journal has
// got the other lines; those of Engine.
func (h *Hub) Fetch(ctx context.Context, s Session, dir *journal.Dir, from Mark) (Fetched, error) {
	f, err := h.fetch(ctx, s, dir, from)
	if errors.Is(err, errRestarted) || err == nil && f.Damage != nil && from.Revision > 0 {
		bytes := f.Bytes
		f, err = h.fetch(ctx, s, dir, from.Start())
		f.Bytes += bytes
	}
	return f, err
}

func (h *Hub) fetch(ctx context.Context, s Session, dir *journal.Dir, from Mark) (f Fetched, err error) {
	log, local, err := openForFetch(ctx, dir, s.ID)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	files, err := attachment.Of(dir, s.ID)
	if err != nil {
		return f, err
	}
	file := func(data []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, err := files.Write(data)
		return err
	}
	f.Comparison, _, err = h.compare(ctx, s, local, from, fetching{file: file, missing: func(lines []byte) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.Bytes += int64(len(lines))
		err := log.AppendLines(lines)
		if tooLong := (*journal.TooLongError)(nil); errors.As(err, &tooLong) {
			return &LineLimitError{int64(tooLong.Bytes), tooLong.Limit}
		}
		if err != nil || log.Position().Offset-log.Synced().Offset < syncEvery {
			return err
		}
		return log.Sync()
	}})
	if err == nil && f.Purged {
		err = ErrPurged
	}
	err = cmp.Or(err, f.unread)
	if err != nil || f.Bytes == 0 {
		return f, err
	}
	f.Local = log.Position()
	if f.Common.Seq < f.Local.Seq {
		f.Common = f.Local
	}
	return f, log.Sync()
}

// openForFetch opens or creates a journal.
func openForFetch(ctx context.Context, dir *journal.Dir, id string) (*journal.Log, LineReader, error) {
	log, err := dir.Open(ctx, id)
	if errors.Is(err, journal.ErrNotFound) {
		log, err := dir.Create(id)
		return log, noLines{}, err
	}
	if err != nil {
		return nil, nil, err
	}
	local, err := log.Reader(journal.Position{})
	if err != nil {
		return nil, nil, errors.Join(err, log.Close())
	}
	return log, local, nil
}
