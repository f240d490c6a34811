package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
)

// checkpoint is the content of a checkpoint file. A sum of its own bytes follows it.
type checkpoint struct {
	FoldVersion int `json:"foldVersion"`
	journal.Position
	State *projection.State `json:"state"`
}

// checksum returns the end of a checkpoint: the sum of the bytes before it, in the form
// in which a line of a journal ends. A state with a changed bit would change what
// agents are asked.
func checksum(body []byte) []byte {
	return fmt.Appendf(nil, `,"checksum":"%08x"}`+"\n", crc32.Checksum(body, castagnoli))
}

var (
	castagnoli   = crc32.MakeTable(crc32.Castagnoli)
	checksumSize = len(checksum(nil))
)

func (d *Dir) checkpointPath(id string) string {
	return filepath.Join(d.journals.Path(), id+".checkpoint.json")
}

// WriteCheckpoint writes the state that a session has at a position of its
// journal, in place of the last checkpoint.
func (d *Dir) WriteCheckpoint(id string, state *projection.State, at journal.Position) error {
	data, err := encodeCheckpoint(state, at)
	if err != nil {
		return err
	}
	return vfs.WriteFile(d.fs, d.checkpointPath(id), data)
}

// NewCheckpointSize returns the size in bytes of the checkpoint that WriteCheckpoint would write.
func NewCheckpointSize(state *projection.State, at journal.Position) (int64, error) {
	data, err := encodeCheckpoint(state, at)
	return int64(len(data)), err
}

func encodeCheckpoint(state *projection.State, at journal.Position) ([]byte, error) {
	data, err := json.Marshal(checkpoint{FoldVersion: projection.FoldVersion, Position: at, State: state})
	if err != nil {
		return nil, err
	}
	body := bytes.TrimSuffix(data, []byte("}"))
	return append(body, checksum(body)...), nil
}

// CheckpointSize returns the size of a session's checkpoint in bytes, 0 if there is none.
func (d *Dir) CheckpointSize(id string) int64 {
	info, err := d.fs.Stat(d.checkpointPath(id))
	if err != nil {
		return 0
	}
	return info.Size()
}

// readCheckpoint returns the state and position of a session's checkpoint, or
// those of the beginning if there is no valid one. A checkpoint of an earlier version
// of the program, which has no checksum, is not valid.
func (d *Dir) readCheckpoint(id string) (*projection.State, journal.Position) {
	beginning := &projection.State{}
	data, err := vfs.ReadFile(d.fs, d.checkpointPath(id), maxCache)
	if err != nil {
		return beginning, journal.Position{}
	}
	c, ok := decodeCheckpoint(withoutChecksum(data))
	if !ok || c.FoldVersion != projection.FoldVersion || c.Seq == 0 ||
		c.State == nil || c.State.Seq != c.Seq || c.State.SessionID == "" {
		return beginning, journal.Position{}
	}
	return c.State, c.Position
}

// withoutChecksum returns the object to which WriteCheckpoint added the checksum, in the
// same memory, or nil if the checksum does not match.
func withoutChecksum(data []byte) (object []byte) {
	end := len(data) - checksumSize
	if end < 0 || !bytes.Equal(data[end:], checksum(data[:end])) {
		return nil
	}
	return append(data[:end], '}')
}

func decodeCheckpoint(object []byte) (c checkpoint, ok bool) {
	if layout.Decode(object, &c) {
		return c, true
	}
	c = checkpoint{}
	err := json.Unmarshal(object, &c)
	return c, err == nil
}

// removeCheckpoint removes a checkpoint. One that stays does no harm.
func (d *Dir) removeCheckpoint(id string) { d.fs.Remove(d.checkpointPath(id)) }
