package hub

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"filippo.io/age"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Options describe the machine.
type Options struct {
	Home string           // path of the home, for the messages of others
	Host string           // name of the machine, likewise
	Now  func() time.Time // nil: time.Now

	// Check, unless it is nil, checks lines of a session that are valid as lines. After an error of it, the message
	// with them is not valid, and nothing of it is fetched.
	Check func(s Session, lines []byte) error

	MaxLine int // longest line in bytes, as in journal.Options; 0: journal.DefaultMaxLine

	Recipients []age.Recipient // for which the messages of this machine are sealed; none: they are plain text
	Identities []age.Identity  // that open sealed messages; one of them belongs to a recipient
	Plain      bool            // without Recipients, sealed sessions are continued in plain text
}

// Hub is an Engine with the rules of this package. Its methods may be called concurrently.
type Hub struct {
	engine Engine
	o      Options
	keys   *keyring
}

// New returns the hub of an engine.
func New(e Engine, o Options) *Hub {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.MaxLine = cmp.Or(o.MaxLine, journal.DefaultMaxLine)
	return &Hub{e, o, &keyring{recipients: o.Recipients, identities: o.Identities}}
}

// Name returns the name of the engine.
func (h *Hub) Name() string { return h.engine.Name() }

// Clock returns the time on the server. Errors: those of Engine.
func (h *Hub) Clock(ctx context.Context) (time.Time, error) { return h.engine.Clock(ctx) }

// Warnings returns the settings of the server with which it may lose messages, as Engine.Warnings does.
func (h *Hub) Warnings() []string { return h.engine.Warnings() }

// Watch calls changed with the messages of a team, as Engine.Watch does.
func (h *Hub) Watch(ctx context.Context, team string, changed func(Stored)) error {
	return h.engine.Watch(ctx, team, changed)
}

// Close ends the connection of the engine.
func (h *Hub) Close() { h.engine.Close() }

// maxLines returns how many bytes of lines fit into one message.
func (h *Hub) maxLines() int {
	if len(h.o.Recipients) > 0 {
		return max(1, h.engine.MaxBody()-sealOverhead)
	}
	return h.engine.MaxBody()
}

// RefusesPlain reports whether this machine ships no event of a sealed session: it would ship it in plain text.
func (h *Hub) RefusesPlain() bool { return len(h.o.Recipients) == 0 && !h.o.Plain }

// Sealed reports whether the last message of a session is sealed. It needs no identity.
func (h *Hub) Sealed(ctx context.Context, s Session) (bool, error) {
	last, err := h.engine.Last(ctx, s)
	if err != nil || last.Revision == 0 {
		return false, err
	}
	head, err := decodeHead(last.Head)
	return err == nil && head.Sealed != nil, nil
}

// Row returns the row of the last message of a session; Revision 0: there is none. Errors: *SealedError; ErrNewer; that
// of a head that is not valid; those of Engine.
func (h *Hub) Row(ctx context.Context, s Session) (Row, error) {
	last, err := h.engine.Last(ctx, s)
	if err != nil || last.Revision == 0 {
		return Row{Session: s}, err
	}
	row := h.rowOf(last)
	return row, row.Err
}

// Rows calls row for each session of a team, or of all teams if team is "", in any order. Sessions that are not Valid
// are omitted. Errors: those of Engine.
func (h *Hub) Rows(ctx context.Context, team string, row func(Row)) error {
	for m, err := range h.engine.List(ctx, team) {
		if err != nil {
			return err
		}
		if m.Session.Valid() {
			row(h.rowOf(m))
		}
	}
	return nil
}

// Comparison is the state of a session on this machine and on the hub.
type Comparison struct {
	Local  journal.Position // the end of the local journal
	Hub    journal.Position // the end of the history on the hub
	Common journal.Position // the end of the common prefix

	Claim     *Claim // nil: the session was never claimed
	Mine      bool   // the claim is one of this machine
	Purged    bool
	regressed bool  // the hub has fewer messages than it had, or was created again
	Damage    error // *BadMessageError or *GapError; nil: none
	unread    error // *SealedError or *NewerError; nil: none
	Mark      Mark  // for the next time
}

// Ahead reports whether the local journal continues the history of the hub.
func (c Comparison) Ahead() bool { return c.Common == c.Hub && c.Local.Seq > c.Hub.Seq }

// Behind reports whether the hub continues the local journal.
func (c Comparison) Behind() bool { return c.Common == c.Local && c.Hub.Seq > c.Local.Seq }

// Diverged reports whether both have lines that the other one lacks.
func (c Comparison) Diverged() bool { return c.Common != c.Local && c.Common != c.Hub }

// Held reports whether another machine has the claim and has not released it.
func (c Comparison) Held() bool { return c.Claim.Open() && !c.Mine }

// DivergedError reports that the local journal and the hub have different lines after a
// common prefix.
type DivergedError struct {
	Session Session
	Common  journal.Position
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("session %s diverged from the hub after event %d", e.Session.ID, e.Common.Seq)
}

// ClaimedError reports that another machine has claimed a session.
type ClaimedError struct {
	Session Session
	Claim   Claim
}

func (e *ClaimedError) Error() string {
	return fmt.Sprintf("session %s is claimed by %s (%s, since %s)", e.Session.ID, e.Claim.Host, e.Claim.Home,
		e.Claim.Time.Format(time.RFC3339))
}

// LineReader reads the lines of a local journal. *journal.Reader is one.
type LineReader interface {
	// Lines is that of journal.Reader.
	Lines(from journal.Position, size int) (lines []byte, after journal.Position, err error)
	// Holds reports whether a position is one of the journal.
	Holds(p journal.Position) bool
}

// noLines is the LineReader of a journal that does not exist.
type noLines struct{}

func (noLines) Lines(from journal.Position, _ int) ([]byte, journal.Position, error) {
	return nil, from, nil
}

func (noLines) Holds(p journal.Position) bool { return p == journal.Position{} }

// Compare compares a local journal with the hub. local is nil if there is none. A mark that local does
// not hold is not used. Errors: *SealedError; *NewerError; those of Engine.
func (h *Hub) Compare(ctx context.Context, s Session, local LineReader, from Mark) (Comparison, error) {
	c, _, err := h.compare(ctx, s, local, from, fetching{})
	return c, cmp.Or(err, c.unread)
}

// compare is Compare from a mark, and from the beginning if the hub lacks messages after the mark. It calls missing,
// unless it is nil, with each part of the history after the end of the local journal.
func (h *Hub) compare(
	ctx context.Context, s Session, local LineReader, from Mark, f fetching,
) (Comparison, *history, error) {
	if local == nil {
		local = noLines{}
	}
	if !local.Holds(from.At) {
		from = from.Start()
		from.Engine = ""
	}
	c, read, err := h.compareFrom(ctx, s, local, from, f)
	if err == nil && c.Damage != nil && from.Revision > 0 && f.missing == nil {
		return h.compareFrom(ctx, s, local, from.Start(), f)
	}
	return c, read, err
}

// fetching is what becomes of what the local journal lacks; nil: nothing.
type fetching struct {
	missing func(lines []byte) error // gets each part of the history after the end of the local journal
	file    func(data []byte) error  // gets each file of the session
}

func (h *Hub) compareFrom(
	ctx context.Context, s Session, local LineReader, from Mark, f fetching,
) (Comparison, *history, error) {
	read := newHistory(h, s, from)
	read.file = f.file
	m := matcher{local: local, common: read.at, missing: f.missing}
	err := read.read(ctx, m.add)
	purged := errors.Is(err, ErrPurged)
	if err != nil && !purged && !isUnread(err) {
		return Comparison{}, nil, err
	}
	read.sealed = read.sealed || from.Sealed && (read.last == 0 || read.regress)
	if read.at.Seq < m.common.Seq { // the hub has lost messages
		m.common = read.at
	}
	end, err := m.end()
	if err != nil {
		return Comparison{}, nil, err
	}
	c := Comparison{
		Local: end, Hub: read.at, Common: m.common, Claim: read.claim, Purged: purged,
		regressed: read.regress, Damage: read.damage(), unread: read.unread.err, Mark: read.mark(),
	}
	c.Mine, c.Mark.Nonces, c.Mark.Copies = from.Has(c.Claim), from.Nonces, from.Copies
	return c, read, nil
}

// matcher compares the history of a hub with a local journal.
type matcher struct {
	local   LineReader
	common  journal.Position // the end of the common prefix
	differs bool             // the local line after it is another one
	ended   bool             // no local line follows it
	missing func([]byte) error

	appended bool // missing was called
}

// errRestarted is returned by add if the history starts again after lines of it were appended.
var errRestarted = errors.New("the history starts again")

// add compares lines of the hub that start at a position. The history starts again if the hub has lost messages, or
// if lines that it had lost were stored again.
func (m *matcher) add(at journal.Position, lines []byte) error {
	if at == (journal.Position{}) {
		if m.appended {
			return errRestarted
		}
		m.common, m.differs, m.ended = at, false, false
	}
	for !m.differs && !m.ended && len(lines) > 0 && at == m.common {
		local, _, err := m.local.Lines(at, len(lines))
		if err != nil {
			return err
		}
		equal := wholeLines(lines, local)
		after, err := at.Verify(lines[:equal])
		if err != nil {
			return err
		}
		lines, at, m.common = lines[equal:], after, after
		m.ended = len(local) == 0
		m.differs = equal < len(local) && len(lines) > 0
	}
	if m.ended && len(lines) > 0 && m.missing != nil {
		m.appended = true
		return m.missing(lines)
	}
	return nil
}

// end returns the end of the local journal.
func (m *matcher) end() (journal.Position, error) {
	at := m.common
	for !m.ended {
		lines, after, err := m.local.Lines(at, 0)
		if err != nil || len(lines) == 0 {
			return after, err
		}
		at = after
	}
	return at, nil
}

// wholeLines returns the length of the common prefix of a and b that consists of whole lines.
func wholeLines(a, b []byte) int {
	n := min(len(a), len(b))
	if !bytes.Equal(a[:n], b[:n]) {
		for i := range n {
			if a[i] != b[i] {
				n = i
				break
			}
		}
	}
	return bytes.LastIndexByte(a[:n], '\n') + 1
}

// rowJSON returns a row as JSON, nil if it cannot be encoded or is too long.
func rowJSON(row any) json.RawMessage {
	if row == nil {
		return nil
	}
	data, err := json.Marshal(row)
	if err != nil || len(data) > maxRow {
		return nil
	}
	return data
}
