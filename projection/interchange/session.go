package interchange

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Session is a session of another program.
type Session struct {
	ID        string // a ULID, the same for every save of the session
	TeamID    string
	updatedAt time.Time
	Created   projection.SessionCreated
	CreatedAt time.Time
	Title     string // chosen by a person; "": none
	Task      *string
	Imported  projection.SessionImported // without its counts
	Branches  []Branch                   // the other branches of a rewound conversation, at most maxBranches
	// MoreBranches counts the branches beyond maxBranches. They are left out because
	// importing a branch reads the source again.
	MoreBranches int
	LeftOut      int // messages that only the other branches have

	idFormat string    // the name of the format in the hash that ID has
	sourceID string    // the other program's id of the session
	idTime   time.Time // the time in ID; zero: unknown, or not the same in every save

	// Sign returns ImportOrigin.Host, or "" if the origin must not be recorded, as for all if Sign is nil.
	Sign func(source string, o projection.ImportOrigin) string

	// conversation calls yield with each message and turn record until yield returns
	// false.
	conversation func(yield func(journal.Record) bool) (ended, error)
}

// ended is what is known of a conversation when it has been read.
type ended struct {
	skipped int                      // lines of the source
	origin  *projection.ImportOrigin // its session and point; nil: unknown
}

// A Branch returns the session of a branch.
type Branch func() (*Session, error)

// maxBranches is the maximum length of Session.Branches.
const maxBranches = 1000

func (s *Session) addBranch(b Branch) {
	if len(s.Branches) == maxBranches {
		s.MoreBranches++
		return
	}
	s.Branches = append(s.Branches, b)
}

// SetTeam makes s a session of the team. That changes its id unless the source's id is
// a ULID.
func (s *Session) SetTeam(team string) {
	s.TeamID, s.Created.Team.ID, s.Created.Team.Name = team, team, team
	s.ID = sessionID(s.idFormat, team, s.sourceID, s.idTime)
	s.Created.SessionID = s.ID
}

// SetID gives s another id, so that it is another session. id must be a
// result of CopyID.
func (s *Session) SetID(id string) { s.ID, s.Created.SessionID = id, id }

// CopyID returns the id of the nth copy of a session. It keeps the time in id. For
// n = 0, or if id is not a ULID, it returns id.
func CopyID(id string, n int) string {
	original, err := ulid.ParseStrict(id)
	if n == 0 || err != nil {
		return id
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "copy\x00%s\x00%d", id, n))
	copied := original
	_ = copied.SetEntropy(sum[:10]) // fails only for another length
	return copied.String()
}

// sessionID returns id if it is a ULID, else a ULID that is derived from it.
func sessionID(format, team, id string, created time.Time) string {
	if journal.ValidID(id) {
		return id
	}
	sum := sha256.Sum256([]byte(format + "\x00" + team + "\x00" + id))
	var derived ulid.ULID
	if ms := created.UnixMilli(); ms > 0 && uint64(ms) <= ulid.MaxTime() {
		_ = derived.SetTime(uint64(ms)) // fails only beyond MaxTime
	}
	_ = derived.SetEntropy(sum[:10]) // fails only for another length
	return derived.String()
}

// members converts speakers, all of them people or agents, to members.
func members(speakers []projection.Speaker) []projection.Member {
	members := []projection.Member{}
	for _, s := range speakers {
		members = append(members, projection.Member{ID: s.ID, Name: s.Name, DisplayName: s.DisplayName, Type: s.Type})
	}
	return members
}

// Records reads the source and yields the events of the session. The last one
// has the counts of messages and of skipped lines. An error, which may be
// ErrNoMessages, ends them.
func (s *Session) Records() iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		stopped, messages := false, 0
		emit := func(r journal.Record) bool {
			if !stopped {
				stopped = !yield(r, nil)
			}
			return !stopped
		}
		emit(projection.Record(s.CreatedAt, s.Created))
		if s.Title != "" {
			emit(projection.Record(s.CreatedAt, projection.SessionRenamed{Title: s.Title}))
		}
		end, err := s.conversation(func(r journal.Record) bool {
			if r.Type == messageType {
				messages++
			}
			return emit(r)
		})
		switch {
		case stopped:
			return
		case err != nil:
			yield(journal.Record{}, err)
			return
		}
		if s.Task != nil {
			emit(projection.Record(s.updatedAt, projection.TaskSet{Task: s.Task}))
		}
		imported := s.Imported
		imported.Taken, imported.Skipped, imported.Origin = messages, end.skipped, end.origin
		emit(projection.Record(time.Time{}, imported))
	}
}

var messageType = projection.TypeOf(projection.MessageAppended{})
