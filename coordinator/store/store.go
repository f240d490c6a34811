package store

import (
	"fmt"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Store keeps the sessions of teams. Every implementation passes the suite in
// package storetest.
//
// Errors can be told apart by errors.Is and errors.As: journal.ErrNotFound,
// *journal.LockedError, *journal.CorruptError, *UpgradeError,
// *TeamMismatchError, and *fs.PathError for what the file system says.
type Store interface {
	// Create prepares a new session. Nothing is kept before its first Append.
	Create(teamID string) (Log, error)
	// Open goes on with a session, of which the caller becomes the only
	// writer. Nothing is written before the first Append. A session of another
	// team is a *TeamMismatchError.
	Open(teamID, sessionID string) (Log, error)
	// Load returns a whole session of a team.
	Load(teamID, sessionID string) (*projection.Snapshot, error)
	// Latest is the session of a team with the newest UpdatedAt that one can
	// go on with, or journal.ErrNotFound. Sessions that are damaged, empty or
	// written by a newer version are passed over.
	Latest(teamID string) (Summary, error)
	// List is every session of a team that can be read, the newest first. A
	// team without sessions has an empty list.
	List(teamID string) ([]Summary, error)
	// Delete removes a session of a team. Deleting what is not there is no
	// error; a session that is written to is a *journal.LockedError.
	Delete(teamID, sessionID string) error
}

// Summary is what lists show of a session.
type Summary struct {
	SessionID string
	TeamID    string
	projection.Row
}

// Log is the journal of one session, open for its only writer.
type Log interface {
	// SessionID is the name of the session.
	SessionID() string
	// State is what the session amounted to when it was opened; the zero State
	// for a new one. The caller may change it.
	State() *projection.State
	// Append records a batch, as journal.Log.Append does.
	Append(batch ...journal.Record) ([]journal.Event, error)
	// Fits returns the error with which Append refuses a batch that no disk
	// could hold, such as journal.ErrTooLong.
	Fits(batch ...journal.Record) error
	// Backward yields the events that were appended, the last one first. What is
	// not asked for is not read. An error ends it.
	Backward() iter.Seq2[journal.Event, error]
	// Save returns nil when everything is durable. The state is that after
	// the last event, and may be kept to make opening cheaper.
	Save(state *projection.State) error
	// Recover is the way back after an error that is journal.ErrPoisoned, as
	// journal.Log.Recover is.
	Recover() ([]journal.Event, error)
	// Close saves and lets others write. Closing again does nothing.
	Close(state *projection.State) error
}

// TeamMismatchError says that a session belongs to another team.
type TeamMismatchError struct {
	SessionID string
	Want      string // the team that the session belongs to
	Got       string // the team that it was asked of
}

func (e *TeamMismatchError) Error() string {
	return fmt.Sprintf("session %s belongs to team %q, not to %q", e.SessionID, e.Want, e.Got)
}

// UpgradeError says that a newer version of the program wrote to a session, so
// that this one can read what it knows of it and must not append.
type UpgradeError struct {
	SessionID string
	Version   string // the format, or the type of event, that is newer
}

func (e *UpgradeError) Error() string {
	return fmt.Sprintf("session %s was written by a newer version of agent-chatter", e.SessionID)
}
