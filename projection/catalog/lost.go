package catalog

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// lostEntries returns the rows of the index whose journals are missing although no
// command of this program removed them. Rows of removed journals stay in the index of a
// large team for a while. A row of another team, as in a copied index, is not a session
// of this directory.
func (d *Dir) lostEntries(infos []journal.Info, known index) []*Entry {
	exists := make(map[string]bool, len(infos))
	for _, info := range infos {
		exists[info.ID] = true
	}
	var lost []*Entry
	for id, line := range known.lines {
		if exists[id] {
			continue
		}
		r, ok := decodeRow(line)
		if ok && r.ID == id && journal.DirName(r.TeamID) == filepath.Base(d.journals.Path()) {
			lost = append(lost, d.indexedEntry(&r, line))
		}
	}
	if len(lost) == 0 {
		return nil
	}
	removed := d.removedSessions()
	lost = slices.DeleteFunc(lost, func(e *Entry) bool {
		_, err := d.journals.Stat(e.id) // it may have been created after infos was read
		return err == nil || removed[e.id]
	})
	slices.SortFunc(lost, func(a, b *Entry) int { return strings.Compare(a.id, b.id) })
	return lost
}

// removedSessions returns the ids of the sessions that are in the trash, or that
// retention trashed or purged.
func (d *Dir) removedSessions() map[string]bool {
	removed := map[string]bool{}
	if items, err := trash.Of(d.journals).List(); err == nil {
		for _, item := range items {
			removed[item.ID] = true
		}
	}
	// Each event has the id of its session. If the file is damaged, some ids may be missing.
	history, _ := vfs.ReadFile(d.fs, filepath.Join(d.journals.Path(), "retention.jsonl"), maxCache)
	for line := range bytes.Lines(history) {
		_, rest, ok := bytes.Cut(line, []byte(`"sessionId":"`))
		id, _, closed := bytes.Cut(rest, []byte(`"`))
		if ok && closed && !bytes.Contains(line, []byte(`"session.archived"`)) {
			removed[string(id)] = true
		}
	}
	return removed
}
