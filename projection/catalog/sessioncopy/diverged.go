package sessioncopy

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// ForkDiverged copies a whole session, of which another machine has a copy that diverged after the event with the
// sequence number common, into a new one that records its parent there. It returns the id of the new
// session: the same one each time, since it is derived from the id, common and the line after it. A fork that
// exists gets the events that it lacks.
func ForkDiverged(ctx context.Context, dir *catalog.Dir, id string, common uint64) (string, error) {
	var first journal.Event // after common
	last := uint64(0)
	for e, err := range dir.Events(ctx, id) {
		if err != nil {
			return "", err
		}
		if last = e.Seq; e.Seq == common+1 {
			first = e
			first.Data = append([]byte(nil), e.Data...)
		}
	}
	if first.Seq == 0 {
		return "", &NoEventError{id, common + 1, last}
	}
	f := fork{id: divergedID(id, common, first), parent: projection.Parent{SessionID: id, Seq: common}}
	copied, err := f.count(ctx, dir)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return f.id, f.write(ctx, dir, last)
	case err != nil:
		return f.id, err
	}
	return f.id, f.extend(ctx, dir, copied)
}

// divergedID returns the id of a fork: its time is that of the first line that differs.
func divergedID(id string, common uint64, first journal.Event) string {
	h := sha256.New()
	h.Write([]byte(id))
	h.Write(binary.BigEndian.AppendUint64(nil, common))
	h.Write(first.Line())
	var fork ulid.ULID
	copy(fork[:], h.Sum(nil))
	fork.SetTime(min(ulid.Timestamp(first.Time), ulid.MaxTime()))
	return fork.String()
}

// count returns how many events of its parent an existing fork has.
func (f fork) count(ctx context.Context, dir *catalog.Dir) (copied int, err error) {
	for e, err := range dir.Events(ctx, f.id) {
		if err != nil {
			return 0, err
		}
		if !isAboutFile(e) {
			copied++
		}
	}
	return copied, nil
}

// extend adds the events of the parent after those that were copied: a crash left a part of the fork, or
// the parent grew after the fork was written and before the parent's journal was replaced.
func (f fork) extend(ctx context.Context, dir *catalog.Dir, copied int) error {
	var w *writer
	for e, err := range dir.Events(ctx, f.parent.SessionID) {
		if err != nil {
			return err
		}
		if isAboutFile(e) {
			continue
		}
		if copied--; copied >= 0 {
			continue
		}
		if w == nil {
			if w, err = f.open(ctx, dir); err != nil {
				return err
			}
			defer w.log.Close()
		}
		if err := f.copy(e, w); err != nil {
			return err
		}
	}
	if w == nil {
		return nil
	}
	return w.finish()
}

// open opens the fork for appending. An empty one, which a crash left, has no session.created yet.
func (f fork) open(ctx context.Context, dir *catalog.Dir) (*writer, error) {
	log, state, err := dir.OpenToAppend(ctx, f.id)
	return &writer{ctx: ctx, dir: dir, log: log, state: state}, err
}
