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
	// The error that is returned is a TooLongError, which says by how much.
	ErrTooLong = errors.New("event is longer than a line may be")
	// ErrChanged: somebody wrote to the journal meanwhile.
	ErrChanged = errors.New("it was written to meanwhile")
	// ErrReplaced: the file that was followed is another one now, and does not
	// go on where the old one was left.
	ErrReplaced = errors.New("journal was replaced by another history")

	errRemoved = errors.New("it is removed again and again")
	errTooBig  = errors.New("it is too big for what it is called")
	errNoFile  = errors.New("not a file")
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

	// TooLong is the length of the line in bytes when nothing else is wrong
	// with it: it checks, and is longer than Options.MaxLine. Nothing is
	// damaged then, and whoever allows as many bytes can read it. Else 0.
	TooLong int64
}

func (e *CorruptError) Error() string {
	if e.TooLong > 0 {
		return fmt.Sprintf("%s: line %d (byte %d) is too long: %s", e.Path, e.Line, e.Offset, e.Reason)
	}
	return fmt.Sprintf("%s: line %d (byte %d) is damaged: %s", e.Path, e.Line, e.Offset, e.Reason)
}

// TooLongError says that an event is over the limit of a line. It is an
// ErrTooLong. Nothing was written.
type TooLongError struct {
	Type  string // of the event
	Bytes int    // a limit that would do
	Limit int    // Options.MaxLine
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s has %d bytes, and the limit is %d: %v", e.Type, e.Bytes, e.Limit, ErrTooLong)
}

// Is makes a TooLongError an ErrTooLong.
func (e *TooLongError) Is(target error) bool { return target == ErrTooLong }
