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

// Message is one message, in the shape of session snapshot v1.0.
type Message struct {
	ID        string   `json:"id"`
	Timestamp string   `json:"timestamp"` // RFC 3339, kept as it was written
	Speaker   Speaker  `json:"speaker"`
	Content   string   `json:"content"`
	Routing   *Routing `json:"routing,omitempty"`
}

// Speaker is who said a message. It keeps the names of the time it was said.
type Speaker struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	Type        string `json:"type"`
}

// Routing is whom a message addressed.
type Routing struct {
	RawNextMarkers     []string    `json:"rawNextMarkers"`
	ResolvedAddressees []Addressee `json:"resolvedAddressees"`
}

// Addressee is one name of a message's markers and the member it meant; nil
// when it meant nobody.
type Addressee struct {
	Identifier string  `json:"identifier"`
	MemberID   *string `json:"memberId"`
	MemberName *string `json:"memberName"`
}

// UnmarshalJSON reads the fields of today, or those that older versions of
// agent-chatter wrote: roleId, roleName, roleTitle.
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
		s.ID, s.Name = *both.RoleID, value(both.RoleName)
		s.DisplayName = s.Name
		if both.RoleTitle != nil {
			s.DisplayName = *both.RoleTitle
		}
	}
	return nil
}

// UnmarshalJSON reads the fields of today, or roleId and roleName.
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

// UnmarshalJSON reads lists that are missing as empty ones, since null is no
// list of a snapshot.
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

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// NewMessage is the payload of a message. Content may be any bytes: what is
// not UTF-8 becomes U+FFFD, and the bytes are kept beside.
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

// FormatTime writes a time as snapshots do: UTC, RFC 3339, milliseconds.
func FormatTime(t time.Time) string { return t.UTC().Format(timestampLayout) }

const timestampLayout = "2006-01-02T15:04:05.000Z"
