package projection

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// The types of speakers and members.
const (
	TypeAI     = "ai"
	TypeHuman  = "human"
	TypeSystem = "system"
)

// Message is a message in the shape of session snapshot v1.0.
type Message struct {
	ID        string   `json:"id"`
	Timestamp string   `json:"timestamp"` // RFC 3339, as it was written
	Speaker   Speaker  `json:"speaker"`
	Content   string   `json:"content"`
	Routing   *Routing `json:"routing,omitempty"`
}

// Speaker is the author of a message, with the names of the time of the message.
type Speaker struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	Type        string `json:"type"`
}

// Routing is the members that a message addressed.
type Routing struct {
	RawNextMarkers     []string    `json:"rawNextMarkers"`
	ResolvedAddressees []Addressee `json:"resolvedAddressees"`
}

// Addressee is a name in a marker of a message and the member that it matched; nil if
// it matched none.
type Addressee struct {
	Identifier string  `json:"identifier"`
	MemberID   *string `json:"memberId"`
	MemberName *string `json:"memberName"`
}

// UnmarshalJSON also decodes the fields that older versions of agent-chatter wrote:
// roleId, roleName, roleTitle.
func (s *Speaker) UnmarshalJSON(data []byte) error {
	type current Speaker
	var both struct {
		current
		RoleID    *string `json:"roleId"`
		RoleName  *string `json:"roleName"`
		RoleTitle *string `json:"roleTitle"`
	}
	if err := json.Unmarshal(data, &both); err != nil {
		return err
	}
	*s = Speaker(both.current)
	if s.ID == "" && both.RoleID != nil {
		s.ID, s.Name = *both.RoleID, ""
		if both.RoleName != nil {
			s.Name = *both.RoleName
		}
		s.DisplayName = s.Name
		if both.RoleTitle != nil {
			s.DisplayName = *both.RoleTitle
		}
	}
	return nil
}

// UnmarshalJSON also decodes the older fields roleId and roleName.
func (a *Addressee) UnmarshalJSON(data []byte) error {
	type current Addressee
	var both struct {
		current
		RoleID   *string `json:"roleId"`
		RoleName *string `json:"roleName"`
	}
	if err := json.Unmarshal(data, &both); err != nil {
		return err
	}
	*a = Addressee(both.current)
	if a.MemberID == nil {
		a.MemberID = both.RoleID
	}
	if a.MemberName == nil {
		a.MemberName = both.RoleName
	}
	return nil
}

// UnmarshalJSON decodes missing lists as empty ones, because snapshots do not allow
// null.
func (r *Routing) UnmarshalJSON(data []byte) error {
	type current Routing
	if err := json.Unmarshal(data, (*current)(r)); err != nil {
		return err
	}
	*r = *r.withLists()
	return nil
}

func (r *Routing) withLists() *Routing {
	if r == nil {
		return nil
	}
	full := *r
	if full.RawNextMarkers == nil {
		full.RawNextMarkers = []string{}
	}
	if full.ResolvedAddressees == nil {
		full.ResolvedAddressees = []Addressee{}
	}
	return &full
}

// NewMessage returns the payload of a message. Content may be any bytes: if they are
// not valid UTF-8, the payload has them in Raw, too.
func NewMessage(id string, at time.Time, by Speaker, content string, routing *Routing) MessageAppended {
	p := MessageAppended{Message: Message{
		ID: id, Timestamp: FormatTime(at), Speaker: by, Content: content, Routing: routing.withLists(),
	}}
	if !utf8.ValidString(content) {
		p.Raw = []byte(content)
		p.Message.Content = strings.ToValidUTF8(content, "\uFFFD")
	}
	return p
}

// repliesIn reports whether the message is the reply of an open turn that has none.
func (p MessageAppended) repliesIn(turnID, memberID string) bool {
	if p.TurnID != "" {
		return p.TurnID == turnID
	}
	return p.Message.Speaker.ID == memberID
}

// FormatTime formats a time as in snapshots: UTC, RFC 3339, milliseconds.
func FormatTime(t time.Time) string { return t.UTC().Format(timestampLayout) }

const timestampLayout = "2006-01-02T15:04:05.000Z"
