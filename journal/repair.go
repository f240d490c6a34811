package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// Repaired is what Repair did, or would do.
type Repaired struct {
	Kept    uint64 // events that are in the journal afterwards, those that tell of the repair not counted
	Dropped []Torn // the runs of bytes that do not check, in order, without any bytes where only numbers were wrong; none: the journal is sound
	Aside   string // the name of the file that has the whole journal as it was
}

// Repair makes a damaged journal one that can be read and appended to again. It
// keeps every line that checks against the line before it, gives the lines new
// numbers and sums where it has to, and puts a TypeRecovered event in the place
// of what does not check. The journal as it was is kept aside, all of it.
//
// A sound journal is left alone; so is any with dryRun, which only tells. A
// torn tail alone is no damage: the next Append sets it aside. Errors:
// ErrNotFound; a *LockedError; a *CorruptError that is TooLong when a good line
// is longer than the limit, before anything was done; an archived journal has
// to be brought back by an Append first.
func (d *Dir) Repair(id string, dryRun bool) (Repaired, error) {
	f, err := d.files(id)
	if err != nil {
		return Repaired{}, err
	}
	info, err := f.stat(d.fs)
	if err != nil {
		return Repaired{}, err
	}
	if info.Archived {
		return Repaired{}, fmt.Errorf("%s: an archive cannot be repaired: %w", info.Path(), errors.ErrUnsupported)
	}
	unlock, err := f.lock(d.fs, d.now())
	if err != nil {
		return Repaired{}, err
	}
	defer unlock()
	return d.repair(f, dryRun)
}

func (d *Dir) repair(f files, dryRun bool) (Repaired, error) {
	old, err := d.fs.OpenFile(f.path(), os.O_RDONLY, 0)
	if err != nil {
		return Repaired{}, err
	}
	defer old.Close()
	info, err := old.Stat()
	if err != nil {
		return Repaired{}, err
	}
	src := fileSource(f.path(), old, info.Size())
	var corrupt *CorruptError
	_, err = src.scanEnding(Position{}, d.maxLine)
	if err == nil && !dryRun {
		// It may be sound because an earlier Repair could not sync it in its place.
		return Repaired{}, d.fs.SyncDir(f.dir)
	}
	if !errors.As(err, &corrupt) {
		return Repaired{}, err // sound, or not to be read at all
	}
	aside := ""
	rehearsal := newMend(d, aside, src)
	if err := rehearsal.run(io.Discard); err != nil || dryRun {
		return rehearsal.done(), err
	}
	if aside, err = f.copyAside(d.fs, old, Torn{Bytes: info.Size()}); err != nil {
		return Repaired{}, fmt.Errorf("keep the damaged journal: %w", err)
	}
	// Crash here leaves the damaged journal and a copy of it.
	m := newMend(d, aside, src)
	err = d.writeInPlace(f, m.run)
	return m.done(), err
}

// writeInPlace puts a new file in the place of a journal, durably.
func (d *Dir) writeInPlace(f files, write func(io.Writer) error) error {
	tmp := f.path() + tmpSuffix
	out, err := d.fs.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	err = write(out)
	if err == nil {
		err = out.Sync()
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		d.fs.Remove(tmp)
		return err
	}
	// Crash here leaves the damaged journal and a *.tmp that nobody reads.
	if err := d.fs.Rename(tmp, f.path()); err != nil {
		return err
	}
	// Crash here leaves the damaged journal or the repaired one.
	return d.fs.SyncDir(f.dir)
}

// mend writes the good lines of a journal anew.
type mend struct {
	dir   *Dir
	aside string
	old   source

	out     bytes.Buffer
	at      Position // in the new journal
	offset  int64    // in the old one
	before  Sum      // that the line before has, or says it has, in the old one
	line    int64    // of the old one, that was read last
	seq     uint64   // of the line that was kept last, in the old one
	bad     Torn     // the run that does not check and is not over yet; no Reason: there is none
	kept    uint64
	dropped []Torn
}

func newMend(d *Dir, aside string, old source) *mend {
	return &mend{dir: d, aside: aside, old: old}
}

func (m *mend) done() Repaired {
	return Repaired{Kept: m.kept, Dropped: m.dropped, Aside: m.aside}
}

func (m *mend) run(w io.Writer) error {
	r, err := m.old.open(0)
	if err != nil {
		return err
	}
	defer r.Close()
	l := lines.NewReader(r, m.dir.maxLine)
	for err == nil {
		err = m.next(l)
		if flushErr := m.flush(w); flushErr != nil {
			return flushErr
		}
	}
	if err != io.EOF {
		return err
	}
	if half := int64(len(l.Rest())); half > 0 {
		m.drop(half, Event{}, errors.New("the last line has no end"))
	}
	if err := m.close(); err != nil {
		return err
	}
	return m.flush(w)
}

// next deals with one line of the old journal.
func (m *mend) next(l *lines.Reader) error {
	line, err := l.Next()
	m.line++
	if err == lines.ErrTooLong {
		return m.skip(l)
	}
	if err != nil {
		return err
	}
	return m.take(line)
}

// skip drops a line that is too long, unless it is a good one: then somebody
// has to allow as many bytes first.
func (m *mend) skip(l *lines.Reader) error {
	long, err := skipLine(l, m.before)
	if err != nil && err != io.EOF {
		return err
	}
	if err == nil && long.checks() {
		return m.tooLong(long.bytes)
	}
	said, _ := long.said()
	if sum, ok := long.sum(); ok {
		m.before = sum
	}
	m.drop(long.bytes, said, errLongLine)
	return err
}

func (m *mend) tooLong(bytes int64) error {
	limit := &limitError{bytes, m.dir.maxLine}
	return &CorruptError{Path: m.old.path, Line: m.line, Offset: m.offset, Reason: limit.Error(), TooLong: bytes}
}

func (m *mend) flush(w io.Writer) error {
	_, err := w.Write(m.out.Bytes())
	m.out.Reset()
	return err
}

// take keeps a line that checks against the one before it, whether that one
// was kept or not.
func (m *mend) take(line []byte) error {
	e, err := decode(line, m.before)
	length := int64(len(line)) + 1
	if _, sum, sumErr := decodeSum(line); sumErr == nil {
		m.before = sum
	}
	if err != nil {
		said, _ := readLoosely(line)
		m.drop(length, said, err)
		return nil
	}
	if m.bad.Reason == "" && e.Seq != m.seq+1 {
		m.bad = Torn{Offset: m.offset, FirstSeq: e.Seq, LastSeq: e.Seq, Reason: fmt.Sprintf("its seq is %d, not %d", e.Seq, m.seq+1)}
	}
	if err := m.close(); err != nil {
		return err
	}
	m.seq = e.Seq
	m.kept++
	if e.Synced < e.Seq && checks(line, m.at) {
		// In front of all damage nothing changes: a follower that has read so
		// far goes on.
		m.out.Write(line)
		m.out.WriteByte('\n')
		m.at = m.at.after(e, int(length))
	} else {
		err = m.append(Event{Time: e.Time, Type: e.Type, Data: e.Data})
	}
	m.offset += length
	return err
}

// drop adds bytes to the run that does not check.
func (m *mend) drop(length int64, said Event, reason error) {
	if m.bad.Reason == "" {
		m.bad = Torn{Offset: m.offset, FirstSeq: said.Seq, Reason: reason.Error()}
	}
	m.bad.Bytes += length
	m.bad.LastSeq = max(m.bad.LastSeq, said.Seq)
	m.offset += length
}

// close ends the run that does not check with an event that tells of it.
func (m *mend) close() error {
	if m.bad.Reason == "" {
		return nil
	}
	m.dropped = append(m.dropped, m.bad)
	r := recoveredRecord(Recovered{
		Reason: "repaired: " + m.bad.Reason, Aside: m.aside, Offset: m.bad.Offset, Bytes: m.bad.Bytes,
		FirstSeq: m.bad.FirstSeq, LastSeq: m.bad.LastSeq,
	}, m.dir)
	m.bad = Torn{}
	return m.append(Event{Time: r.Time, Type: r.Type, Data: r.Data})
}

// append writes an event as the next line of the new journal. In the layout of
// a writer, and with another number, a line can be longer than it was.
func (m *mend) append(e Event) error {
	e.Seq = m.at.Seq + 1
	before := m.out.Len()
	line := encode(m.out.AvailableBuffer(), &e, m.at.Sum)
	if len(line) > m.dir.maxLine {
		return m.tooLong(int64(len(line)))
	}
	m.out.Write(line)
	m.at = m.at.after(e, m.out.Len()-before)
	return nil
}
