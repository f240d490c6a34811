package journal

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound: there is no journal of that name, neither live nor archived.
	ErrNotFound = errors.New("no such journal")
	// ErrLocked: another process writes to the journal. The error that is
	// returned is a LockedError, which says who.
	ErrLocked = errors.New("journal is locked")
	// ErrClosed: the Log was closed.
	ErrClosed = errors.New("journal is closed")
	// ErrPoisoned: an earlier write or sync failed, and what the file holds is
	// uncertain. Recover finds out.
	ErrPoisoned = errors.New("an earlier write failed")
	// ErrTooLong: an event is over the limit of a line. Nothing was written.
	ErrTooLong = errors.New("event is longer than a line may be")
	// ErrReplaced: the file that was followed is another one now, and does not
	// go on where the old one was left.
	ErrReplaced = errors.New("journal was replaced by another history")

	errRemoved = errors.New("it is removed again and again")
	errNotDir  = errors.New("not a directory")
	errUsurped = errors.New("another file is in its place: move it away")
)

// CorruptError says that a line which was on the disk does not check any more:
// it was changed, lost, moved or doubled. Nothing behind it was read, nothing
// was removed.
type CorruptError struct {
	Path   string
	Line   int64 // the first line that does not check, from 1
	Offset int64 // where that line starts, in bytes
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: line %d (byte %d) is damaged: %s", e.Path, e.Line, e.Offset, e.Reason)
}
