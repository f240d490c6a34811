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

func (t *Dir) checkpointPath(id string) string {
	return filepath.Join(t.journals.Path(), id+".checkpoint.json")
}

// WriteCheckpoint keeps the state that a session has at a place in its journal.
func (t *Dir) WriteCheckpoint(id string, state *projection.State, at journal.Position) error {
	data, err := json.Marshal(checkpoint{FoldVersion: projection.FoldVersion, Position: at, State: state})
	if err != nil {
		return err
	}
	return journal.WriteFile(t.fs, t.checkpointPath(id), append(data, '\n'))
}

// checkpoint reads a session's checkpoint; anything that is wrong with it makes
// it the beginning of the journal.
func (t *Dir) checkpoint(id string) (*projection.State, journal.Position) {
	none := &projection.State{}
	data, err := journal.ReadFile(t.fs, t.checkpointPath(id), maxCache)
	if err != nil {
		return none, journal.Position{}
	}
	c, ok := decodeCheckpoint(data)
	if !ok || c.FoldVersion != projection.FoldVersion || c.Seq == 0 ||
		c.State == nil || c.State.Seq != c.Seq || c.State.SessionID == "" {
		return none, journal.Position{}
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

// dropCheckpoint removes a checkpoint. One that stays does no harm.
func (t *Dir) dropCheckpoint(id string) { t.fs.Remove(t.checkpointPath(id)) }
