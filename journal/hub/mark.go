package hub

import (
	"encoding/json"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal"
)

// markSuffix ends the name of the file that holds the mark of a session, beside its journal.
const markSuffix = ".hub.json"

// maxMark bounds the size of such a file in bytes.
const maxMark = 64 << 10

// MarkPath returns the path of the file with the mark of a session.
func MarkPath(dir *journal.Dir, id string) string { return filepath.Join(dir.Path(), id+markSuffix) }

// ReadMark returns the mark of a session, or the zero Mark if there is none that can be read.
func ReadMark(fsys journal.FS, dir *journal.Dir, id string) (m Mark) {
	data, err := journal.ReadFile(fsys, MarkPath(dir, id), maxMark)
	if err != nil || json.Unmarshal(data, &m) != nil {
		return Mark{}
	}
	return m
}

// WriteMark replaces the mark of a session. If it is lost, the next claim of this machine has to take
// over its last one, and the history is read from its beginning.
func WriteMark(fsys journal.FS, dir *journal.Dir, id string, m Mark) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return journal.WriteFile(fsys, MarkPath(dir, id), append(data, '\n'))
}
