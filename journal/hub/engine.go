package hub

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Session names a session on the hub.
type Session struct {
	Team string // name of the team's directory
	ID   string // a ULID
}

// Valid reports whether the names can be those of a directory and a file: any client that may publish to the engine
// can store messages of any session.
func (s Session) Valid() bool {
	if !journal.ValidID(s.ID) || len(s.Team) > maxTeam || strings.Trim(s.Team, teamBytes) != "" {
		return false
	}
	if journal.DirName(s.Team) == s.Team {
		return true
	}
	// Of any other team, the name ends in a hash. Without one, a file system that ignores case would have another
	// team's directory under the name.
	hash := s.Team[strings.LastIndexByte(s.Team, '-')+1:]
	return len(hash) == 8 && len(hash) < len(s.Team) && strings.Trim(hash, "0123456789abcdef") == ""
}

const (
	maxTeam   = 64 // of the name of a team's directory, in bytes
	teamBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
)

// Revision is the number of a message among the messages of an engine, from 1 on: the later
// message has the higher one. 0 is before all messages.
type Revision uint64

// Message is what an Engine stores.
type Message struct {
	Head []byte // a JSON object in one line, at most MaxHead bytes
	Body []byte // at most Engine.MaxBody bytes
}

// MaxHead is the largest head of a message in bytes.
const MaxHead = 6 << 10

// Stored is a message that an Engine has stored.
type Stored struct {
	Message
	Session  Session
	Revision Revision
}

// Engine stores the messages of sessions. Its methods may be called concurrently, and
// return when ctx is done.
//
// The errors are *ConflictError, ErrMissing, ErrNewer, *UnavailableError, *RefusedError, and
// that of ctx.
type Engine interface {
	// Publish stores a message as the last one of a session, if last is the revision of the
	// session's last message; 0: it has none. It returns the revision of the stored message.
	// After a *ConflictError and a *RefusedError it is not stored. After another error, it may
	// be stored. The bytes of m are not used after Publish has returned.
	Publish(ctx context.Context, s Session, last Revision, m Message) (Revision, error)

	// Read yields the messages of a session after a revision, in their order, at least up to the one
	// that was the last when Read was called. The bytes of a message are valid until the next one.
	Read(ctx context.Context, s Session, after Revision) iter.Seq2[Stored, error]

	// Last returns the last message of a session without its body; Revision 0: there is none.
	Last(ctx context.Context, s Session) (Stored, error)

	// List yields the last message of each session of a team, or of all teams if team is "",
	// without its body, in any order.
	List(ctx context.Context, team string) iter.Seq2[Stored, error]

	// Watch calls changed with the last message of each session of a team, or of all teams if team is "", without
	// its body, and then with each message that is stored, until ctx is done. Messages may be omitted while the engine
	// cannot be reached, and are repeated after that. changed is not called concurrently. Errors: that of ctx,
	// *RefusedError, ErrNewer.
	Watch(ctx context.Context, team string, changed func(Stored)) error

	// Purge removes the messages of a session before a revision.
	Purge(ctx context.Context, s Session, before Revision) error

	// MaxBody returns the largest body of a message in bytes.
	MaxBody() int

	// Warnings returns the settings of the server with which the engine may lose messages, as sentences without a
	// capital and a period; they were read when the engine connected. nil: there are none.
	Warnings() []string

	// Name returns a random name that the engine got when it was created. An engine that was
	// created again has another.
	Name() string

	// Clock returns the time on the server.
	Clock(ctx context.Context) (time.Time, error)

	// Connections returns how often the engine has connected. After another connection, revisions are
	// not relied on before the session was read again.
	Connections() uint64

	// Close ends the connection.
	Close()
}

var (
	// ErrMissing is returned if the hub was not created yet, or was deleted.
	ErrMissing = errors.New("the hub does not exist")
	// ErrNewer is returned if a newer version of the program has written to the hub.
	ErrNewer = errors.New("a newer version of the program has written to the hub")
	// ErrPurged is returned for a session that was purged from the hub.
	ErrPurged = errors.New("the session was purged from the hub")
)

// ConflictError reports that a session has another last message than Publish expected.
type ConflictError struct{ Session Session }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("session %s: another message was stored", e.Session.ID)
}

// isConflict reports whether an error is a *ConflictError.
func isConflict(err error) bool { return errors.As(err, new(*ConflictError)) }

// UnavailableError reports that the engine cannot be reached or does not answer.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string { return "the hub cannot be reached: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// RefusedError reports that the engine answered with a refusal, such as missing permission or
// a full disk.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return "the hub refused the request: " + e.Reason }
