package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Audit compares the caches of one session with its journal while a caller
// reads the journal from its beginning.
type Audit struct {
	dir     *Dir
	id      string
	state   *projection.State
	at      journal.Position
	saved   *projection.State // the checkpoint
	savedAt journal.Position
	differs bool // the checkpoint is not the state at savedAt
}

// Audit begins an audit.
func (d *Dir) Audit(id string) *Audit {
	a := &Audit{dir: d, id: id, state: &projection.State{}}
	a.saved, a.savedAt = d.readCheckpoint(id)
	return a
}

// Apply takes the next event of the journal and the position after it. It returns the
// error of projection.Validate.
func (a *Audit) Apply(e journal.Event, at journal.Position) error {
	err := a.state.ApplyValidating(e)
	a.at = at
	if at == a.savedAt {
		a.differs = !sameJSON(a.state, a.saved)
	}
	return err
}

// MissingHeader returns an error if events were applied and none of them is
// session.created, else nil.
func (a *Audit) MissingHeader() *MissingHeaderError {
	if a.at.Seq == 0 || a.state.SessionID != "" {
		return nil
	}
	return &MissingHeaderError{ID: a.id, Reason: errNotSession.Error()}
}

// Other returns an error if the applied events are of another session than the one under whose name the journal is
// stored in the directory of its team, else nil.
func (a *Audit) Other() error {
	team := filepath.Base(a.dir.journals.Path())
	if a.state.SessionID == "" || a.state.SessionID == a.id && journal.DirName(a.state.Team.ID) == team {
		return nil
	}
	return fmt.Errorf("it is session %.40q of team %.80q, stored under another name",
		a.state.SessionID, a.state.Team.ID)
}

// RemoveInvalid removes the caches that contradict the applied events. For each it yields
// a description, and the error if the cache could not be removed. Caches that are outdated
// or cannot be read are left: readers ignore them.
func (a *Audit) RemoveInvalid() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if a.differs {
			err := a.dir.fs.Remove(a.dir.checkpointPath(a.id))
			if !yield(fmt.Sprintf("its checkpoint disagreed with event %d", a.savedAt.Seq), err) {
				return
			}
		}
		if !a.validRow() {
			yield("sessions.json disagreed with its journal", a.dir.fs.Remove(a.dir.indexPath()))
		}
	}
}

// validRow reports whether the row of the index is the one that is computed from the
// journal. One that is missing, outdated or damaged is not compared, and counts as valid.
func (a *Audit) validRow() bool {
	known := a.dir.auditedRow(a.id)
	info, err := a.dir.journals.Stat(a.id)
	if err != nil || !known.describes(info) || known.Damaged != "" || known.LastSeq != a.at.Seq {
		return true
	}
	if a.MissingHeader() != nil {
		return false
	}
	fresh := newRow(info, a.state, a.at)
	fresh.noteLost(known)
	fresh.Summary = fresh.Row.Summary()
	return sameJSON(known, fresh)
}

// auditedRow returns the row of a session with its summary. The index is read
// once for the audits of all sessions, unless it is replaced in between.
func (d *Dir) auditedRow(id string) row {
	var r row
	info, err := d.fs.Stat(d.indexPath())
	if err != nil {
		return r
	}
	d.audited.Lock()
	defer d.audited.Unlock()
	last := d.audited.file
	if last == nil || !d.fs.SameFile(last, info) ||
		last.Size() != info.Size() || !last.ModTime().Equal(info.ModTime()) {
		d.audited.file, d.audited.index = info, d.readIndex()
	}
	if json.Unmarshal([]byte(d.audited.index.lines[id]), &r) != nil {
		return row{}
	}
	return r
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// knownName matches the names of this program's files and of their temporary files.
var knownName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(archive|trash|sessions\.(json|lock)|retention\.(jsonl|lock|aside-[0-9]+)|` +
		`[0-9A-HJKMNP-TV-Z]{26}\.(jsonl|checkpoint\.json|hub\.json|lock|attachments|aside-[0-9]+))` +
		`((\.[0-9a-f]{8})?\.tmp)?$`)
})

// UnknownFiles returns the names in the directory that are not of this program, in
// order. It does not read these files.
func (d *Dir) UnknownFiles() ([]string, error) {
	entries, err := d.fs.ReadDir(d.journals.Path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var unknown []string
	for _, entry := range entries {
		want := fs.FileMode(0)
		if entry.Name() == "archive" || entry.Name() == "trash" || strings.HasSuffix(entry.Name(), ".attachments") {
			want = fs.ModeDir
		}
		if kind := entry.Type(); !knownName().MatchString(entry.Name()) || kind != fs.ModeSymlink && kind != want {
			unknown = append(unknown, entry.Name())
		}
	}
	slices.Sort(unknown)
	return unknown, nil
}

// EmptyJournals returns the journals that have bytes but no valid line: what a
// power cut leaves of a session while it is created, or a file of another
// program. Lists do not show them.
func (d *Dir) EmptyJournals(ctx context.Context) ([]Session, error) {
	infos, err := d.journals.List(ctx)
	if err != nil {
		return nil, err
	}
	known := d.readIndex()
	var empty []Session
	for _, info := range infos {
		r, _ := d.currentRow(ctx, info, known.row(info.ID))
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.empty() && info.Size > 0 {
			empty = append(empty, d.session(&r))
		}
	}
	return empty, nil
}
