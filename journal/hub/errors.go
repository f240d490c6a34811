package hub

import (
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/journal"
)

// BadMessageError reports a message at which the history of a session ends, because neither
// this message nor another one continues it.
type BadMessageError struct {
	Session  Session
	Revision Revision
	To       journal.Position // where its lines should lead
	Reason   error
}

func (e *BadMessageError) Error() string {
	return fmt.Sprintf("session %s: message %d of the hub is not valid: %v", e.Session.ID, e.Revision, e.Reason)
}

// Unwrap returns the reason.
func (e *BadMessageError) Unwrap() error { return e.Reason }

// LineLimitError reports a line on the hub that is longer than Options.MaxLine. It is no journal.TooLongError: nothing
// that was to be appended is too long.
type LineLimitError struct {
	Bytes int64
	Limit int
}

func (e *LineLimitError) Error() string {
	return fmt.Sprintf("its line has %d bytes, and the limit here is %d", e.Bytes, e.Limit)
}

// IsDamage reports whether an error is a *BadMessageError, a *GapError, a *SealedError or a *NewerError: what this
// machine can read on the hub is valid.
func IsDamage(err error) bool {
	return errors.As(err, new(*BadMessageError)) || errors.As(err, new(*GapError)) || isUnread(err)
}

// TakeOverHelps reports whether taking a session over continues it after an error of IsDamage.
func TakeOverHelps(err error) bool {
	if isUnread(err) {
		return allowsTakeOver(err)
	}
	return IsDamage(err)
}

// NewerError reports messages of a session that a newer version of the program has published. It wraps ErrNewer.
type NewerError struct {
	Session  Session
	After    uint64 // seq of the last event of the history that was read before them
	TakeOver bool   // taking the session over continues it after that event
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("session %s: %v after event %d", e.Session.ID, ErrNewer, e.After)
}

// Unwrap returns ErrNewer.
func (e *NewerError) Unwrap() error { return ErrNewer }

// isUnread reports whether an error of decodeHead is of a message that may be valid on another machine.
func isUnread(err error) bool {
	return errors.As(err, new(*NewerError)) || errors.As(err, new(*SealedError))
}

// allowsTakeOver reports whether a take-over continues a session with messages that this machine cannot read; nil:
// there are none.
func allowsTakeOver(err error) bool {
	sealed, newer := (*SealedError)(nil), (*NewerError)(nil)
	return err == nil || errors.As(err, &sealed) && sealed.TakeOver || errors.As(err, &newer) && newer.TakeOver
}

// GapError reports that the hub has lines of a session which do not continue its history: messages
// before them are missing.
type GapError struct {
	Session Session
	After   journal.Position // the end of the history
	Next    journal.Position // where the first of those lines start
}

func (e *GapError) Error() string {
	return fmt.Sprintf("session %s: the hub lacks the lines from %d to %d", e.Session.ID, e.After.Seq+1, e.Next.Seq)
}
