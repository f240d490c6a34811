package replica

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// Replica is a session of a directory, here and on a hub.
type Replica struct {
	Hub *hub.Hub
	Dir *catalog.Dir
	ID  string
}

// Session returns the name of the session on the hub.
func (r Replica) Session() hub.Session {
	return hub.Session{Team: filepath.Base(r.Dir.Journals().Path()), ID: r.ID}
}

// Mark returns the mark of the session.
func (r Replica) Mark() hub.Mark { return hub.ReadMark(vfs.OS, r.Dir.Journals(), r.ID) }

// Keep stores the mark of the session. One that cannot be written only makes the next call slower.
func (r Replica) Keep(m hub.Mark) { r.writeMark(m) }

func (r Replica) writeMark(m hub.Mark) error {
	return hub.WriteMark(vfs.OS, r.Dir.Journals(), r.ID, m)
}

// reader opens the journal, nil if there is none.
func (r Replica) reader() (*journal.Reader, error) {
	reader, err := r.Dir.Journals().Reader(r.ID, journal.Position{})
	if errors.Is(err, journal.ErrNotFound) {
		return nil, nil
	}
	return reader, err
}

// Compare compares the session here and on the hub, from its mark on. With whole it compares every line.
func (r Replica) Compare(ctx context.Context, whole bool) (hub.Comparison, error) {
	local, err := r.reader()
	if err != nil {
		return hub.Comparison{}, err
	}
	mark := r.Mark()
	if whole {
		mark = mark.Start()
	}
	if local == nil {
		return r.Hub.Compare(ctx, r.Session(), nil, mark)
	}
	defer local.Close()
	return r.Hub.Compare(ctx, r.Session(), local, mark)
}

// Fetch appends the events of the hub that are not here, as hub.Fetch does: a session that diverged or is
// damaged stays as it is.
func (r Replica) Fetch(ctx context.Context) (hub.Fetched, error) {
	f, err := r.Hub.Fetch(ctx, r.Session(), r.Dir.Journals(), r.Mark())
	if err == nil && (f.Hub.Seq > 0 || f.Claim != nil) {
		r.Keep(f.Mark)
	}
	return f, err
}

// Pulled is what Pull did.
type Pulled struct {
	hub.Comparison        // after Pull
	Bytes          int64  // that were appended
	Fork           string // id of the session that has the local events after the common prefix; "": none
	Aside          string // name of the file with the previous journal, if it was replaced
	Healed         bool   // damaged lines were taken from the hub
}

// Pull fetches the events of the hub that are not here. If both diverged, the local session becomes a
// fork; if the local journal is damaged, it is replaced by the history of the hub, followed by
// what was written after it. Errors: a *journal.LockedError if the session is open; a *journal.CorruptError that the
// hub cannot mend; hub.ErrPurged; those of hub.Engine.
func (r Replica) Pull(ctx context.Context) (p Pulled, err error) {
	fetched, err := r.Hub.Fetch(ctx, r.Session(), r.Dir.Journals(), r.Mark())
	if corrupt := (*journal.CorruptError)(nil); errors.As(err, &corrupt) && corrupt.TooLong == 0 {
		return r.heal(ctx, err)
	}
	p.Comparison, p.Bytes = fetched.Comparison, fetched.Bytes
	if err != nil {
		return p, err
	}
	if fetched.Diverged() && fetched.Common.Seq > 0 {
		return r.split(ctx)
	}
	if p.Hub.Seq > 0 || p.Claim != nil {
		r.Keep(p.Mark)
	}
	return p, nil
}

// errNotDiverged ends a split of a session that does not need one anymore.
var errNotDiverged = errors.New("the session has not diverged")

// replace replaces the journal, which is live afterwards, by what write writes. The journal is locked meanwhile.
func (r Replica) replace(ctx context.Context, write func(io.Writer) error) (aside string, err error) {
	aside, err = r.Dir.Journals().Replace(ctx, r.ID, func(w io.Writer) error {
		err := write(w)
		if err == nil {
			// Crash here leaves the journal as it was, and the next list adds its row.
			r.Dir.Forget(r.ID)
		}
		return err
	})
	if err == nil {
		r.Dir.Forget(r.ID) // a list may have added the row again
	}
	return aside, err
}

// split makes the local session a fork, and gives the history of the hub its id. Both are done under the journal's
// lock: another process may have appended events or split the session since it was compared.
func (r Replica) split(ctx context.Context) (Pulled, error) {
	fork := ""
	aside, err := r.replace(ctx, func(w io.Writer) error {
		c, err := r.Compare(ctx, false)
		switch {
		case err != nil:
			return err
		case c.Damage != nil:
			return c.Damage
		case !c.Diverged() || c.Common.Seq == 0:
			return errNotDiverged
		}
		if fork, err = sessioncopy.ForkDiverged(ctx, r.Dir, r.ID, c.Common.Seq); err != nil {
			return err
		}
		// Crash here leaves the fork and the journal as it was.
		_, err = r.Hub.Copy(ctx, r.Session(), w)
		return err
	})
	if err != nil && !errors.Is(err, errNotDiverged) {
		return Pulled{}, err
	}
	p, err := r.compareAndKeep(ctx)
	p.Fork, p.Aside = fork, aside
	return p, err
}

func (r Replica) compareAndKeep(ctx context.Context) (Pulled, error) {
	c, err := r.Compare(ctx, false)
	if err == nil {
		r.Keep(c.Mark)
	}
	return Pulled{Comparison: c}, err
}

// heal replaces a damaged journal by the history of the hub and the local lines that follow it. damage is returned if
// local lines would be lost.
func (r Replica) heal(ctx context.Context, damage error) (Pulled, error) {
	aside, err := r.replace(ctx, func(w io.Writer) error {
		local, err := r.reader()
		if err != nil || local == nil {
			return errors.Join(damage, err)
		}
		defer local.Close()
		info, err := r.Dir.Journals().Stat(r.ID)
		if err != nil {
			return err
		}
		written := &finder{Writer: w, offset: info.Size}
		end, err := r.Hub.Copy(ctx, r.Session(), written)
		switch {
		case err != nil:
			return err
		case written.found.Seq > 0 && local.Holds(written.found):
			return nil // the hub has each line that is here: the last one is the same
		case !local.Holds(end):
			return damage
		}
		return copyAfter(w, local, end)
	})
	if err != nil {
		return Pulled{}, err
	}
	p, err := r.compareAndKeep(ctx)
	p.Aside, p.Healed = aside, err == nil
	return p, err
}

// copyAfter writes the lines of a journal after a position.
func copyAfter(w io.Writer, local *journal.Reader, end journal.Position) error {
	for {
		lines, after, err := local.Lines(end, 0)
		if err != nil || len(lines) == 0 {
			return err
		}
		if _, err := w.Write(lines); err != nil {
			return err
		}
		end = after
	}
}

// finder is a writer of the lines of a journal that finds the position at an offset.
type finder struct {
	io.Writer
	offset int64

	at, found journal.Position // found.Seq 0: no line ends at the offset
}

// Write writes whole lines.
func (f *finder) Write(lines []byte) (int, error) {
	if n := f.offset - f.at.Offset; n > 0 && n <= int64(len(lines)) {
		if to, err := f.at.Verify(lines[:n]); err == nil {
			f.found = to
		}
	}
	to, err := f.at.Verify(lines)
	if err != nil {
		return 0, err
	}
	f.at = to
	return f.Writer.Write(lines)
}

// Push claims the session, ships what the hub lacks, and releases the claim. takeOver ends the claim of another
// machine. Events returns how many were shipped. Errors: those of Hub.Claim; a *journal.LockedError if
// the session is open.
func (r Replica) Push(ctx context.Context, takeOver bool) (events uint64, err error) {
	log, err := r.Dir.Journals().Open(ctx, r.ID)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := log.SyncExisting(); err != nil {
		return 0, err
	}
	local, err := log.Reader(journal.Position{})
	if err != nil {
		return 0, err
	}
	defer local.Close()
	c, err := r.Hub.Compare(ctx, r.Session(), local, r.Mark())
	if err == nil && c.Purged {
		return 0, hub.ErrPurged
	}
	if err == nil && c.Hub == c.Local && !c.Claim.Open() && c.Damage == nil {
		r.Keep(c.Mark)
		return 0, nil
	}
	mark, err := r.markToShip(ctx)
	if err != nil {
		return 0, err
	}
	w, err := r.Hub.Claim(ctx, r.Session(), local, mark, takeOver, r.writeMark)
	if w != nil {
		r.Keep(w.Mark())
	}
	if err != nil {
		return 0, err
	}
	from := w.At()
	withFiles, err := r.Journal(local)
	if err != nil {
		return 0, err
	}
	if session, err := r.Dir.Session(ctx, r.ID); err == nil {
		w.SetRow(rowOf(session))
	}
	err = w.Ship(ctx, withFiles, log.Position())
	if err == nil {
		err = w.Release(ctx, local)
	}
	r.Keep(w.Mark())
	return w.At().Seq - from.Seq, err
}

// Claim claims the session for an open log, whose caller holds the lock. It fetches nothing: a session that is
// behind is a *hub.BehindError.
func (r Replica) Claim(ctx context.Context, takeOver bool) (*hub.Writer, error) {
	local, err := r.reader()
	if err != nil {
		return nil, err
	}
	var lines hub.LineReader
	if local != nil {
		defer local.Close()
		lines = local
	}
	mark, err := r.markToShip(ctx)
	if err != nil {
		return nil, err
	}
	w, err := r.Hub.Claim(ctx, r.Session(), lines, mark, takeOver, r.writeMark)
	if w != nil {
		r.Keep(w.Mark())
	}
	return w, err
}

// Refill restores lines on the hub that it has lost and that are here, and returns how many.
func (r Replica) Refill(ctx context.Context) (lines int, err error) {
	local, err := r.reader()
	if err != nil || local == nil {
		return 0, err
	}
	defer local.Close()
	withFiles, err := r.Journal(local)
	if err != nil {
		return 0, err
	}
	return r.Hub.Refill(ctx, r.Session(), withFiles, r.Mark().Start())
}
