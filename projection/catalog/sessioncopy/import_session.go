package sessioncopy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// ErrDiverged: a session with this id exists, and its events differ from those
// to import. Import returns it in a *DivergedError.
var ErrDiverged = errors.New("the session exists and has diverged")

// DivergedError describes how an existing session differs from a source.
type DivergedError struct {
	ID      string // of the session
	Message int    // the first message of the source that differs, from 1

	// LeftOut is the number of messages that the session has and the source lacks before
	// that message, which both have: an earlier version imported text that this one
	// leaves out, or the text was removed from the source. 0: they differ otherwise.
	LeftOut      int
	FirstLeftOut uint64 // Seq of the first of them
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("session %s, message %d: %v", e.ID, e.Message, ErrDiverged)
}

func (e *DivergedError) Unwrap() error { return ErrDiverged }

// Import writes a session of another program to the catalog, or appends what an
// earlier import of it did not have. redact replaces secrets in a record before
// it is written. With an error, nothing is counted as written. Errors: *DivergedError,
// after which the session is unchanged; *journal.LockedError or catalog.ErrChanged if
// the session is written to elsewhere; those of the source, among them
// interchange.ErrNoMessages.
func Import(
	ctx context.Context, dir *catalog.Dir, s *interchange.Session, redact func(journal.Record) journal.Record,
) (Counts, error) {
	i := &sessionImport{ctx: ctx, dir: dir, id: s.ID, redact: redact, sign: s.Sign}
	exists, err := hasEvents(ctx, dir, s.ID)
	switch {
	case err != nil:
	case exists:
		i.records = s.Records
		err = i.update(s.Records())
	default:
		err = i.create(s.Records())
	}
	if err != nil {
		i.counts.Written, i.counts.Late = 0, 0
	}
	return i.counts, err
}

// ImportBranch imports another branch of a conversation, whose session exists, as
// a fork of that session.
func ImportBranch(
	ctx context.Context, dir *catalog.Dir, parent string, branch *interchange.Session,
	redact func(journal.Record) journal.Record,
) (Counts, error) {
	events := func(yield func(journal.Event, error) bool) {
		for r, err := range branch.Records() {
			if err == nil {
				r = redact(r)
			}
			if !yield(journal.Event{Type: r.Type, Data: r.Data}, err) || err != nil {
				return
			}
		}
	}
	common, err := projection.Diverge(dir.Events(ctx, parent), events)
	if err != nil {
		return Counts{}, err
	}
	branch.Created.Parent = &projection.Parent{SessionID: parent, Seq: max(1, common.A)}
	return Import(ctx, dir, branch, redact)
}

// Counts is what an Import did.
type Counts struct {
	Written int // messages
	Late    int // tool calls and results, and texts, that the source got within what an earlier import had
	Total   int // messages of the source
	Skipped int // lines of the source
}

// sessionImport is the state of one Import.
type sessionImport struct {
	ctx    context.Context
	dir    *catalog.Dir
	id     string
	redact func(journal.Record) journal.Record
	sign   func(source string, o projection.ImportOrigin) string // as Session.Sign

	known  *knownSession   // nil: the session is new
	began  *journal.Record // turn.started of the source's current turn
	title  *journal.Record
	w      *writer // nil: nothing is to be written yet
	counts Counts

	records func() iter.Seq2[journal.Record, error] // the source once more
	late    lateRecords
	differs bool // messages of the source and the session do
}

// create writes all records to a new session.
func (i *sessionImport) create(records iter.Seq2[journal.Record, error]) error {
	// Crash here leaves some of the events, perhaps none. The next Import of the same
	// session appends the others.
	return create(i.ctx, i.dir, i.id, func(w *writer) error {
		i.w = w
		for r, err := range records {
			if err != nil {
				return err
			}
			switch r.Type {
			case messageType:
				i.counts.Total++
				err = i.append(r)
			case importedType:
				err = i.addSource(r)
			default:
				err = i.append(r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// append writes a record.
func (i *sessionImport) append(r journal.Record) error {
	clean := i.redact(r)
	if r.Type == messageType {
		i.counts.Written++
		i.differs = i.differs || !bytes.Equal(clean.Data, r.Data)
	}
	return i.w.add(clean)
}

// update compares the records with the existing session and appends those that
// it does not have.
func (i *sessionImport) update(records iter.Seq2[journal.Record, error]) error {
	r, err := i.dir.Journals().Reader(i.id, journal.Position{})
	if err != nil {
		return err
	}
	defer r.Close()
	i.known = newKnownSession(i.ctx, r)
	defer i.known.stop()
	defer func() {
		if i.w != nil {
			i.w.log.Close()
		}
	}()
	for r, err := range records {
		if err == nil {
			err = i.addRecord(r)
		}
		if err != nil {
			return err
		}
	}
	if i.w == nil {
		return nil
	}
	return i.w.finish()
}

// addRecord compares a record of the source, or appends it if the existing
// session is a beginning of the source.
func (i *sessionImport) addRecord(r journal.Record) error {
	switch r.Type {
	case createdType:
		return nil
	case renamedType: // the title of an existing session may have been changed since
		i.title = &r
		return nil
	case importedType:
		return i.addSource(r)
	case taskType:
		return i.addTask(r)
	case messageType:
		i.counts.Total++
	case turnStartedType:
		i.began = &r
	}
	if i.w == nil {
		known, err := i.isKnown(r)
		if known && r.Type == turnEndedType {
			i.began = nil
		}
		if known || err != nil {
			return err
		}
		if err := i.begin(r); err != nil {
			return err
		}
	}
	if r.Type == turnEndedType {
		i.began = nil
		r = i.known.withoutUsage(r)
	}
	return i.append(r)
}

// isKnown reports whether the existing session has a record, or something in its
// place: what the earlier import knew of a turn may differ.
func (i *sessionImport) isKnown(r journal.Record) (bool, error) {
	e, ok, err := i.known.peek()
	if err != nil {
		return false, err
	}
	if ok && i.known.same(r, e) {
		i.differs = i.differs || r.Type == messageType && !bytes.Equal(e.Data, r.Data)
		i.known.advance()
		return true, nil
	}
	ok, err = i.known.seekMessage()
	switch {
	case err != nil:
		return false, err
	case !ok:
		return i.known.inTail(r), nil
	case r.Type != messageType:
		i.late.addTool(r)
		return true, nil
	}
	for !sameMessage(r, i.known.next) {
		if i.late.addRest(i.known.next) {
			i.known.advance()
			if more, err := i.known.seekMessage(); err != nil {
				return false, err
			} else if more {
				continue
			}
			return i.known.inTail(r), nil
		}
		if !i.late.addGrown(i.redact(r), i.known.next) {
			return false, i.diverged(r)
		}
		break
	}
	i.differs = i.differs || !bytes.Equal(i.known.next.Data, r.Data)
	i.known.advance()
	return true, nil
}

// diverged returns the error for a message of the source that is not the next one of the
// existing session.
func (i *sessionImport) diverged(r journal.Record) error {
	diverged := &DivergedError{ID: i.id, Message: i.counts.Total}
	first := i.known.next.Seq
	for n := 1; ; n++ {
		i.known.advance()
		switch more, err := i.known.seekMessage(); {
		case err != nil:
			return err
		case !more:
			return diverged
		case sameMessage(r, i.known.next):
			diverged.LeftOut, diverged.FirstLeftOut = n, first
			return diverged
		}
	}
}

// begin locks the existing session and repeats what must precede a record. The
// existing session was read to its end.
func (i *sessionImport) begin(r journal.Record) error {
	if err := i.seekEnd(); err != nil {
		return err
	}
	var err error
	if i.w, err = openAt(i.ctx, i.dir, i.id, i.known.reader.Position()); err != nil {
		return err
	}
	if err := i.addLate(); err != nil {
		return err
	}
	onlyHeader := i.known.events == 0 && !i.known.renamed // a crash interrupted the first import
	if i.title != nil && onlyHeader {
		return i.append(*i.title)
	}
	if i.began != nil && r.Type != turnStartedType && i.known.ended {
		return i.append(*i.began) // the turn continues
	}
	return nil
}

// seekEnd reads the rest of the existing session.
func (i *sessionImport) seekEnd() error {
	for {
		e, ok, err := i.known.peek()
		if err != nil || !ok {
			return err
		}
		i.late.addRest(e)
		i.known.advance()
	}
}

func (i *sessionImport) addTask(r journal.Record) error {
	if i.w == nil {
		if err := i.seekEnd(); err != nil || i.known.task != nil {
			return err
		}
		if err := i.begin(r); err != nil {
			return err
		}
	}
	if string(i.known.task) == string(r.Data) {
		return nil
	}
	return i.append(r)
}

// addSource adds the event that records where the events come from, unless there
// was nothing new.
func (i *sessionImport) addSource(r journal.Record) error {
	p, err := projection.Decode(journal.Event{Type: r.Type, Data: r.Data})
	if err != nil {
		return err
	}
	source := p.(projection.SessionImported)
	i.counts.Skipped = source.Skipped
	if i.known == nil {
		return i.appendSource(r.Time, source)
	}
	if i.w == nil {
		if err := i.seekEnd(); err != nil || i.known.imported && !i.late.any(i.known) {
			return err
		}
		err := i.begin(r)
		if errors.Is(err, journal.ErrLocked) && !i.late.any(i.known) {
			return nil // there is nothing new
		}
		if err != nil {
			return err
		}
	}
	if i.known.imported {
		source.Taken = i.counts.Written
	}
	return i.appendSource(r.Time, source)
}

// appendSource appends a SessionImported. It has an origin only if the program's session has the same messages: one
// with what was redacted must not be continued.
func (i *sessionImport) appendSource(at time.Time, source projection.SessionImported) error {
	if err := i.w.flush(); err != nil {
		return err
	}
	if source.Origin != nil && (i.sign == nil || i.differs) {
		source.Origin = nil
	}
	if source.Origin != nil {
		source.Origin.Sum = i.w.state.History
		source.Origin.Host = i.sign(source.Source, *source.Origin)
		if source.Origin.Host == "" {
			source.Origin = nil
		}
	}
	return i.append(projection.Record(at, source))
}

// scan is r.Scan until ctx is done; then it yields the error of ctx.
func scan(ctx context.Context, r *journal.Reader) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range r.Scan() {
			if err == nil {
				err = ctx.Err()
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
