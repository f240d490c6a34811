package projection

// What retention did to a session is not in the session's journal, which may be
// gone, but in one of the team, retention.jsonl.

// Retired is what the events of a retention journal tell of a session.
type Retired struct {
	SessionID   string `json:"sessionId"`
	BytesBefore int64  `json:"bytesBefore"` // of its file
	BytesAfter  int64  `json:"bytesAfter"`
	Reason      string `json:"reason"`
}

// SessionArchived says that a session was compressed.
type SessionArchived struct{ Retired }

// SessionTrashed says that a session was moved to the trash.
type SessionTrashed struct{ Retired }

// SessionPurged says that a session is removed from the trash, for good. It is
// recorded before that is done.
type SessionPurged struct{ Retired }

func (SessionArchived) eventType() string { return "session.archived" }
func (SessionTrashed) eventType() string  { return "session.trashed" }
func (SessionPurged) eventType() string   { return "session.purged" }
