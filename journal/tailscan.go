package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// tailWindow is how many bytes at the end of a journal are checked before it is
// appended to.
const tailWindow = 8 << 20

// Torn describes a torn tail: what a crash left after the last valid line. It may
// be a part of a line, lost pages, or lines that were never acknowledged.
type Torn struct {
	Offset   int64  // where it starts, in bytes
	Bytes    int64  // its length; 0: there is none
	FirstSeq uint64 // the sequence number of the first complete line in it, if readable; else 0
	LastSeq  uint64 // that of the last one
	Reason   string
}

// tail describes the end of a journal.
type tail struct {
	end       Position // of the last valid line
	maxSynced uint64   // the highest Synced of the valid lines
	torn      Torn
}

// findTail checks the last lines of a journal: those in the last window, or more
// if that does not suffice. A window must start at a line that one of its lines
// declares synced. Otherwise a crash may have lost a page before the window, and
// nothing may be appended after that.
func (s source) findTail(maxLine int) (tail, error) {
	for window := int64(tailWindow); window < s.size; window *= 4 {
		from, err := s.lineAfter(s.size-window, maxLine)
		if err != nil {
			continue
		}
		t, err := s.scanTail(from, maxLine)
		if err != nil {
			break // the first corrupt line can only be found by reading all lines
		}
		if t.maxSynced >= from.Seq {
			return t, nil
		}
	}
	return s.scanTail(Position{}, maxLine)
}

var errNoLine = errors.New("no line ends here")

// lineAfter returns the position after the first complete line after an offset.
// That line is not verified: the sum of the next one depends on it.
func (s source) lineAfter(offset int64, maxLine int) (Position, error) {
	r, err := s.open(offset)
	if err != nil {
		return Position{}, err
	}
	defer r.Close()
	l := lines.NewReader(r, maxLine)
	partial, err := l.Next()
	if err != nil {
		return Position{}, err
	}
	offset += int64(len(partial)) + 1
	line, err := l.Next()
	if err != nil {
		return Position{}, err
	}
	e, ok := decodeUnverified(line)
	if !ok {
		return Position{}, errNoLine
	}
	return Position{Seq: e.Seq - 1, Offset: offset}.after(e, len(line)+1), nil
}

// scanTail checks every line after a position.
func (s source) scanTail(from Position, maxLine int) (tail, error) {
	return s.scanTailWith((*scanner).check, from, maxLine)
}

// scanTailWith calls a method of a scanner for every line after a position.
func (s source) scanTailWith(next func(*scanner) error, from Position, maxLine int) (tail, error) {
	r, err := s.open(from.Offset)
	if err != nil {
		return tail{}, s.readError(from, err)
	}
	defer r.Close()
	sc := newScanner(r, from, maxLine)
	for err == nil {
		err = next(sc)
	}
	return s.tailAt(sc, err, maxLine)
}

// tailAt describes the end of a journal at which a scanner stopped with an error.
// It returns nil if that error means the end or a torn tail. An archive has no torn
// tail: all its lines were synced before it was written.
func (s source) tailAt(sc *scanner, err error, maxLine int) (tail, error) {
	t := tail{end: sc.at, maxSynced: sc.maxSynced}
	var bad *lineError
	switch {
	case s.archived() && err == io.EOF && len(sc.lines.Rest()) > 0:
		err = (&lineError{sc.at, errIncomplete}).corrupt(s.path)
		return t, err
	case s.archived() && errors.As(err, &bad):
		return t, bad.corrupt(s.path)
	case errors.As(err, &bad):
		t.torn, err = s.classify(bad, sc.maxSynced, maxLine)
		return t, err
	case err != io.EOF:
		return t, s.readError(sc.at, err)
	}
	if n := len(sc.lines.Rest()); n > 0 {
		if whole := wholeNext(sc.lines.Rest(), sc.at, true); whole != nil {
			return t, (&lineError{sc.at, whole}).corrupt(s.path)
		}
		t.torn = Torn{Offset: sc.at.Offset, Bytes: int64(n), Reason: errIncomplete.Error()}
	}
	return t, nil
}

var errIncomplete = errors.New("the last line is incomplete")

// classify distinguishes corruption from a torn tail. An invalid line is corrupt
// if it was synced: if it or a later line declares that, or if it is a duplicate
// of the previous line and that one was synced. It is also corrupt if it, or a later
// line, has the next line with a matching sum: no crash adds bytes to a line, so another
// program has, and a torn tail would be set aside with the lines of this one. Otherwise
// the line and all that follows is a torn tail. The sum of a line after a lost one cannot
// be verified, but its "synced" was true when it was written. The result is no torn tail
// if a writer has completed the line meanwhile.
func (s source) classify(bad *lineError, maxSynced uint64, maxLine int) (Torn, error) {
	if limit := (*limitError)(nil); errors.As(bad.reason, &limit) {
		return Torn{}, bad.corrupt(s.path) // a valid line, which must not be set aside
	}
	r, err := s.open(bad.at.Offset)
	if err != nil {
		return Torn{}, s.readError(bad.at, err)
	}
	defer r.Close()
	rest := suspectTail{
		at: bad.at, maxSynced: maxSynced, torn: Torn{Offset: bad.at.Offset, Reason: bad.reason.Error()},
	}
	if err = rest.read(lines.NewReader(r, maxLine)); err != nil {
		return Torn{}, s.readError(bad.at, err)
	}
	switch {
	case rest.completed:
		return Torn{}, nil
	case rest.whole != nil:
		return Torn{}, (&lineError{bad.at, rest.whole}).corrupt(s.path)
	case rest.maxSynced > bad.at.Seq || rest.duplicate && rest.maxSynced == bad.at.Seq:
		return Torn{}, bad.corrupt(s.path)
	}
	rest.torn.Bytes = min(rest.torn.Bytes, s.size-bad.at.Offset) // its last line may lack the newline
	return rest.torn, nil
}

// suspectTail is an invalid line and everything after it.
type suspectTail struct {
	at        Position // where the line starts
	torn      Torn
	maxSynced uint64 // the highest Synced of any line, verified or not
	duplicate bool   // the line is a duplicate of the previous one
	completed bool   // the line is valid now: a writer has set the torn tail aside
	whole     error  // why the next line is not read although it is whole; nil: it is not
}

func (t *suspectTail) read(l *lines.Reader) error {
	for first := true; ; first = false {
		line, err := l.Next()
		switch {
		case err == lines.ErrTooLong:
			err = t.skip(l)
		case err == nil && first && isNext(line, t.at):
			t.completed = true
			return nil
		case err == nil:
			t.add(line, first)
		}
		if err == io.EOF {
			t.torn.Bytes += int64(len(l.Rest()))
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *suspectTail) add(line []byte, first bool) {
	t.torn.Bytes += int64(len(line)) + 1
	t.maxSynced = max(t.maxSynced, syncedOfJoinedLine(line))
	if t.whole == nil {
		t.whole = wholeNext(line, t.at, first)
	}
	if e, ok := decodeUnverified(line); ok {
		t.note(e)
		t.duplicate = t.duplicate || first && e.Seq == t.at.Seq && e.Sum == t.at.Sum
	}
}

func (t *suspectTail) skip(l *lines.Reader) error {
	long, err := skipLine(l, Sum(0)) // its sum cannot be verified: the previous line is unknown
	t.torn.Bytes += long.bytes
	if e, ok := long.event(); ok && err == nil {
		t.note(e)
	}
	return err
}

// note records the numbers of an unverified line.
func (t *suspectTail) note(e Event) {
	if t.torn.FirstSeq == 0 {
		t.torn.FirstSeq = e.Seq
	}
	t.torn.LastSeq = e.Seq
	if e.Synced < e.Seq {
		t.maxSynced = max(t.maxSynced, e.Synced)
	}
}

// isNext reports whether a line is valid at a position.
func isNext(line []byte, at Position) bool {
	e, err := decode(line, at.Sum)
	return err == nil && e.Seq == at.Seq+1
}

// syncedOfJoinedLine handles a line that consists of two lines because the
// newline between them was changed or lost. It returns the Synced of the second
// one, or 0 if the line is not such a line.
func syncedOfJoinedLine(line []byte) uint64 {
	end := len(line) - trailerLen
	for tries := 0; end > 0 && tries < maxJoinTries; tries++ {
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

// maxJoinTries bounds the time for a line that contains many sums.
const maxJoinTries = 16

// decodeUnverified reads the numbers of a line whatever its sum, and even if the
// rest of the line is invalid: its "synced" is true even if another byte of the
// line was changed.
func decodeUnverified(line []byte) (Event, bool) {
	_, sum, err := decodeSum(line)
	if err != nil {
		return Event{}, false
	}
	var numbers struct{ Seq, Synced uint64 }
	if json.Unmarshal(line, &numbers) != nil {
		return decodeStart(line, sum)
	}
	return Event{Seq: numbers.Seq, Synced: numbers.Synced, Sum: sum}, numbers.Seq > 0
}
