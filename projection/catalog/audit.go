package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"sync"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Audit compares the caches of one session with its journal, while somebody
// reads that from its beginning.
type Audit struct {
	team   *Dir
	id     string
	state  *projection.State
	at     journal.Position
	kept   *projection.State // the checkpoint's
	keptAt journal.Position
	wrong  bool // the checkpoint is not what the journal amounts to there
}

// Audit begins an audit.
func (t *Dir) Audit(id string) *Audit {
	a := &Audit{team: t, id: id, state: &projection.State{}}
	a.kept, a.keptAt = t.checkpoint(id)
	return a
}

// Apply takes the next event of the journal, which ends at a position.
func (a *Audit) Apply(e journal.Event, at journal.Position) {
	a.state.Apply(e)
	a.at = at
	if at == a.keptAt {
		a.wrong = !sameJSON(a.state, a.kept)
	}
}

// MissingHeader says that what was read is no session; nil: it is one, or nothing was
// read.
func (a *Audit) MissingHeader() *MissingHeaderError {
	if a.at.Seq == 0 || a.state.SessionID != "" {
		return nil
	}
	return &MissingHeaderError{a.id, errNotSession.Error()}
}

// RemoveInvalid removes the caches that say something wrong of the journal as far as it
// was read, and returns what each of them had wrong. Caches that are out of
// date, or cannot be read, are not wrong: nobody believes them.
func (a *Audit) RemoveInvalid() (mended []string, err error) {
	if a.wrong {
		err = a.team.fs.Remove(a.team.checkpointPath(a.id))
		mended = append(mended, fmt.Sprintf("its checkpoint did not agree with event %d", a.keptAt.Seq))
	}
	if !a.indexed() {
		err = errors.Join(err, a.team.fs.Remove(a.team.indexPath()))
		mended = append(mended, "sessions.json did not agree with it")
	}
	return mended, err
}

// indexed reports whether the row of the index, if it counts, is the one that
// the journal gives.
func (a *Audit) indexed() bool {
	known := a.team.auditedRow(a.id)
	info, err := a.team.journals.Stat(a.id)
	if known.ID == "" || err != nil || !known.describes(info) || known.Damaged != "" || known.LastSeq != a.at.Seq {
		return true
	}
	if a.MissingHeader() != nil {
		return false
	}
	fresh := newRow(info, a.state, a.at)
	fresh.remember(known)
	fresh.Summary = fresh.Row.Summary()
	return sameJSON(known, fresh)
}

// auditedRow is what the index says of a session. Audits of a whole team read
// it once, as long as nobody replaces it.
func (t *Dir) auditedRow(id string) row {
	var r row
	info, err := t.fs.Stat(t.indexPath())
	if err != nil {
		return r
	}
	t.audited.Lock()
	defer t.audited.Unlock()
	if last := t.audited.file; last == nil || !t.fs.SameFile(last, info) || last.Size() != info.Size() || !last.ModTime().Equal(info.ModTime()) {
		t.audited.file, t.audited.index = info, t.readIndex()
	}
	if json.Unmarshal([]byte(t.audited.index.lines[id]), &r) != nil {
		return row{}
	}
	return r // with the summary
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

var ours = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(archive|trash|sessions\.(json|lock)|retention\.(jsonl|lock)|` +
		`[0-9A-HJKMNP-TV-Z]{26}\.(jsonl|checkpoint\.json|lock|aside-[0-9]+))((\.[0-9a-f]{8})?\.tmp)?$`)
})

// ourType is what we have under a name, unless it is a link.
func ourType(name string) fs.FileMode {
	if name == "archive" || name == "trash" {
		return fs.ModeDir
	}
	return 0
}

// UnknownFiles are the names in the team's directory that are none of ours.
// Nobody reads them, and nobody removes them.
func (t *Dir) UnknownFiles() ([]string, error) {
	entries, err := t.fs.ReadDir(t.journals.Path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var strangers []string
	for _, entry := range entries {
		kind := entry.Type()
		if !ours().MatchString(entry.Name()) || kind != fs.ModeSymlink && kind != ourType(entry.Name()) {
			strangers = append(strangers, entry.Name())
		}
	}
	return strangers, nil
}

// EmptyJournals are the journals of the team that have bytes, of which not one line
// checks: what a power cut leaves of a session in the moment of its creation,
// or a file of somebody else. Lists do not show them.
func (t *Dir) EmptyJournals() ([]journal.Info, error) {
	infos, err := t.journals.List()
	if err != nil {
		return nil, err
	}
	known := t.readIndex()
	var empty []journal.Info
	for _, info := range infos {
		if r, _ := t.rowOf(info, known.row(info.ID)); r.empty() && info.Size > 0 {
			empty = append(empty, info)
		}
	}
	return empty, nil
}
