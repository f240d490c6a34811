package catalog

import (
	"bytes"
	"encoding/json"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
	"github.com/agent-chatter/agent-chatter/projection"
)

// checkpoint is the content of a checkpoint file.
type checkpoint struct {
	FoldVersion int `json:"foldVersion"`
	journal.Position
	State *projection.State `json:"state"`
}

func (d *Dir) checkpointPath(id string) string {
	return filepath.Join(d.journals.Path(), id+".checkpoint.json")
}

// WriteCheckpoint writes the state that a session has at a position of its
// journal, in place of the last checkpoint.
func (d *Dir) WriteCheckpoint(id string, state *projection.State, at journal.Position) error {
	data, err := json.Marshal(checkpoint{FoldVersion: projection.FoldVersion, Position: at, State: state})
	if err != nil {
		return err
	}
	return journal.WriteFile(d.fs, d.checkpointPath(id), append(data, '\n'))
}

// readCheckpoint returns the state and position of a session's checkpoint, or
// those of the beginning if there is no valid one.
func (d *Dir) readCheckpoint(id string) (*projection.State, journal.Position) {
	beginning := &projection.State{}
	data, err := journal.ReadFile(d.fs, d.checkpointPath(id), maxCache)
	if err != nil {
		return beginning, journal.Position{}
	}
	c, ok := decodeCheckpoint(data)
	if !ok || c.FoldVersion != projection.FoldVersion || c.Seq == 0 ||
		c.State == nil || c.State.Seq != c.Seq || c.State.SessionID == "" {
		return beginning, journal.Position{}
	}
	return c.State, c.Position
}

func decodeCheckpoint(data []byte) (c checkpoint, ok bool) {
	if layout.Decode(bytes.TrimSuffix(data, []byte("\n")), &c) {
		return c, true
	}
	c = checkpoint{}
	err := json.Unmarshal(data, &c)
	return c, err == nil
}

// removeCheckpoint removes a checkpoint. One that stays does no harm.
func (d *Dir) removeCheckpoint(id string) { d.fs.Remove(d.checkpointPath(id)) }
