package replica

import (
	"encoding/json"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// Row is what the hub says of a session for lists. It is a hint, of the time when the last message was
// published.
type Row struct {
	TeamID    string    `json:"teamId"`
	Title     string    `json:"title,omitempty"`
	Preview   string    `json:"preview,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Messages  int       `json:"messages"`
	Ended     string    `json:"ended,omitempty"`
}

// The bounds of texts in a Row in bytes: escaped as JSON, they fit into what package hub takes.
const (
	maxRowTitle   = 120
	maxRowTeam    = 64
	maxRowPreview = 60
)

func newRow(teamID string, r projection.Row) Row {
	return Row{
		TeamID: runecut.Prefix(teamID, maxRowTeam), Title: runecut.Prefix(r.Title, maxRowTitle),
		Preview: runecut.Prefix(r.Preview, maxRowPreview), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		Messages: r.MessageCount, Ended: r.Ended,
	}
}

// rowOf returns the row of a session.
func rowOf(s catalog.Session) Row { return newRow(s.TeamID, s.Row) }

// RowOfState returns the row of a session that is open.
func RowOfState(s *projection.State) Row { return newRow(s.Team.ID, s.Row) }

// DecodeRow decodes the row of a session, the zero Row if it has none that can be read.
func DecodeRow(r hub.Row) (row Row) {
	if json.Unmarshal(r.Row, &row) != nil {
		return Row{}
	}
	row.Messages = max(row.Messages, 0)
	return row
}
