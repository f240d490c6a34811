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
// exists is not written again.
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
	if complete, err := f.exists(ctx, dir, last); err != nil || complete {
		return f.id, err
	}
	return f.id, f.write(ctx, dir, last)
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

// exists reports whether the fork was written whole. What a crash left of it is moved to the trash.
func (f fork) exists(ctx context.Context, dir *catalog.Dir, last uint64) (bool, error) {
	want, got := 0, 0
	for e, err := range dir.Events(ctx, f.id) {
		if errors.Is(err, journal.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if !isAboutFile(e) {
			got++
		}
	}
	if got == 0 {
		return false, nil
	}
	for e, err := range dir.Events(ctx, f.parent.SessionID) {
		if err != nil {
			return false, err
		}
		if !isAboutFile(e) && e.Seq <= last {
			want++
		}
	}
	if got >= want {
		return true, nil
	}
	return false, dir.Delete(ctx, f.id)
}
