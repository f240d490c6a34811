package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Mark is how far the history of a session was read. It is a cache: with the zero Mark the
// history is read from its beginning. Its JSON form is stored beside the journal.
type Mark struct {
	Engine   string           `json:"engine"`   // Engine.Name
	Revision Revision         `json:"revision"` // of a message; each later one is still to be read
	At       journal.Position `json:"at"`       // the end of the history before that
	Claim    *Claim           `json:"claim,omitempty"`
	Nonces   []string         `json:"nonces,omitempty"` // of the last claims of this machine, the newest last

	// Sealed: the history is sealed, or was on a hub that has lost it; or the hub has none, and the session has events
	// of a sealed one.
	Sealed bool `json:"sealed,omitempty"`

	// Copies are the sessions whose events this one has, beside the parent that its journal names; also itself, if the
	// journal was imported.
	Copies []string `json:"copies,omitempty"`
}

// Start returns the mark with which the history is read from its beginning.
func (m Mark) Start() Mark {
	return Mark{Engine: m.Engine, Nonces: m.Nonces, Sealed: m.Sealed, Copies: m.Copies}
}

// maxNonces bounds Mark.Nonces: a claim whose answer does not arrive may be stored or not.
const maxNonces = 8

// Has reports whether a claim is one of this machine.
func (m Mark) Has(c *Claim) bool { return c != nil && slices.Contains(m.Nonces, c.Nonce) }

// withNonce returns the mark with the nonce of another claim of this machine. It keeps that of the session's claim,
// which the newer ones may not replace on the hub.
func (m Mark) withNonce(nonce string) Mark {
	m.Nonces = append(slices.Clone(m.Nonces), nonce)
	for i := 0; len(m.Nonces) > maxNonces; {
		if m.Claim != nil && m.Nonces[i] == m.Claim.Nonce {
			i++
		}
		m.Nonces = slices.Delete(m.Nonces, i, i+1)
	}
	return m
}

// maxPending bounds the messages that do not continue the history yet.
const maxPending = 100_000

// history reads the history of a session.
type history struct {
	engine  Engine
	keys    *keyring
	session Session
	maxLine int // of a line that is read in parts, in bytes
	check   func(Session, []byte) error
	plain   bool // this machine publishes plain text, and none of what was sealed
	copied  bool // the local journal may have lines that were sealed

	at      journal.Position // the end of the history
	last    Revision         // the session's last message that was read
	claim   *Claim           // of the last claim or release that was read
	claimAt Revision
	purged  bool
	sealed  bool // a message was sealed, and no claim in plain text has followed
	row     json.RawMessage
	rowAt   Revision // of the newest message with a head that is valid, which has the row

	opened  []byte                          // the newest body
	pending map[journal.Position]laterLines // by the later position at which they start
	bad     *BadMessageError                // a message that starts at the end of the history
	unread  unread                          // since the last claim
	parts   parts
	files   fileParts
	file    func(data []byte) error // gets the files; nil: they are skipped
	regress bool                    // the hub had later messages than it has now, or was created again
}

// laterLines are lines that do not continue the history yet.
type laterLines struct {
	first Revision         // the first message with such lines
	to    journal.Position // where they lead
}

// newHistory returns a history that starts at a mark.
func newHistory(hub *Hub, s Session, from Mark) *history {
	h := &history{
		engine: hub.engine, keys: hub.keys, session: s, maxLine: hub.o.MaxLine, check: hub.o.Check,
		plain: hub.RefusesPlain(), copied: from.Sealed || slices.Contains(from.Copies, s.ID),
		pending: map[journal.Position]laterLines{},
	}
	if from.Engine == hub.Name() {
		h.at, h.last, h.claim, h.claimAt = from.At, from.Revision, from.Claim, from.Revision
		h.sealed = from.Sealed
	} else if from.Engine != "" {
		h.regress = true
	}
	return h
}

// mark returns how far the history was read.
func (h *history) mark() Mark {
	m := Mark{Engine: h.engine.Name(), Revision: h.last, At: h.at, Claim: h.claim, Sealed: h.sealed}
	for _, later := range h.pending {
		m.Revision = min(m.Revision, later.first-1)
	}
	if h.parts.first > 0 {
		m.Revision = min(m.Revision, h.parts.first-1)
	}
	if h.files.first > 0 {
		m.Revision = min(m.Revision, h.files.first-1)
	}
	if h.bad != nil {
		m.Revision = min(m.Revision, h.bad.Revision-1)
	}
	if h.unread.err != nil {
		m.Revision = min(m.Revision, h.unread.first-1)
	}
	return m
}

// read reads the messages after the last one that was read. It calls visit with the lines that continue
// the history, which are valid until visit returns; an error of visit ends it. At the end of
// the history it returns nil. Errors: ErrPurged; a *SealedError or *NewerError, after the rest was read; that of visit;
// those of Engine.
func (h *history) read(ctx context.Context, visit func(from journal.Position, lines []byte) error) error {
	if unchanged, err := h.checkLast(ctx); unchanged || err != nil {
		return err
	}
	continued := h.last > 0
	again := true
	for after := h.last; again; {
		again = false
		for m, err := range h.engine.Read(ctx, h.session, after) {
			if err != nil {
				return err
			}
			head, err := h.decodeHead(m)
			if isUnread(err) {
				h.skip(m, err)
				continue
			}
			if continued && err == nil && h.hasOtherHistory(head) {
				h.restart()
				continued, after, again = false, 0, true
				break
			}
			before := h.at
			if err := h.apply(m, head, err, visit); err != nil {
				return err
			}
			if later, ok := h.pending[h.at]; ok && h.at != before && later.first < m.Revision {
				delete(h.pending, h.at)
				h.parts = parts{}
				after, again = later.first-1, true
				break
			}
		}
	}
	if h.purged {
		return ErrPurged
	}
	h.unread.allow(h.at.Seq > 0 && !(h.plain && (h.copied || h.sealed)))
	return h.unread.err
}

func (h *history) decodeHead(m Stored) (head, error) {
	head, err := h.keys.decodeHead(h.session, m.Head)
	if sealed := (*SealedError)(nil); errors.As(err, &sealed) {
		sealed.After = h.at.Seq
	} else if errors.Is(err, ErrNewer) {
		err = &NewerError{Session: h.session, After: h.at.Seq}
	}
	return head, err
}

// skip passes over a message that this machine cannot read. It may be of a machine that has continued the session:
// until a claim follows whose machine has the history that this one has, only a take-over continues it here.
func (h *history) skip(m Stored, err error) {
	h.last = max(h.last, m.Revision)
	if h.unread.err == nil {
		h.unread = unread{err, m.Revision}
	}
}

// unread are messages that may be valid on another machine.
type unread struct {
	err   error    // of the first of them, a *SealedError or a *NewerError; nil: there are none
	first Revision // its revision
}

// allow notes whether a take-over continues the session.
func (u unread) allow(takeOver bool) {
	if sealed := (*SealedError)(nil); errors.As(u.err, &sealed) {
		sealed.TakeOver = takeOver
	}
	if newer := (*NewerError)(nil); errors.As(u.err, &newer) {
		newer.TakeOver = takeOver
	}
}

// taken notes a claim of a machine that knows the history up to a position. If that is its end, the machine has taken
// the session over from there, and the messages before the claim that do not continue the history count no more.
func (h *history) taken(at journal.Position) {
	if at == h.at {
		h.unread, h.bad, h.parts = unread{}, nil, parts{}
		clear(h.pending)
	}
}

// checkLast compares the last message of the session with the last one that was read; unchanged: it is the same. If
// the hub has lost messages, its history is read from the beginning: an old backup of it may have been restored, and
// other messages may have the revisions of those that were lost.
func (h *history) checkLast(ctx context.Context) (unchanged bool, err error) {
	last, err := h.engine.Last(ctx, h.session)
	if err != nil || last.Revision == 0 && h.last == 0 {
		return err == nil, err
	}
	head, err := h.decodeHead(last)
	h.setRow(last, head, err)
	switch {
	case isUnread(err):
		return false, nil // what precedes it is read
	case err == nil && head.Kind == kindTombstone:
		h.purged = true
		return false, ErrPurged
	case last.Revision == h.last && err == nil && head.Head == h.at:
		return true, nil
	case last.Revision <= h.last:
		h.regress = h.regress || last.Revision < h.last
		h.restart()
	}
	return false, nil
}

// hasOtherHistory reports whether a message was published by a machine that knew another history than this one: the hub
// may have lost messages that were read, or got them again.
func (h *history) hasOtherHistory(head head) bool {
	if head.Kind == kindLines {
		return head.From.Seq < h.at.Seq
	}
	return head.Head != h.at
}

// restart goes to the beginning of the history.
func (h *history) restart() {
	*h = history{
		engine: h.engine, keys: h.keys, session: h.session, maxLine: h.maxLine, check: h.check, plain: h.plain,
		copied: h.copied, regress: h.regress, file: h.file, pending: map[journal.Position]laterLines{},
	}
}

// apply adds a message, whose head was decoded with an error or without, to the history.
func (h *history) apply(m Stored, head head, err error, visit func(journal.Position, []byte) error) error {
	h.last = max(h.last, m.Revision)
	h.setRow(m, head, err)
	if errors.Is(err, errAltered) && head.Kind == kindLines && equalExceptSum(head.From, h.at) {
		h.setBad(m, head, err)
	}
	if err != nil {
		return nil // another program's message
	}
	if head.Kind != kindFile {
		h.files = fileParts{} // no part follows
	}
	switch head.Kind {
	case kindFile:
		return h.applyFile(m, head)
	case kindClaim, kindRelease:
		if head.Kind == kindClaim {
			h.taken(head.Head)
		}
		if m.Revision > h.claimAt {
			h.claim, h.claimAt = head.Claim, m.Revision
			h.setSealed(head.Kind, head.key != nil)
		}
	case kindTombstone:
		h.purged = true
	case kindLines:
		h.setSealed(head.Kind, head.key != nil)
		return h.applyLines(m, head, visit)
	}
	return nil
}

// setRow keeps the row of the newest message.
func (h *history) setRow(m Stored, head head, err error) {
	if err == nil && m.Revision >= h.rowAt {
		h.row, h.rowAt = head.Row, m.Revision
	}
}

// setSealed notes a message that is sealed or not: only a claim in plain text makes a sealed session one in plain text.
func (h *history) setSealed(kind string, sealed bool) {
	h.sealed = sealed || h.sealed && kind == kindLines
}

// setBad keeps a message that starts at the end of the history and does not continue it. A following message may.
func (h *history) setBad(m Stored, head head, err error) {
	if h.bad == nil {
		h.bad = &BadMessageError{h.session, m.Revision, head.To, err}
	}
}

func (h *history) applyLines(m Stored, head head, visit func(journal.Position, []byte) error) error {
	if head.From != h.at {
		_, known := h.pending[head.From]
		if !known && head.From.Seq > h.at.Seq && head.Part <= 1 {
			if len(h.pending) >= maxPending {
				return nil // the first of them is reported
			}
			h.pending[head.From] = laterLines{m.Revision, head.To}
		}
		return nil
	}
	lines, err := h.openBody(m, head)
	if err != nil {
		h.setBad(m, head, err)
		return nil
	}
	complete := true
	if head.Parts > 0 {
		if length := head.To.Offset - head.From.Offset; length > int64(h.maxLine) {
			h.setBad(m, head, &LineLimitError{length, h.maxLine})
			return nil
		}
		lines, complete = h.parts.add(m.Revision, head, lines)
	}
	if !complete {
		return nil
	}
	to, err := h.at.Verify(lines)
	if err == nil && to != head.To {
		err = fmt.Errorf("its lines lead to %d with the sum %s, not to %d with %s",
			to.Seq, to.Sum, head.To.Seq, head.To.Sum)
	}
	if err == nil && h.check != nil {
		err = h.check(h.session, lines)
	}
	if err != nil {
		h.setBad(m, head, err)
		return nil
	}
	if err := visit(h.at, lines); err != nil {
		return err
	}
	h.at, h.bad, h.parts = to, nil, parts{}
	return nil
}

// openBody returns the body of a message, which is valid until the next one.
func (h *history) openBody(m Stored, head head) (lines []byte, err error) {
	if head.key == nil {
		return m.Body, nil
	}
	lines, err = head.key.open(h.opened[:0], m.Body, additional("body", h.session, m.Head))
	h.opened = lines
	return lines, err
}

// damage returns the error of a hub that has lost or changed messages, nil if the history ends with the
// session's last lines.
func (h *history) damage() error {
	next := journal.Position{}
	for at := range h.pending {
		if at.Seq > h.at.Seq && (next.Seq == 0 || at.Seq < next.Seq) {
			next = at
		}
	}
	if h.bad != nil && (next.Seq == 0 || !errors.Is(h.bad.Reason, errAltered)) {
		return h.bad
	}
	if next.Seq > 0 {
		return &GapError{h.session, h.at, next}
	}
	return nil
}

// claimedEnd returns the farthest position to which lines lead, whether they continue the history or not.
func (h *history) claimedEnd() journal.Position {
	end := h.at
	if h.bad != nil && h.bad.To.Seq > end.Seq {
		end = h.bad.To
	}
	for _, later := range h.pending {
		if later.to.Seq > end.Seq {
			end = later.to
		}
	}
	return end
}

// parts collects the parts of lines. The parts of one message follow each other.
type parts struct {
	first Revision // of the first part; 0: none
	of    head     // the newest part
	body  bytes.Buffer
}

// add adds a part and returns the lines when they are complete. Any other part than the next one is dropped,
// and a first one starts again.
func (p *parts) add(revision Revision, part head, body []byte) (lines []byte, complete bool) {
	length := part.To.Offset - part.From.Offset
	switch {
	case part.Part == 1:
		*p = parts{first: revision, of: part}
	case p.first == 0 || part.Part != p.of.Part+1 || part.Parts != p.of.Parts || part.To != p.of.To,
		int64(p.body.Len()+len(body)) > length:
		*p = parts{}
		return nil, false
	}
	p.of = part
	p.body.Write(body)
	return p.body.Bytes(), part.Part == part.Parts
}
