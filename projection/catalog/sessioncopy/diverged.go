package sessioncopy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"iter"
	"math"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// ForkDiverged copies a whole session, of which another machine has a copy that diverged after the event with the
// sequence number common, into a new one that records its parent there. It returns the id of the new
// session: the same one each time, since it is derived from the id, common and the line after it. A fork that
// exists gets the events that it lacks; if other events follow in it, there is another fork.
func ForkDiverged(ctx context.Context, dir *catalog.Dir, id string, common uint64) (string, error) {
	var first journal.Event // after common
	last, copied := uint64(0), 0
	for e, err := range dir.Events(ctx, id) {
		if err != nil {
			return "", err
		}
		if last = e.Seq; e.Seq == common+1 {
			first = e
			first.Data = append([]byte(nil), e.Data...)
		}
		if !isAboutFile(e) {
			copied++
		}
	}
	if first.Seq == 0 {
		return "", &NoEventError{id, common + 1, last}
	}
	for n := uint64(0); ; n++ {
		f := fork{id: divergedID(id, common, first, n), parent: projection.Parent{SessionID: id, Seq: common}}
		has, continued, err := f.compare(ctx, dir)
		switch {
		case errors.Is(err, journal.ErrNotFound):
			return f.id, f.write(ctx, dir, last)
		case err != nil:
			return f.id, err
		case !continued:
			return f.id, f.extend(ctx, dir, has)
		case has == copied:
			return f.id, nil
		}
	}
}

// divergedID returns the id of the nth fork: its time is that of the first line that differs.
func divergedID(id string, common uint64, first journal.Event, n uint64) string {
	h := sha256.New()
	h.Write([]byte(id))
	h.Write(binary.BigEndian.AppendUint64(nil, common))
	h.Write(first.Line())
	if n > 0 {
		h.Write(binary.BigEndian.AppendUint64(nil, n))
	}
	var fork ulid.ULID
	copy(fork[:], h.Sum(nil))
	fork.SetTime(min(ulid.Timestamp(first.Time), ulid.MaxTime()))
	return fork.String()
}

// compare compares an existing fork with its parent. It returns how many events of the parent the fork has, and
// whether other events follow them.
func (f fork) compare(ctx context.Context, dir *catalog.Dir) (has int, continued bool, err error) {
	next, stop := iter.Pull2(copiedEvents(ctx, dir, f.parent.SessionID))
	defer stop()
	for e, err := range copiedEvents(ctx, dir, f.id) {
		if err != nil {
			return 0, false, err
		}
		parent, err, ok := next()
		switch {
		case err != nil:
			return 0, false, err
		case !ok || !isCopy(e, parent):
			return has, true, nil
		}
		has++
	}
	return has, false, nil
}

// copiedEvents yields the events of a session that a copy of it has, too.
func copiedEvents(ctx context.Context, dir *catalog.Dir, id string) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range dir.Events(ctx, id) {
			if (err != nil || !isAboutFile(e)) && !yield(e, err) {
				return
			}
		}
	}
}

// isCopy reports whether an event is the copy of an event of the parent. A fork has another session.created.
func isCopy(e, parent journal.Event) bool {
	if e.Type != parent.Type || !e.Time.Equal(parent.Time) {
		return false
	}
	p, _ := projection.Decode(e)
	_, created := p.(projection.SessionCreated)
	return created || bytes.Equal(e.Data, parent.Data)
}

// extend adds the events of the parent after those that the fork has, and seals the fork: a crash left a part of it, or
// the parent grew after the fork was written and before the parent's journal was replaced.
func (f fork) extend(ctx context.Context, dir *catalog.Dir, has int) error {
	w, err := f.open(ctx, dir)
	if err != nil {
		return err
	}
	defer w.log.Close()
	if err := w.from(dir, f.parent.SessionID); err != nil {
		return err
	}
	for e, err := range copiedEvents(ctx, dir, f.parent.SessionID) {
		if err != nil {
			return err
		}
		if has--; has >= 0 {
			continue
		}
		if err := f.copy(e, w); err != nil {
			return err
		}
	}
	return w.finish()
}

// open opens the fork for appending. An empty one, which a crash left, has no session.created yet.
func (f fork) open(ctx context.Context, dir *catalog.Dir) (*writer, error) {
	log, state, err := dir.OpenToAppend(ctx, f.id)
	return &writer{ctx: ctx, dir: dir, log: log, state: state}, err
}

// ForkRepaired copies a session of source, the repaired journal of a session of dir that is damaged after the event
// with the sequence number common, into a new one of dir that records its parent there. The id of the new session is
// the same one each time. created is false if it exists.
func ForkRepaired(
	ctx context.Context, dir, source *catalog.Dir, id string, common uint64,
) (fork string, created bool, err error) {
	f, err := repairedFork(ctx, source, id, max(1, common))
	if err != nil {
		return "", false, err
	}
	if exists, err := hasEvents(ctx, dir, f.id); exists || err != nil {
		return f.id, false, err
	}
	return f.id, true, f.writeFrom(ctx, dir, source, math.MaxUint64)
}

// repairedFork returns the fork of a repaired session: its id is derived from that of the session and its events.
func repairedFork(ctx context.Context, source *catalog.Dir, id string, common uint64) (f fork, err error) {
	h := sha256.New()
	h.Write([]byte(id))
	last := journal.Event{}
	for e, err := range source.Events(ctx, id) {
		if err != nil {
			return f, err
		}
		if !isAboutFile(e) {
			h.Write([]byte(e.Type))
			h.Write(e.Data)
			last.Time = e.Time
		}
	}
	var derived ulid.ULID
	copy(derived[:], h.Sum(nil))
	derived.SetTime(min(ulid.Timestamp(last.Time), ulid.MaxTime()))
	return fork{id: derived.String(), parent: projection.Parent{SessionID: id, Seq: common}}, nil
}
