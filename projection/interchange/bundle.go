package interchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/lines"
	"github.com/agent-chatter/agent-chatter/projection"
)

// BundleVersion is the version of the bundles that are written.
const BundleVersion = "1.0"

// A bundle is one file with whole sessions, to be gone on with elsewhere. It has
// one JSON object a line:
//
//	{"bundle":"1.0","app":{…},"sessions":2}     first
//	{"seq":1,…,"type":"session.created",…}      the lines of one journal, as it has them
//	…                                           then those of the next, each from its seq 1
//	{"end":"1.0","events":117}                  last, so that nothing behind it is missing
//
// Bundles that somebody put one behind the other are read as one.
type bundleHead struct {
	Bundle   string         `json:"bundle"`
	App      projection.App `json:"app"`
	Sessions int            `json:"sessions"`
}

type bundleEnd struct {
	End    string `json:"end"`
	Events int    `json:"events"`
}

// BundleWriter writes a bundle.
type BundleWriter struct {
	w      io.Writer
	events int
}

// NewBundle begins a bundle of so many sessions.
func NewBundle(w io.Writer, app projection.App, sessions int) (*BundleWriter, error) {
	return &BundleWriter{w: w}, writeLine(w, bundleHead{BundleVersion, app, sessions})
}

// Add writes one session.
func (b *BundleWriter) Add(events iter.Seq2[journal.Event, error]) error {
	n, err := Journal(b.w, events)
	b.events += n
	return err
}

// Close ends the bundle.
func (b *BundleWriter) Close() error { return writeLine(b.w, bundleEnd{BundleVersion, b.events}) }

func writeLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

// Journal writes the events as a journal of their own: the numbers and sums are
// made anew, so that they check whatever was changed in the events. It returns how
// many there were.
func Journal(w io.Writer, events iter.Seq2[journal.Event, error]) (n int, err error) {
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

// IsBundle reports whether a file begins as a bundle does.
func IsBundle(beginning []byte) bool {
	line, _, _ := bytes.Cut(beginning, []byte("\n"))
	var head bundleHead
	return json.Unmarshal(line, &head) == nil && head.Bundle != ""
}

// BundleError says which line of a bundle does not check.
type BundleError struct {
	Line   int
	Reason string
}

func (e *BundleError) Error() string {
	return fmt.Sprintf("line %d of the bundle: %s", e.Line, e.Reason)
}

// ReadBundle yields the sessions of a bundle, each as its events, in their order.
// They are there until the next session is asked for: what was not read of them is
// passed over. No line may be longer than limit bytes. Every line is checked. The
// error that ends a session, and with it all, is a *BundleError, also when the
// bundle was cut off, or one of reading.
func ReadBundle(r io.Reader, limit int) iter.Seq[iter.Seq2[journal.Event, error]] {
	return func(yield func(iter.Seq2[journal.Event, error]) bool) {
		b := &bundleReader{lines: lines.NewReader(r, limit)}
		if b.err = b.head(); b.err == nil {
			b.ahead, b.err = b.next()
		}
		for b.err != io.EOF && !b.told {
			s := &bundled{b: b}
			if !yield(s.events) {
				return
			}
			for more := true; more; {
				_, more = s.next()
			}
		}
	}
}

// bundled is one session of a bundle that is being read.
type bundled struct {
	b     *bundleReader
	begun bool
}

func (s *bundled) events(yield func(journal.Event, error) bool) {
	for e, more := s.next(); more; e, more = s.next() {
		if !yield(e, nil) {
			return
		}
	}
	if b := s.b; b.err != nil && b.err != io.EOF && !b.told {
		b.told = true
		yield(journal.Event{}, b.err)
	}
}

// next is the next event of the session. The number 1 is the next session's.
func (s *bundled) next() (e journal.Event, ok bool) {
	b := s.b
	if b.err != nil || s.begun && b.ahead.Seq == 1 {
		return e, false
	}
	s.begun, e = true, b.ahead
	b.ahead, b.err = b.next()
	return e, true
}

type bundleReader struct {
	lines    *lines.Reader
	line     int
	at       journal.Position // of the session that is read
	sessions int              // that are still to come
	events   int              // of this bundle, so far

	ahead journal.Event // was read and not given out, unless there is an error
	err   error         // io.EOF: that was all
	told  bool          // somebody was given the error
}

// read returns the next line, which is valid until the next call.
func (b *bundleReader) read() ([]byte, error) {
	b.line++
	line, err := b.lines.Next()
	switch err {
	case lines.ErrTooLong:
		err = b.wrong("it is longer than a line may be")
	case io.EOF:
		err = b.wrong("the bundle was cut off there")
	}
	return line, err
}

func (b *bundleReader) wrong(reason string) error { return &BundleError{b.line, reason} }

func (b *bundleReader) head() error {
	line, err := b.read()
	if err != nil {
		return err
	}
	var head bundleHead
	if json.Unmarshal(line, &head) != nil || head.Bundle == "" {
		return b.wrong("it is not the first line of a bundle")
	}
	if head.Bundle != BundleVersion {
		return b.wrong("version " + head.Bundle + " is not supported: please upgrade agent-chatter")
	}
	b.sessions, b.events = head.Sessions, 0
	return nil
}

// next returns the next event, or io.EOF behind the last line.
func (b *bundleReader) next() (journal.Event, error) {
	for {
		line, err := b.read()
		if err != nil {
			return journal.Event{}, err
		}
		if !bytes.HasPrefix(line, []byte(`{"end":`)) {
			return b.event(line)
		}
		if err := b.end(line); err != nil {
			return journal.Event{}, err
		}
		if err := b.head(); err != nil {
			return journal.Event{}, err
		}
	}
}

// end checks the last line of a bundle. It returns io.EOF when no other bundle
// follows.
func (b *bundleReader) end(line []byte) error {
	var end bundleEnd
	if json.Unmarshal(line, &end) != nil || end.Events != b.events || b.sessions != 0 {
		return b.wrong("lines before it are missing")
	}
	more, err := b.lines.More()
	if err == nil && !more {
		err = io.EOF
	}
	return err
}

// event checks a line as a line of a journal.
func (b *bundleReader) event(line []byte) (journal.Event, error) {
	var read journal.Event
	if err := json.Unmarshal(line, &read); err != nil {
		return journal.Event{}, b.wrong(err.Error())
	}
	if read.Seq == 1 {
		b.at = journal.Position{}
		b.sessions--
	}
	e, next, err := b.at.Next(journal.Record{Type: read.Type, Data: read.Data, Time: read.Time})
	if err != nil {
		return e, b.wrong(err.Error())
	}
	if e.Seq != read.Seq || e.Sum != read.Sum {
		return e, b.wrong("its sum does not match the bytes and the line before")
	}
	if err := projection.Validate(e); err != nil {
		return e, b.wrong(err.Error())
	}
	b.at, b.events = next, b.events+1
	return e, nil
}

// Fitting passes events on, and ends with an error at the first that does not fit
// the schema of journal events.
func Fitting(events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
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

// errNoSession: a journal does not begin as one of a session does.
var errNoSession = errors.New("it does not begin with session.created")

// CreatedBy is the payload of the event that a session begins with.
func CreatedBy(first journal.Event) (projection.SessionCreated, error) {
	p, err := projection.Decode(first)
	if err != nil {
		return projection.SessionCreated{}, err
	}
	created, ok := p.(projection.SessionCreated)
	if !ok || !journal.ValidID(created.SessionID) {
		return created, errNoSession
	}
	return created, nil
}
