package interchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/lines"
	"github.com/agent-chatter/agent-chatter/projection"
)

// The versions of a bundle: without and with files of messages.
const (
	bundleVersion      = "1.0"
	bundleFilesVersion = "1.1"
)

// A bundle is a file with complete journals, one JSON object on each line:
//
//	{"bundle":"1.0","app":{…},"sessions":2}     the head
//	{"seq":1,…,"type":"session.created",…}      the lines of a journal
//	…                                           then those of the next one, from its seq 1
//	{"end":"1.0","events":117,"sum":"9f1c2ab4"} the end, which shows that no line is missing
//
// The sum is the CRC-32C of all bytes before the end. Earlier versions wrote none.
//
// Version 1.1 also has the files of messages, in parts, before the first message that names them:
//
//	{"attachment":"9f86d081…","part":1,"of":3,"data":"iVBORw0KGgo…"}
//
// Concatenated bundles are read as one.
type bundleHead struct {
	Bundle   string         `json:"bundle"`
	App      projection.App `json:"app"`
	Sessions int            `json:"sessions"`
}

type bundleEnd struct {
	End    string `json:"end"`
	Events int    `json:"events"`
	Sum    string `json:"sum,omitempty"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// BundleWriter writes a bundle.
type BundleWriter struct {
	w       io.Writer
	sum     hash.Hash32 // of what was written
	events  int
	version string
	written map[string]bool // files, by their SHA-256
}

// NewBundle writes the head of a bundle of that many sessions, with the files of their messages or without. Earlier
// versions of the program read only a bundle without files.
func NewBundle(w io.Writer, app projection.App, sessions int, files bool) (*BundleWriter, error) {
	sum := crc32.New(castagnoli)
	w = io.MultiWriter(w, sum)
	b := &BundleWriter{w: w, sum: sum, version: bundleVersion, written: map[string]bool{}}
	if files {
		b.version = bundleFilesVersion
	}
	return b, writeLine(w, bundleHead{b.version, app, sessions})
}

// Add writes one session. In a bundle with files, content returns the content of a file of a message; nil leaves it
// out.
func (b *BundleWriter) Add(
	events iter.Seq2[journal.Event, error], content func(projection.File) ([]byte, error),
) error {
	withFiles := events
	if b.version == bundleFilesVersion {
		withFiles = func(yield func(journal.Event, error) bool) {
			for e, err := range events {
				if err == nil {
					err = b.writeFiles(projection.FilesOf(e.Type, e.Data), content)
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
	n, err := WriteJournal(b.w, withFiles)
	b.events += n
	return err
}

// Close writes the end of the bundle. It does not close the io.Writer.
func (b *BundleWriter) Close() error {
	return writeLine(b.w, bundleEnd{b.version, b.events, fmt.Sprintf("%08x", b.sum.Sum32())})
}

func writeLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

// WriteJournal writes the events as a journal and returns their number. Sequence
// numbers and checksums are recomputed, so that changed events are valid, too.
func WriteJournal(w io.Writer, events iter.Seq2[journal.Event, error]) (n int, err error) {
	var at journal.Position
	for e, err := range events {
		if err != nil {
			return n, err
		}
		line, next, err := at.Next(journal.Record{Type: e.Type, Data: e.Data, Time: e.Time})
		if err != nil {
			return n, err
		}
		if _, err := w.Write(append(line.Line(), '\n')); err != nil {
			return n, err
		}
		at = next
		n++
	}
	return n, nil
}

// lineError reports an invalid line of a bundle.
type lineError struct {
	Line    int // from 1
	Session int // number of the session that it is in, from 1; 0: it is a head or an end
	Reason  string
	Err     error // nil, or the error of Validate that Reason quotes
}

func (e *lineError) Unwrap() error { return e.Err }

func (e *lineError) Error() string {
	if e.Session == 0 {
		return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
	}
	return fmt.Sprintf("session %d of the bundle, line %d: %s", e.Session, e.Line, e.Reason)
}

// ReadBundle yields the sessions of a bundle in order, each as its events. The
// events are valid until the next session is yielded; those that were not read
// are skipped. Every line is validated; lines are at most limit bytes long.
//
// An invalid line is a *lineError, which wraps the *schemas.InvalidError of an event that
// does not match its schema. One within a session ends that session, and
// the next one follows. One outside of the sessions, and an error of r, is the
// only element of a last session.
//
// keep is called with the content of each file of a message before an event that names it is yielded; nil: files are
// skipped. Its error is one of r.
func ReadBundle(
	r io.Reader, limit int, keep func(data []byte) error,
) iter.Seq[iter.Seq2[journal.Event, error]] {
	return func(yield func(iter.Seq2[journal.Event, error]) bool) {
		b := &bundleReader{lines: lines.NewReader(r, limit), between: true, keep: keep}
		if b.err = b.head(); b.err == nil {
			b.advance()
		}
		for b.err != io.EOF {
			s := &bundledSession{b: b}
			if !yield(s.events) {
				return
			}
			for more := true; more; {
				_, more = s.next()
			}
			if b.err != nil && b.reported {
				if b.final {
					return
				}
				b.advance()
			}
		}
	}
}

// bundledSession is the session of a bundle that is being read.
type bundledSession struct {
	b       *bundleReader
	started bool
}

func (s *bundledSession) events(yield func(journal.Event, error) bool) {
	for e, more := s.next(); more; e, more = s.next() {
		if !yield(e, nil) {
			return
		}
	}
	if b := s.b; b.err != nil && b.err != io.EOF && !(s.started && b.between) {
		b.reported = true
		yield(journal.Event{}, b.err)
	}
}

// next returns the next event of the session, up to the next one with seq 1.
func (s *bundledSession) next() (e journal.Event, ok bool) {
	b := s.b
	if b.err != nil || s.started && b.nextEvent.Seq == 1 {
		return e, false
	}
	s.started, e = true, b.nextEvent
	b.advance()
	return e, true
}

type bundleReader struct {
	lines    *lines.Reader
	line     int
	at       journal.Position // in the current session
	session  int              // number of the current session; 0: none
	sum      uint32           // of the lines of this bundle before the current one
	sessions int              // that have not begun yet
	events   int              // read from this bundle, invalid ones included
	version  string           // of this bundle
	keep     func(data []byte) error
	parts    fileParts // of the file that is being read

	nextEvent journal.Event // read ahead; invalid if err is set
	err       error         // io.EOF: the bundle is complete
	reported  bool          // err was yielded
	final     bool          // nothing can be read after err
	between   bool          // err is not in the session of the event before it
	invalid   bool          // the current session has an invalid line
	damaged   bool          // a session of this bundle has one
}

func (b *bundleReader) lineError(reason string) error {
	return &lineError{Line: b.line, Session: b.session, Reason: reason}
}

// advance reads the next event, or the reason why there is none.
func (b *bundleReader) advance() {
	b.reported, b.between = false, false
	b.nextEvent, b.err = b.next()
}

// read returns the next line, which is valid until the next call.
func (b *bundleReader) read() ([]byte, error) {
	b.line++
	line, err := b.lines.Next()
	if err == io.EOF {
		err = b.lineError("the bundle is truncated here")
	}
	b.final = err != nil && err != lines.ErrTooLong
	return line, err
}

func (b *bundleReader) head() error {
	line, err := b.read()
	if err != nil && err != lines.ErrTooLong {
		return err
	}
	b.final = true
	b.session, b.sum, b.damaged = 0, sumOf(0, line), false
	var head bundleHead
	if json.Unmarshal(line, &head) != nil || head.Bundle == "" {
		return b.lineError("it is not the first line of a bundle")
	}
	if b.version = head.Bundle; b.version != bundleVersion && b.version != bundleFilesVersion {
		return b.lineError("version " + head.Bundle + " is not supported: please upgrade agent-chatter")
	}
	b.sessions, b.events = head.Sessions, 0
	return nil
}

// next returns the next event, or io.EOF after the last line. After an invalid
// line it skips the rest of that session.
func (b *bundleReader) next() (journal.Event, error) {
	for {
		line, err := b.read()
		switch {
		case err == lines.ErrTooLong:
			err = b.lineError("the line is too long")
			if _, skipped := b.lines.Skip(nil); skipped != nil {
				b.final = true
			}
			if b.events++; b.invalid {
				continue
			}
			b.invalid, b.damaged = true, true
			return journal.Event{}, err
		case err != nil:
			return journal.Event{}, err
		case bytes.HasPrefix(line, []byte(`{"end":`)):
			if err := b.end(line); err != nil {
				return journal.Event{}, err
			}
			continue
		case b.version == bundleFilesVersion && bytes.HasPrefix(line, []byte(filePrefix)):
			b.sum = sumOf(b.sum, line)
			if b.invalid {
				continue
			}
			if err := b.file(line); err != nil {
				var invalid *lineError
				b.invalid, b.damaged, b.final = true, true, !errors.As(err, &invalid)
				return journal.Event{}, err
			}
			continue
		}
		var read journal.Event
		damage := json.Unmarshal(line, &read)
		b.events++
		if read.Seq == 1 || damage != nil && bytes.HasPrefix(line, []byte(`{"seq":1,`)) {
			b.at, b.between, b.invalid = journal.Position{}, true, false
			b.sessions--
			b.session++
		}
		b.sum = sumOf(b.sum, line)
		if b.invalid {
			continue
		}
		e, err := b.event(line, read, damage)
		b.invalid = err != nil
		b.damaged = b.damaged || b.invalid
		return e, err
	}
}

// end validates the end of a bundle, and the head of the next one if another
// bundle follows. It returns io.EOF if none does.
func (b *bundleReader) end(line []byte) error {
	b.final = true
	b.session = 0
	var end bundleEnd
	if json.Unmarshal(line, &end) != nil || end.Events != b.events || b.sessions != 0 {
		return b.lineError("lines before this one are missing")
	}
	if whole, err := json.Marshal(end); err != nil || !bytes.Equal(whole, line) || end.End != b.version {
		return b.lineError("it is not the last line of a bundle")
	}
	if !b.damaged && end.Sum != "" && end.Sum != fmt.Sprintf("%08x", b.sum) {
		return b.lineError("checksum mismatch: the first line of the bundle was changed")
	}
	b.between, b.invalid = true, false
	more, err := b.lines.More()
	switch {
	case err != nil:
		return err
	case !more:
		return io.EOF
	}
	return b.head()
}

// sumOf adds a line to the sum of those before it.
func sumOf(sum uint32, line []byte) uint32 {
	return crc32.Update(crc32.Update(sum, castagnoli, line), castagnoli, []byte("\n"))
}

// event validates a line, which is decoded unless damage is set.
func (b *bundleReader) event(line []byte, read journal.Event, damage error) (journal.Event, error) {
	if damage != nil {
		return journal.Event{}, b.lineError(damage.Error())
	}
	e, next, err := b.at.Next(journal.Record{Type: read.Type, Data: read.Data, Time: read.Time})
	if err != nil {
		return e, b.lineError(err.Error())
	}
	// Package json reads what a journal does not have, such as names in another case.
	if e.Seq != read.Seq || e.Sum != read.Sum || !bytes.Equal(e.Line(), line) {
		return e, b.lineError("checksum mismatch")
	}
	if err := projection.Validate(e); err != nil {
		return e, &lineError{b.line, b.session, err.Error(), err}
	}
	b.at = next
	return e, nil
}

// Validate yields the events up to the first one that violates the schema of
// journal events, which ends the sequence with an error.
func Validate(events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			if err == nil {
				if err = projection.Validate(e); err != nil {
					err = fmt.Errorf("event %d: %w", e.Seq, err)
				}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// errNotSession: the first event of a journal is not session.created.
var errNotSession = errors.New("it does not begin with session.created")

// Header decodes the first event of a session. It returns an error if the event
// is not a session.created with a valid id.
func Header(first journal.Event) (projection.SessionCreated, error) {
	p, err := projection.Decode(first)
	if err != nil {
		return projection.SessionCreated{}, err
	}
	created, ok := p.(projection.SessionCreated)
	if !ok || !journal.ValidID(created.SessionID) {
		return created, errNotSession
	}
	return created, nil
}
