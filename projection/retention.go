package projection

// Retired is the data of the events in retention.jsonl, the journal of what retention
// did to the sessions of a team. A session's own journal may be gone.
type Retired struct {
	SessionID   string `json:"sessionId"`
	BytesBefore int64  `json:"bytesBefore"` // of the session's file
	BytesAfter  int64  `json:"bytesAfter"`
	Reason      string `json:"reason"`
}

// SessionArchived records that a session was compressed.
type SessionArchived struct{ Retired }

// SessionTrashed records that a session was moved to the trash.
type SessionTrashed struct{ Retired }

// SessionPurged records that a session is about to be removed from the trash
// permanently.
type SessionPurged struct{ Retired }

func (SessionArchived) eventType() string { return "session.archived" }
func (SessionTrashed) eventType() string  { return "session.trashed" }
func (SessionPurged) eventType() string   { return "session.purged" }
