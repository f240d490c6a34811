package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal/lines"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Repaired is the result of Repair.
type Repaired struct {
	Kept    uint64 // events that were kept; the events that record the repair are not counted
	Dropped []Torn // the invalid parts, in order; without bytes if only numbers were wrong; empty: the journal is valid
	Aside   string // name of the file that holds the previous journal
	Torn    Torn   // of a valid journal: what the next Append sets aside
}

// Repair makes a corrupt journal readable and writable. It keeps every line that
// is valid after the previous line, renumbers the lines where necessary, and
// replaces each invalid part by a TypeRecovered event. What another program has put
// before, between or after lines of which none is missing, such as the CR of CR LF, is
// one part, which an event at the end records: the lines keep their numbers. The whole
// previous journal is kept aside.
//
// It also sets aside an event for which valid, unless it is nil, returns an error, which
// becomes the reason.
//
// It does not change a valid journal. With dryRun it changes nothing and returns the
// result that it would have. A torn tail is no corruption: the next Append sets it
// aside. Errors: ErrNotFound; a *LockedError; errors.ErrUnsupported for an archive,
// which an Append unarchives; that of ctx, or a *CorruptError with TooLong if a valid
// line exceeds the limit, both before anything was changed.
func (d *Dir) Repair(
	ctx context.Context, id string, valid func(Event) error, dryRun bool,
) (Repaired, error) {
	f, err := d.Files(id)
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
	held, err := f.acquireLock(ctx, d.fs, d.now())
	if err != nil {
		return Repaired{}, err
	}
	defer held.Close()
	return d.repair(ctx, f, held, valid, dryRun)
}

func (d *Dir) repair(
	ctx context.Context, f Files, held *lock, valid func(Event) error, dryRun bool,
) (Repaired, error) {
	old, err := d.fs.OpenFile(f.Live(), os.O_RDONLY|vfs.NoLink, 0)
	if err != nil {
		return Repaired{}, err
	}
	defer old.Close()
	info, err := old.Stat()
	if err != nil {
		return Repaired{}, err
	}
	src := fileSource(f.Live(), old, info.Size()).withContext(ctx)
	var corrupt *CorruptError
	torn, rejected, err := src.scanEvents(valid, d.maxLine)
	if err == nil && !rejected && !dryRun {
		// It may be valid because an earlier Repair could not sync its directory.
		return Repaired{Torn: torn}, d.fs.SyncDir(f.Dir)
	}
	if !errors.As(err, &corrupt) && (err != nil || !rejected) {
		return Repaired{Torn: torn}, err // valid, or unreadable
	}
	rehearsal := &repairer{dir: d, old: src, valid: valid}
	if err := rehearsal.run(io.Discard); err != nil || dryRun {
		return rehearsal.result(), err
	}
	aside, err := f.copyAside(d.fs, io.NewSectionReader(old, 0, info.Size()))
	if err != nil {
		return Repaired{}, fmt.Errorf("keep the corrupt journal aside: %w", err)
	}
	// Crash here leaves the corrupt journal and a copy of it.
	r := &repairer{dir: d, aside: aside, old: src, valid: valid}
	repaired, err := f.replace(held, old, func(file vfs.File) error {
		w := bufio.NewWriter(file)
		if err := r.run(w); err != nil {
			return err
		}
		return w.Flush()
	})
	if err != nil {
		return r.result(), err
	}
	return r.result(), errors.Join(repaired.Close(), d.fs.SyncDir(f.Dir))
}

// scanEvents checks every line, and reports whether valid rejects the event of one.
func (s source) scanEvents(valid func(Event) error, maxLine int) (torn Torn, rejected bool, err error) {
	t, err := s.scanTailWith(func(sc *scanner) error {
		e, err := sc.next()
		rejected = rejected || err == nil && valid != nil && valid(e) != nil
		return err
	}, Position{}, maxLine)
	return t.torn, rejected, err
}

// repairer writes a new journal from the valid lines of the old one.
type repairer struct {
	dir   *Dir
	aside string
	old   source
	valid func(Event) error // may be nil

	out     bytes.Buffer
	at      Position // in the new journal
	offset  int64    // in the old one
	prev    Sum      // in the trailer of the previous line of the old one
	line    int64    // number of the current line of the old one
	last    Position // of the last line that was kept, in the old one; without an offset
	invalid Torn     // the current invalid part; no Reason: none
	foreign foreignParts
	kept    uint64
	dropped []Torn
}

func (r *repairer) result() Repaired {
	return Repaired{Kept: r.kept, Dropped: r.dropped, Aside: r.aside}
}

func (r *repairer) run(w io.Writer) error {
	src, err := r.old.open(0)
	if err != nil {
		return err
	}
	defer src.Close()
	l := lines.NewReader(src, r.dir.maxLine)
	for err == nil {
		err = r.next(l)
		if flushErr := r.flush(w); flushErr != nil {
			return flushErr
		}
	}
	if err != io.EOF {
		return err
	}
	if n := int64(len(l.Rest())); n > 0 {
		r.drop(n, Event{}, errIncomplete)
	}
	r.endInvalid()
	r.endForeign()
	if len(r.dropped) > 0 {
		r.seal()
	}
	return r.flush(w)
}

// seal ends the new journal. Its mark is true when a reader can see it: the file is
// synced before it gets the journal's name.
func (r *repairer) seal() {
	record := r.dir.sealedRecord()
	r.append(Event{Synced: r.at.Seq, Time: record.Time, Type: record.Type, Data: record.Data})
}

// next handles one line of the old journal.
func (r *repairer) next(l *lines.Reader) error {
	line, err := l.Next()
	r.line++
	if err == lines.ErrTooLong {
		return r.skip(l)
	}
	if err != nil {
		return err
	}
	return r.keep(line)
}

// skip drops a line over the limit. If the line is valid, the repair fails: the
// limit has to be raised first.
func (r *repairer) skip(l *lines.Reader) error {
	long, err := skipLine(l, r.prev)
	if err != nil && err != io.EOF {
		return err
	}
	if err == nil && long.valid() {
		return r.tooLong(long.bytes)
	}
	e, _ := long.event()
	if sum, ok := long.sum(); ok {
		r.prev = sum
	}
	r.drop(long.bytes, e, errLongLine)
	return err
}

func (r *repairer) tooLong(bytes int64) error {
	limit := &limitError{bytes, r.dir.maxLine}
	return &CorruptError{Path: r.old.path, Line: r.line, Offset: r.offset, Reason: limit.Error(), TooLong: bytes}
}

func (r *repairer) flush(w io.Writer) error {
	_, err := w.Write(r.out.Bytes())
	r.out.Reset()
	return err
}

// keep keeps every line in the text before a newline that is valid after the previous line, whether that one was kept
// or not, and drops the bytes before, between and after them.
func (r *repairer) keep(text []byte) error {
	kept := 0
	for len(text) > 0 {
		line, ok := r.find(text)
		if !ok {
			break
		}
		if line.start > 0 {
			r.dropText(text[:line.start], errForeign)
		} else if kept > 0 {
			r.foreign.add(Torn{Offset: r.offset}, false) // a newline is missing
		}
		if err := r.keepLine(line, text[line.start:line.end]); err != nil {
			return err
		}
		text = text[line.end:]
		kept++
	}
	switch {
	case kept == 0:
		_, err := decode(text, r.prev)
		r.dropText(append(text, '\n'), err)
		return nil
	case string(text) == "\r":
		r.foreign.add(Torn{Offset: r.offset, Bytes: 1}, true)
		r.offset++
	case len(text) > 0:
		r.dropText(text, errForeign)
	case r.invalid.Reason != "": // the last line was rejected
		r.drop(1, Event{}, nil)
		return nil
	}
	r.offset++ // the newline
	return nil
}

// foundLine is a line that is valid after another one, in a text.
type foundLine struct {
	event      Event
	start, end int
	continuous bool // it follows the last line that was kept
}

// find finds the first line in a text that is valid after the last line that was kept, after the previous line, or
// after another one in the text.
func (r *repairer) find(text []byte) (line foundLine, ok bool) {
	if line, ok = findAfter(text, r.last.Sum); ok {
		line.continuous = line.event.Seq == r.last.Seq+1
		return line, true
	}
	if r.prev != r.last.Sum {
		if line, ok = findAfter(text, r.prev); ok {
			return line, true
		}
	}
	for from, tries := 0, 0; tries < maxJoinTries; tries++ {
		key := bytes.Index(text[from:], []byte(sumKey))
		if key < 0 || from+key+trailerLen >= len(text) {
			return foundLine{}, false
		}
		end := from + key + trailerLen
		if _, sum, err := decodeSum(text[:end]); err == nil {
			if line, ok = findAfter(text[end:], sum); ok {
				line.start, line.end = line.start+end, line.end+end
				return line, true
			}
		}
		from += key + 1
	}
	return foundLine{}, false
}

func findAfter(text []byte, prev Sum) (line foundLine, ok bool) {
	e, err := decode(text, prev)
	if err == nil {
		return foundLine{event: e, end: len(text)}, true
	}
	start, end, ok := findLine(text, prev)
	if !ok {
		return foundLine{}, false
	}
	e, err = decode(text[start:end], prev)
	return foundLine{event: e, start: start, end: end}, err == nil
}

// keepLine keeps a line, unless valid rejects its event. The bytes of another program between lines that follow each
// other are no gap: what follows them keeps its numbers and sums.
func (r *repairer) keepLine(found foundLine, line []byte) error {
	e, length := found.event, int64(len(line))
	r.prev = e.Sum
	if r.valid != nil {
		if err := r.valid(e); err != nil {
			r.drop(length, e, err)
			r.last.Seq = e.Seq
			return nil
		}
	}
	switch {
	case r.invalid.Reason != "" && found.continuous:
		r.foreign.add(r.invalid, false)
		r.invalid = Torn{}
	case r.invalid.Reason == "" && e.Seq != r.last.Seq+1:
		r.invalid = Torn{
			Offset: r.offset, FirstSeq: e.Seq, LastSeq: e.Seq,
			Reason: fmt.Sprintf("its seq is %d, not %d", e.Seq, r.last.Seq+1),
		}
	}
	r.endInvalid()
	r.last = Position{Seq: e.Seq, Sum: e.Sum}
	r.kept++
	r.offset += length
	if e.Synced < e.Seq && isNext(line, r.at) {
		// Lines before the corruption stay unchanged, so that a follower which has
		// read them can continue.
		r.out.Write(line)
		r.out.WriteByte('\n')
		r.at = r.at.after(e, len(line)+1)
	} else if n := r.append(Event{Time: e.Time, Type: e.Type, Data: e.Data}); n > r.dir.maxLine {
		return r.tooLong(int64(n))
	}
	return nil
}

// dropText drops a part of the old journal. If it ends in a checksum, the next line may follow that.
func (r *repairer) dropText(text []byte, reason error) {
	line := bytes.TrimSuffix(text, []byte("\n"))
	if _, sum, err := decodeSum(line); err == nil {
		r.prev = sum
	}
	unverified, _ := decodeUnverified(line)
	r.drop(int64(len(text)), unverified, reason)
}

// drop adds bytes to the current invalid part.
func (r *repairer) drop(length int64, e Event, reason error) {
	length = min(length, r.old.size-r.offset) // without the newline that the last line may lack
	if r.invalid.Reason == "" {
		r.invalid = Torn{Offset: r.offset, FirstSeq: e.Seq, Reason: reason.Error()}
	}
	r.invalid.Bytes += length
	r.invalid.LastSeq = max(r.invalid.LastSeq, e.Seq)
	r.offset += length
}

// endInvalid ends the current invalid part, if any, with an event that records it.
func (r *repairer) endInvalid() {
	if r.invalid.Reason == "" {
		return
	}
	r.dropped = append(r.dropped, r.invalid)
	r.record(r.invalid)
	r.invalid = Torn{}
}

// endForeign records what another program has put between the lines, at the end: the lines keep their numbers.
func (r *repairer) endForeign() {
	if r.foreign.parts == 0 {
		return
	}
	t := r.foreign.torn()
	at, _ := slices.BinarySearchFunc(r.dropped, t.Offset, func(d Torn, offset int64) int {
		return cmp.Compare(d.Offset, offset)
	})
	r.dropped = slices.Insert(r.dropped, at, t)
	r.record(t)
}

// record writes the event that records an invalid part.
func (r *repairer) record(t Torn) {
	record := r.dir.recoveredRecord(Recovered{
		Reason: repairedReason + t.Reason, Aside: r.aside, Offset: t.Offset, Bytes: t.Bytes,
		FirstSeq: t.FirstSeq, LastSeq: t.LastSeq,
	})
	r.append(Event{Time: record.Time, Type: record.Type, Data: record.Data})
}

// append writes an event as the next line of the new journal, and returns the length of
// the line. With another number, and in the layout of a writer, it can be longer than it
// was.
func (r *repairer) append(e Event) (length int) {
	e.Seq = r.at.Seq + 1
	line := encode(r.out.AvailableBuffer(), &e, r.at.Sum)
	r.out.Write(line)
	r.at = r.at.after(e, len(line))
	return len(line)
}
