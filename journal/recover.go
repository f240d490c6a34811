package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// tailWindow is how much of a journal's end is checked before it is written
// to, in bytes.
const tailWindow = 8 << 20

// Torn is what a crash left behind the last good line: half a line, lost
// pages, lines that nobody was promised.
type Torn struct {
	Offset   int64 // where it starts, in bytes
	Bytes    int64 // its length; 0: there is none
	FirstSeq uint64
	LastSeq  uint64 // the numbers of the whole lines in it; 0: none could be read
	Reason   string
}

// ending is how a journal ends.
type ending struct {
	at      Position // behind the last line that checks
	claimed uint64   // the highest seq that a checked line calls synced
	torn    Torn
}

// source gives out the bytes of one journal, from any offset, as often as
// asked.
type source struct {
	path string
	size int64 // uncompressed
	open func(offset int64) (io.ReadCloser, error)

	// Of an archive, where opening costs what lies before the offset in its
	// frame. nil: it costs nothing.
	keep  func(from, to int64) error      // makes a part ready to be opened often
	cheap func(from, to int64) (at int64) // the beginning of a frame between two offsets, near the middle; -1: there is none
}

// archived reports whether it is compressed.
func (s source) archived() bool { return s.keep != nil }

// unreadable is what it means that the bytes behind a position cannot be had.
// What was compressed was compared: when the system does not fail to read it,
// it was changed.
func (s source) unreadable(at Position, err error) error {
	if !s.archived() || isOfDisk(err) {
		return err
	}
	return (&badLine{at, err}).corrupt(s.path)
}

func fileSource(path string, f File, size int64) source {
	return source{path: path, size: size, open: func(offset int64) (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(f, offset, size-offset)), nil
	}}
}

// findEnding checks the last lines of a journal: those in the last window, or
// all when that is not enough to be sure. A window has to begin in what one of
// its lines calls synced: else a page that a crash lost could lie before it,
// and behind that nothing may be appended.
func (s source) findEnding(maxLine int) (ending, error) {
	for window := int64(tailWindow); window < s.size; window *= 4 {
		from, err := s.firstIn(s.size-window, maxLine)
		if err != nil {
			continue
		}
		end, err := s.scanEnding(from, maxLine)
		if err != nil {
			break // to name the first damaged line, everything has to be read
		}
		if end.claimed >= from.Seq {
			return end, nil
		}
	}
	return s.scanEnding(Position{}, maxLine)
}

var errNoLine = errors.New("no line to start from")

// firstIn returns the position behind the first whole line at or after an
// offset. That line is believed: the next one's sum says whether rightly.
func (s source) firstIn(offset int64, maxLine int) (Position, error) {
	r, err := s.open(offset)
	if err != nil {
		return Position{}, err
	}
	defer r.Close()
	l := lines.NewReader(r, maxLine)
	half, err := l.Next()
	if err != nil {
		return Position{}, err
	}
	offset += int64(len(half)) + 1
	line, err := l.Next()
	if err != nil {
		return Position{}, err
	}
	e, ok := readLoosely(line)
	if !ok {
		return Position{}, errNoLine
	}
	return Position{Seq: e.Seq - 1, Offset: offset}.after(e, len(line)+1), nil
}

// scanEnding checks every line behind a position.
func (s source) scanEnding(from Position, maxLine int) (ending, error) {
	return s.endBy((*scanner).check, from, maxLine)
}

// endBy goes through every line behind a position, by a method of a scanner.
func (s source) endBy(next func(*scanner) error, from Position, maxLine int) (ending, error) {
	r, err := s.open(from.Offset)
	if err != nil {
		return ending{}, s.unreadable(from, err)
	}
	defer r.Close()
	sc := newScanner(r, from, maxLine)
	for err == nil {
		err = next(sc)
	}
	return s.ended(sc, err, maxLine)
}

// ended says what the error means with which a scanner stopped.
func (s source) ended(sc *scanner, err error, maxLine int) (ending, error) {
	end := ending{at: sc.at, claimed: sc.claimed}
	var bad *badLine
	switch {
	case errors.As(err, &bad):
		end.torn, err = s.classify(bad, sc.claimed, maxLine)
		return end, err
	case err != io.EOF:
		return end, s.unreadable(sc.at, err)
	}
	if half := len(sc.lines.Rest()); half > 0 {
		end.torn = Torn{Offset: sc.at.Offset, Bytes: int64(half), Reason: "the last line has no end"}
	}
	return end, nil
}

// classify tells damage from a torn tail. A line that does not check is damage
// when it had been on the disk: when it or a line behind it says so, or when it
// is a copy of the one before, which had. Otherwise it and all that follows is
// what a crash leaves. A line behind a lost one cannot be checked, but what it
// says of `synced` was true when it was written. Nothing is torn any more when
// the journal went on meanwhile.
func (s source) classify(bad *badLine, claimed uint64, maxLine int) (Torn, error) {
	if limit := (*limitError)(nil); errors.As(bad.reason, &limit) {
		return Torn{}, bad.corrupt(s.path) // a good line, which nobody may set aside
	}
	r, err := s.open(bad.at.Offset)
	if err != nil {
		return Torn{}, s.unreadable(bad.at, err)
	}
	defer r.Close()
	rest := remains{at: bad.at, claimed: claimed, torn: Torn{Offset: bad.at.Offset, Reason: bad.reason.Error()}}
	err = rest.read(lines.NewReader(r, maxLine))
	if err != nil {
		return Torn{}, s.unreadable(bad.at, err)
	}
	switch {
	case rest.wentOn:
		return Torn{}, nil
	case rest.claimed > bad.at.Seq || rest.copied && rest.claimed == bad.at.Seq:
		return Torn{}, bad.corrupt(s.path)
	}
	return rest.torn, nil
}

// remains is a line that does not check, and all that follows it.
type remains struct {
	at      Position // where the line starts
	torn    Torn
	claimed uint64 // the highest seq that any line calls synced
	copied  bool   // the line is a copy of the one before
	wentOn  bool   // the line checks now: a writer has set the torn tail aside
}

func (m *remains) read(l *lines.Reader) error {
	for first := true; ; first = false {
		line, err := l.Next()
		switch {
		case err == lines.ErrTooLong:
			err = m.skip(l)
		case err == nil && first && checks(line, m.at):
			m.wentOn = true
			return nil
		case err == nil:
			m.take(line, first)
		}
		if err == io.EOF {
			m.torn.Bytes += int64(len(l.Rest()))
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (m *remains) take(line []byte, first bool) {
	m.torn.Bytes += int64(len(line)) + 1
	m.claimed = max(m.claimed, claimInside(line))
	if e, ok := readLoosely(line); ok {
		m.note(e)
		m.copied = m.copied || first && e.Seq == m.at.Seq && e.Sum == m.at.Sum
	}
}

func (m *remains) skip(l *lines.Reader) error {
	long, err := skipLine(l, Sum(0)) // what came before is not known, so that it cannot be checked
	m.torn.Bytes += long.bytes
	if e, ok := long.said(); ok && err == nil {
		m.note(e)
	}
	return err
}

// note keeps what a line says of itself and of what was synced.
func (m *remains) note(e Event) {
	if m.torn.FirstSeq == 0 {
		m.torn.FirstSeq = e.Seq
	}
	m.torn.LastSeq = e.Seq
	if e.Synced < e.Seq {
		m.claimed = max(m.claimed, e.Synced)
	}
}

func checks(line []byte, at Position) bool {
	e, err := decode(line, at.Sum)
	return err == nil && e.Seq == at.Seq+1
}

// claimInside is what the second of two lines calls synced that became one
// when the newline between them was changed or lost; 0 when it is not two.
func claimInside(line []byte) uint64 {
	end := len(line) - trailerLen
	for tries := 0; end > 0 && tries < claimTries; tries++ {
		if end = bytes.LastIndex(line[:end], []byte(sumKey)); end < trailerLen {
			return 0
		}
		_, sum, err := decodeSum(line[:min(end+trailerLen, len(line))])
		if err != nil {
			continue
		}
		for newline := range 2 {
			rest := line[min(end+trailerLen+newline, len(line)):]
			if e, err := decode(rest, sum); err == nil && e.Synced < e.Seq {
				return e.Synced
			}
		}
	}
	return 0
}

// claimTries bounds what a line that is full of sums can cost.
const claimTries = 16

// readLoosely reads the numbers of a line whatever its sum, even where the rest
// is not a line's, or nobody's: what it calls synced is true when another byte of
// it was changed.
func readLoosely(line []byte) (Event, bool) {
	_, sum, err := decodeSum(line)
	if err != nil {
		return Event{}, false
	}
	var said struct{ Seq, Synced uint64 }
	if json.Unmarshal(line, &said) != nil {
		return readBeginning(line, sum)
	}
	return Event{Seq: said.Seq, Synced: said.Synced, Sum: sum}, said.Seq > 0
}

// setAside moves a torn tail out of the journal file into a file of its own,
// and returns what to record of it.
func (f files) setAside(fsys FS, log File, torn Torn) (Recovered, error) {
	name, err := f.copyAside(fsys, log, torn)
	if err != nil {
		return Recovered{}, fmt.Errorf("set aside the torn tail: %w", err)
	}
	// Crash here leaves the tail twice: the next writer sets it aside again.
	if err := log.Truncate(torn.Offset); err != nil {
		return Recovered{}, err
	}
	// Crash here leaves a sound journal and a file that no event speaks of.
	return Recovered{
		Reason: torn.Reason, Aside: name, Offset: torn.Offset, Bytes: torn.Bytes,
		FirstSeq: torn.FirstSeq, LastSeq: torn.LastSeq,
	}, nil
}

// copyAside makes the bytes of a torn tail durable under a new name.
func (f files) copyAside(fsys FS, log File, torn Torn) (name string, err error) {
	aside, n, err := f.createAside(fsys)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(aside, io.NewSectionReader(log, torn.Offset, torn.Bytes))
	if err == nil {
		err = aside.Sync()
	}
	if closeErr := aside.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = fsys.SyncDir(f.dir)
	}
	if err != nil {
		fsys.Remove(f.asidePath(n))
		return "", err
	}
	return fmt.Sprintf("%s%s%d", f.id, asideInfix, n), nil
}

func (f files) createAside(fsys FS) (File, int, error) {
	for n := 1; ; n++ {
		aside, err := fsys.OpenFile(f.asidePath(n), os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		return aside, n, err
	}
}
