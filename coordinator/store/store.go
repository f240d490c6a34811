package store

import (
	"context"
	"fmt"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Store keeps the sessions of teams.
//
// The errors are journal.ErrNotFound, *journal.LockedError, *journal.CorruptError, *UpgradeError,
// *TeamMismatchError, *fs.PathError for errors of the file system, and the context's error.
type Store interface {
	// Create prepares a new session with an ID, a canonical ULID that no session has; "" is a new one.
	// Nothing is kept before its first Append, which returns an error that wraps fs.ErrExist if there is a
	// session with the ID. Another ID is an *InvalidIDError.
	Create(teamID, sessionID string) (Log, error)
	// Open opens a session for appending and returns what its events amount to; the state
	// belongs to the caller. Nothing is written before the first Append. A session of another
	// team is a *TeamMismatchError.
	Open(ctx context.Context, teamID, sessionID string) (Log, *projection.State, error)
	// Load returns a whole session of a team.
	Load(ctx context.Context, teamID, sessionID string) (*projection.Snapshot, error)
	// Latest returns the most recently updated session of a team that can be resumed, or
	// journal.ErrNotFound. It skips sessions that are corrupt, empty or written by a newer
	// version.
	Latest(ctx context.Context, teamID string) (Summary, error)
	// List returns the readable sessions of a team, the most recently updated first.
	List(ctx context.Context, teamID string) ([]Summary, error)
	// Delete removes a session of a team. An unknown session is no error, an open one is a
	// *journal.LockedError.
	Delete(ctx context.Context, teamID, sessionID string) error
}

// Summary describes a session in a list.
type Summary struct {
	SessionID string
	TeamID    string
	projection.Row
}

// Log is the journal of one session, open for its only writer.
type Log interface {
	// SessionID returns the ID of the session.
	SessionID() string
	// Append appends a batch as journal.Log.Append does.
	Append(batch ...journal.Record) ([]journal.Event, error)
	// Fits returns the error with which Append would reject a batch regardless of the disk,
	// such as journal.ErrTooLong.
	Fits(batch ...journal.Record) error
	// Attach keeps the content of a file of a message and returns its SHA-256, in hex. When it returns nil, the content
	// is durable: the message that names it is appended after that. Too much is an *attachment.TooLargeError.
	Attach(data []byte) (sha256 string, err error)
	// Attached returns the content of a file that a message names. The errors are those of attachment.Dir.Read.
	Attached(f projection.File) ([]byte, error)
	// Held returns how much memory the session's events take for as long as it is open, in bytes; 0
	// if they are in a file.
	Held() int
	// Backward yields the events in reverse order and reads only those that are consumed. An
	// error ends the sequence.
	Backward() iter.Seq2[journal.Event, error]
	// Save returns nil when all appended events are durable. state is the fold of all events,
	// which may be kept as a checkpoint; it is not modified.
	Save(state *projection.State) error
	// Recover recovers from an error that wraps journal.ErrPoisoned as journal.Log.Recover does.
	Recover(ctx context.Context) ([]journal.Event, error)
	// SetAside writes the events that the session may lack, and a batch that was not appended after them, to a file
	// as journal.Log.SetAside does. A Store without files writes none.
	SetAside(batch ...journal.Record) (journal.Unsaved, error)
	// Close saves and releases the session. Closing a closed Log does nothing.
	Close(state *projection.State) error
}

// Size returns about how much memory an event with the given payload takes, in bytes.
func Size(payload []byte) int { return len(payload) + 256 }

// TeamMismatchError is the error of Open for a session of another team.
type TeamMismatchError struct {
	SessionID string
	Want      string // the session's team
	Got       string // the requested team
}

func (e *TeamMismatchError) Error() string {
	return fmt.Sprintf("session %s belongs to team %q, not to %q", e.SessionID, e.Want, e.Got)
}

// UpgradeError is the error of Open for a session to which a newer version of the program wrote.
// Load returns what this version knows of it.
type UpgradeError struct {
	SessionID string
	Version   string // the format or the event type that is newer
}

func (e *UpgradeError) Error() string {
	return fmt.Sprintf("session %s was written by a newer version of agent-chatter", e.SessionID)
}

// InvalidIDError is the error of Create for an ID that no session can have.
type InvalidIDError struct{ SessionID string }

func (e *InvalidIDError) Error() string {
	return fmt.Sprintf("%.100q is no session ID: it must be a ULID in its canonical spelling", e.SessionID)
}

// CheckNewID returns an *InvalidIDError if Create rejects a session ID.
func CheckNewID(sessionID string) error {
	if sessionID != "" && !journal.ValidID(sessionID) {
		return &InvalidIDError{sessionID}
	}
	return nil
}

func notFound(sessionID string) error {
	return fmt.Errorf("session %s: %w", sessionID, journal.ErrNotFound)
}

// latest returns the first session of a list that can be resumed.
func latest(list []Summary, err error) (Summary, error) {
	if err != nil {
		return Summary{}, err
	}
	for _, session := range list {
		if session.MessageCount > 0 && session.Newer == "" {
			return session, nil
		}
	}
	return Summary{}, journal.ErrNotFound
}
