package hub

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Writer ships a session that this machine has claimed. It is for one goroutine.
type Writer struct {
	hub   *Hub
	read  *history
	claim Claim
	row   json.RawMessage
	end   journal.Position // of the history after the next lines, if it is farther than theirs
	key   *key             // nil: none yet, or without recipients

	mark   Mark   // its nonces are those of this machine
	before *Claim // the one that this machine's claim followed
	unsure bool   // a message may be stored whose answer did not arrive
	conns  uint64 // Engine.Connections when the session was read

	shipped map[string]bool // files, by their SHA-256
}

// Claim claims a session, so that this machine may append to it and ship it. local is the journal, which the
// caller has locked, nil if there is none; from is the mark of an earlier Compare or Writer. Before the claim is
// published, keep stores the mark that has its nonce, and an error of it ends Claim: a crash after that leaves a
// claim that this machine knows as its own.
//
// With takeOver it ends the claim of another machine, continues a hub that has lost lines, and continues what this
// machine can read of one that has other messages, too. Errors:
// *ClaimedError; *BehindError if the local journal lacks lines of the hub; *DivergedError; ErrPurged;
// *BadMessageError and *GapError if the hub has lost lines that are not here, either; *SealedError; *NewerError;
// *PlainError;
// *RecipientsError and ErrNotRecipient if nothing can be sealed; that of keep; those of Engine. After an
// *UnavailableError the claim may be stored: the Writer is not nil then, and its Mark is to be kept.
func (h *Hub) Claim(
	ctx context.Context, s Session, local LineReader, from Mark, takeOver bool, keep func(Mark) error,
) (*Writer, error) {
	if local == nil {
		local = noLines{}
	}
	for {
		c, read, err := h.compare(ctx, s, local, from, fetching{})
		if err != nil {
			return nil, err
		}
		if c.unread != nil && !(takeOver && allowsTakeOver(c.unread)) {
			return nil, c.unread
		}
		lines, err := h.refill(ctx, local, c, read)
		switch {
		case isConflict(err), err == nil && lines > 0:
			continue
		case err != nil:
			return nil, err
		}
		if err := h.checkClaim(from, takeOver, c, read); err != nil {
			return nil, err
		}
		w := h.newWriter(c, read)
		if err := keep(w.mark); err != nil {
			return nil, err
		}
		// Crash here leaves the nonce of a claim that the hub does not have.
		err = w.publishClaim(ctx, local)
		switch {
		case isConflict(err):
		case err != nil && !w.unsure:
			return nil, err
		default:
			return w, err
		}
	}
}

// checkClaim returns why a session is not to be claimed, nil if it is.
func (h *Hub) checkClaim(from Mark, takeOver bool, c Comparison, read *history) error {
	s := read.session
	switch {
	case c.Purged:
		return ErrPurged
	case c.Held() && !takeOver:
		return &ClaimedError{s, *c.Claim}
	case c.Diverged():
		return &DivergedError{s, c.Common}
	case c.Behind():
		return &BehindError{s, c.Local, c.Hub}
	case c.Damage != nil && !takeOver:
		return c.Damage
	case c.regressed && from.Claim.Open() && !from.Has(from.Claim) && !takeOver:
		return &ClaimedError{s, *from.Claim} // the hub has lost the claim
	}
	return h.checkPlain(read)
}

// newWriter returns a Writer whose claim is not published yet.
func (h *Hub) newWriter(c Comparison, read *history) *Writer {
	claim := newClaim(h.o.Home, h.o.Host, h.o.Now())
	return &Writer{
		hub: h, read: read, claim: claim, row: read.row, mark: c.Mark.withNonce(claim.Nonce), before: c.Claim,
		conns: h.engine.Connections(),
	}
}

// publishClaim publishes the claim. After a *ConflictError, the session is to be compared again.
func (w *Writer) publishClaim(ctx context.Context, local LineReader) error {
	err := w.publish(ctx, head{Kind: kindClaim}, nil)
	if err == nil {
		w.read.claim, w.read.claimAt = &w.claim, w.read.last
		w.read.taken(w.read.at)
	}
	if !w.unsure {
		return err
	}
	switch again := w.resync(ctx, local); {
	case again == nil:
		return nil
	case errors.As(again, new(*FencedError)), errors.As(again, new(*DivergedError)):
		return &ConflictError{w.read.session}
	}
	return err
}

// BehindError reports that the local journal lacks lines of the hub.
type BehindError struct {
	Session    Session
	Local, Hub journal.Position
}

func (e *BehindError) Error() string {
	return "session " + e.Session.ID + ": the hub has events that are not here"
}

// FencedError reports that another machine has taken a session over.
type FencedError struct {
	Session Session
	Claim   Claim // of the other machine
}

func (e *FencedError) Error() string {
	return "session " + e.Session.ID + " was taken over by " + e.Claim.Host
}

// SetRow sets the row of the next messages. It is encoded as JSON, and omitted if it is longer
// than maxRow.
func (w *Writer) SetRow(row any) { w.row = rowJSON(row) }

// Claimed reports whether the hub is known to have the claim. It has not if Claim returned an error, until Ship
// succeeds, and if another machine has taken the session over.
func (w *Writer) Claimed() bool { return w.read.claim != nil && w.read.claim.Nonce == w.claim.Nonce }

// At returns the end of the history on the hub, as far as the Writer knows.
func (w *Writer) At() journal.Position { return w.read.at }

// Mark returns the mark from which to continue.
func (w *Writer) Mark() Mark {
	m := w.read.mark()
	m.Nonces, m.Copies = w.mark.Nonces, w.mark.Copies
	return m
}

// Ship publishes the lines of the journal up to a position, which must be synced, and returns nil when
// the hub has acknowledged them. After an *UnavailableError it may be called again.
//
// Other errors: *FencedError; *DivergedError; *RefusedError; *SealedError; ErrPurged; a *CorruptError of the local
// journal.
func (w *Writer) Ship(ctx context.Context, local LineReader, upTo journal.Position) error {
	if w.unsure || w.conns != w.hub.engine.Connections() {
		if err := w.resync(ctx, local); err != nil {
			return err
		}
	}
	size := min(w.hub.maxLines(), shipSize)
	for w.read.at.Seq < upTo.Seq {
		from := w.read.at
		lines, to, err := local.Lines(from, size)
		if err != nil {
			return err
		}
		if to.Seq > upTo.Seq {
			lines, to = lines[:upTo.Offset-from.Offset], upTo
		}
		if len(lines) == 0 {
			return &BehindError{w.read.session, from, upTo}
		}
		err = w.publishWithFiles(ctx, local, from, to, lines)
		switch {
		case isConflict(err):
			err = w.resync(ctx, local)
		case err == nil:
			w.read.at = to
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shipSize bounds the lines of one message in bytes, unless one line is longer.
const shipSize = 512 << 10

// publishLines publishes lines, in parts if they are too long for one message.
func (w *Writer) publishLines(ctx context.Context, from, to journal.Position, lines []byte) error {
	h := head{Kind: kindLines, From: from, To: to}
	limit := w.hub.maxLines()
	if len(lines) <= limit {
		return w.publish(ctx, h, lines)
	}
	h.Parts = (len(lines) + limit - 1) / limit
	for h.Part = 1; h.Part <= h.Parts; h.Part++ {
		n := min(limit, len(lines))
		if err := w.publish(ctx, h, lines[:n]); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}

// publish publishes a message after the last one that was read.
func (w *Writer) publish(ctx context.Context, h head, body []byte) error {
	h.Claim, h.Row, h.Head = &w.claim, w.row, w.read.at
	if h.Kind == kindLines && h.Part == h.Parts {
		h.Head = h.To
	}
	if h.Head.Seq < w.end.Seq {
		h.Head = w.end
	}
	m, err := w.encode(h, body)
	if err != nil {
		return err
	}
	revision, err := w.hub.engine.Publish(ctx, w.read.session, w.read.last, m)
	if err != nil {
		w.unsure = w.unsure || !isConflict(err) && !errors.As(err, new(*RefusedError))
		return err
	}
	w.read.last = revision
	w.read.setSealed(h.Kind, w.key != nil)
	return nil
}

// encode returns a message, sealed if there are recipients.
func (w *Writer) encode(h head, body []byte) (m Message, err error) {
	if len(w.hub.o.Recipients) == 0 {
		line, err := h.encode()
		return Message{line, body}, err
	}
	if w.key == nil {
		if w.key, err = w.hub.keys.newKey(); err != nil {
			return Message{}, err
		}
	}
	return w.key.message(w.read.session, h, body)
}

// checkPlain returns a *PlainError if this machine would continue a sealed session in plain text.
func (h *Hub) checkPlain(read *history) error {
	if read.sealed && h.RefusesPlain() {
		return &PlainError{read.session, read.last == 0}
	}
	return nil
}

// resync reads what was stored since the last message that was read, and claims the session again if the hub has no
// claim since the one that this Writer followed. Lines that the local journal has too were shipped by this Writer
// before, or by a machine that refilled the hub.
func (w *Writer) resync(ctx context.Context, local LineReader) error {
	conns := w.hub.engine.Connections()
	w.shipped = nil // the hub may have lost them
	if w.read.damage() != nil || w.read.unread.err != nil {
		w.read.restart()
	}
	err := w.read.read(ctx, func(at journal.Position, lines []byte) error {
		if local == nil {
			return nil
		}
		own, _, err := local.Lines(at, len(lines))
		if err != nil {
			return err
		}
		if equal := wholeLines(lines, own); equal < len(lines) {
			common, err := at.Verify(lines[:equal])
			if err != nil {
				return err
			}
			return &DivergedError{w.read.session, common}
		}
		return nil
	})
	if err == nil && w.claimMissing() {
		err := w.publish(ctx, head{Kind: kindClaim}, nil)
		if isConflict(err) {
			return w.resync(ctx, local)
		}
		if err != nil {
			return err
		}
		w.read.claim, w.read.claimAt = &w.claim, w.read.last
	}
	ends := err == nil || errors.As(err, new(*DivergedError)) || isUnread(err)
	if fenced := w.fenced(); fenced != nil && ends {
		return fenced
	}
	if err != nil {
		w.unsure = w.unsure || isUnread(err)
		return err
	}
	w.unsure, w.conns = false, conns
	return nil
}

// claimMissing reports whether the claim was not stored, or the hub has lost it, and no other one has followed.
func (w *Writer) claimMissing() bool {
	c := w.read.claim
	return c == nil || w.before != nil && c.Nonce == w.before.Nonce && c.Nonce != w.claim.Nonce
}

// fenced returns a *FencedError if another machine has claimed the session since, else nil.
func (w *Writer) fenced() error {
	if c := w.read.claim; c != nil && c.Nonce != w.claim.Nonce {
		return &FencedError{w.read.session, *c}
	}
	return nil
}

// Release ends the claim: everything was shipped. The Writer must not be used after that, unless Release returned an
// *UnavailableError: it may be repeated then. Other errors: those of Ship.
func (w *Writer) Release(ctx context.Context, local LineReader) error {
	for {
		if w.unsure {
			if err := w.resync(ctx, local); err != nil {
				return err
			}
			if w.read.claim != nil && w.read.claim.Released {
				return nil
			}
		}
		released := w.claim
		released.Released = true
		w.claim = released
		err := w.publish(ctx, head{Kind: kindRelease}, nil)
		w.claim.Released = false
		if !isConflict(err) {
			if err == nil {
				w.read.claim, w.read.claimAt = &released, w.read.last
			}
			return err
		}
		w.unsure = true
	}
}

// Refill stores lines of the local journal again that the hub has lost, between two positions of its
// history, and returns how many. It needs no claim: the lines chain at both ends. lines counts also before an error.
// Errors: *PlainError; *SealedError; *RecipientsError; ErrNotRecipient; a *CorruptError of the local journal; those of
// Engine.
func (h *Hub) Refill(ctx context.Context, s Session, local LineReader, from Mark) (lines int, err error) {
	for {
		c, read, err := h.compare(ctx, s, local, from, fetching{})
		if err = cmp.Or(err, c.unread); err != nil {
			return lines, err
		}
		n, err := h.refill(ctx, local, c, read)
		lines += n
		if (err != nil || n == 0) && !isConflict(err) {
			return lines, err
		}
	}
}

// refill stores one message of lines at the end of the history again, and returns how many. 0: the hub lacks none
// that are here.
func (h *Hub) refill(ctx context.Context, local LineReader, c Comparison, read *history) (lines int, err error) {
	end := endOfGap(c.Damage)
	if c.Purged || !c.Ahead() || end == (journal.Position{}) || !local.Holds(end) {
		return 0, nil
	}
	if err := h.checkPlain(read); err != nil {
		return 0, err
	}
	text, to, err := local.Lines(c.Hub, min(h.maxLines(), shipSize))
	if err != nil {
		return 0, err
	}
	if to.Seq > end.Seq {
		text, to = text[:end.Offset-c.Hub.Offset], end
	}
	w := &Writer{hub: h, read: read, row: read.row, end: read.claimedEnd()}
	if c.Claim != nil {
		w.claim = *c.Claim
	}
	if err := w.publishWithFiles(ctx, local, c.Hub, to, text); err != nil {
		return 0, err
	}
	return bytes.Count(text, []byte("\n")), nil
}

// endOfGap returns where the history of a damaged hub continues, as far as its messages have that position.
func endOfGap(damage error) journal.Position {
	if gap := (*GapError)(nil); errors.As(damage, &gap) {
		return gap.Next
	}
	if bad := (*BadMessageError)(nil); errors.As(damage, &bad) {
		return bad.To
	}
	return journal.Position{}
}

// Purge removes a session from the hub. A tombstone stays, so that no machine ships it again. It may be repeated.
// After an error the tombstone may be stored, and lines before it left. Errors: those of Engine; a *RefusedError
// without permission to purge, after which nothing was stored.
func (h *Hub) Purge(ctx context.Context, s Session) error {
	// Without permission to purge, the lines would stay after the tombstone, and count no more.
	if err := h.engine.Purge(ctx, Session{s.Team, noSession}, 1); err != nil {
		return err
	}
	for {
		last, err := h.engine.Last(ctx, s)
		if err != nil {
			return err
		}
		if stored, err := decodeHead(last.Head); err == nil && stored.Kind == kindTombstone {
			return h.engine.Purge(ctx, s, last.Revision)
		}
		line, err := head{Kind: kindTombstone}.encode()
		if err != nil {
			return err
		}
		_, err = h.engine.Publish(ctx, s, last.Revision, Message{Head: line})
		if err != nil && !isConflict(err) {
			return err
		}
		// Crash here leaves the tombstone and the lines before it: they count no more, and the next
		// Purge removes them.
	}
}

// noSession is the id of no session.
const noSession = "00000000000000000000000000"
