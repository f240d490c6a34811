package hub

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// markSuffix ends the name of the file that holds the mark of a session, beside its journal.
const markSuffix = ".hub.json"

// maxMark bounds the size of such a file in bytes.
const maxMark = 64 << 10

// MarkPath returns the path of the file with the mark of a session.
func MarkPath(dir *journal.Dir, id string) string { return filepath.Join(dir.Path(), id+markSuffix) }

// ReadMark returns the mark of a session, or the zero Mark if there is none that can be read.
func ReadMark(fsys vfs.FS, dir *journal.Dir, id string) (m Mark) {
	data, err := vfs.ReadFile(fsys, MarkPath(dir, id), maxMark)
	if err != nil || json.Unmarshal(data, &m) != nil {
		return Mark{}
	}
	return m
}

// WriteMark replaces the mark of a session. If it is lost, the next claim of this machine has to take
// over its last one, and the history is read from its beginning.
func WriteMark(fsys vfs.FS, dir *journal.Dir, id string, m Mark) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return vfs.WriteFile(fsys, MarkPath(dir, id), append(data, '\n'))
}

// MarkCopy notes, before a session is written, that it has events of other sessions of its directory: what is sealed
// on the hub is not shipped as a copy in plain text. Without marks of those sessions it notes them if always is set.
func MarkCopy(fsys vfs.FS, dir *journal.Dir, id string, always bool, of ...string) error {
	m := ReadMark(fsys, dir, id)
	for _, other := range of {
		if source := ReadMark(fsys, dir, other); source.known() {
			m.Sealed = m.Sealed || source.Sealed
			always = true
		}
	}
	for _, other := range of {
		if !slices.Contains(m.Copies, other) {
			m.Copies = append(m.Copies, other)
		}
	}
	if !always {
		return nil
	}
	return WriteMark(fsys, dir, id, m)
}

// known reports whether the session, or one that it copies, was on a hub.
func (m Mark) known() bool { return m.Revision > 0 || m.Sealed || len(m.Copies) > 0 }
