package journal

import (
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

var (
	// ErrNotFound is returned if there is no journal of that name, neither live
	// nor archived.
	ErrNotFound = errors.New("no such journal")
	// ErrLocked is matched by a LockedError: another process, or another Log of
	// this one, writes to the journal.
	ErrLocked = vfs.ErrLocked
	// ErrClosed is returned by the methods of a closed Log.
	ErrClosed = errors.New("journal is closed")
	// ErrPoisoned is returned by a write or sync of a Log that fails, and by every
	// call after it: the content of the file is uncertain. Recover resolves it.
	ErrPoisoned = errors.New("an append or sync failed")
	// ErrTooLong is matched by a TooLongError: an event exceeds the limit of a
	// line. Nothing was written.
	ErrTooLong = errors.New("event is longer than the limit of a line")
	// ErrTorn is returned by Dir.Seal for a journal with a torn tail.
	ErrTorn = errors.New("journal has a torn tail")
	// ErrReplaced is returned by Follow if the journal's file was replaced by one
	// that does not contain the last event that was delivered.
	ErrReplaced = errors.New("journal was replaced by another history")

	errOtherDir  = errors.New("another directory has its name: mount the disk of the journal, or move it away")
	errOtherFile = errors.New("another file has its name: move that file away")
)

// CorruptError is the error of a line that was synced to the disk and is not
// valid any more: it was changed, lost, moved or duplicated. No line after it was
// read, and nothing was removed.
type CorruptError struct {
	Path   string
	Line   int64 // number of the first invalid line, from 1
	Offset int64 // where that line starts, in bytes
	Reason string

	// TooLong is the length of the line in bytes if the line is valid, and only
	// longer than Options.MaxLine. It can be read with a higher limit. Else 0.
	TooLong int64
}

func (e *CorruptError) Error() string {
	if e.TooLong > 0 {
		return fmt.Sprintf("%s: line %d (byte %d) is too long: %s", e.Path, e.Line, e.Offset, e.Reason)
	}
	return fmt.Sprintf("%s: line %d (byte %d) is damaged: %s", e.Path, e.Line, e.Offset, e.Reason)
}

// TooLongError is the error of an event that exceeds the limit of a line. It
// matches ErrTooLong. Nothing was written.
type TooLongError struct {
	Type  string // of the event
	Bytes int    // a limit that suffices
	Limit int    // Options.MaxLine
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s has %d bytes, and the limit is %d: %v", e.Type, e.Bytes, e.Limit, ErrTooLong)
}

// Is makes a TooLongError match ErrTooLong.
func (e *TooLongError) Is(target error) bool { return target == ErrTooLong }
