package filechanges

import (
	"io"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection"
)

// rowJSON is the JSON output of a row. Scripts rely on it: fields are only added.
type rowJSON struct {
	Session string                  `json:"sessionId"`
	Seq     uint64                  `json:"seq"` // of the event that recorded it
	Turn    int                     `json:"turn,omitempty"`
	TurnID  string                  `json:"turnId,omitempty"`
	Member  string                  `json:"member,omitempty"` // its id; none: you or another program
	With    []string                `json:"with,omitempty"`   // the ids of turns that ran meanwhile
	Late    bool                    `json:"late,omitempty"`
	Dir     string                  `json:"dir"`
	Before  string                  `json:"before"`
	After   string                  `json:"after"`
	Changes []projection.FileChange `json:"changes"`
}

// skippedJSON is the JSON output of what the last capture of a directory has not.
type skippedJSON struct {
	Session     string                   `json:"sessionId"`
	Dir         string                   `json:"dir"`
	Skipped     []projection.SkippedFile `json:"skipped"`
	SkippedMore int                      `json:"skippedMore,omitempty"`
}

func (h *history) writeJSON(out io.Writer, rows []row) error {
	for _, r := range rows {
		line := rowJSON{
			Session: h.id, Seq: r.seq, Turn: r.turn, Dir: r.dir, Before: r.before, After: r.after, Changes: r.changes,
		}
		if p := r.changed; p != nil {
			line.TurnID, line.Member, line.With, line.Late = p.TurnID, p.MemberID, p.With, p.Late
		}
		if err := app.WriteJSON(out, line); err != nil {
			return err
		}
	}
	for _, dir := range h.capturedDirs() {
		p := h.captured[dir]
		if len(p.Skipped) == 0 {
			continue
		}
		if err := app.WriteJSON(out, skippedJSON{h.id, dir, p.Skipped, p.SkippedMore}); err != nil {
			return err
		}
	}
	return nil
}
