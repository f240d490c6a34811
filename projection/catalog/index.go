package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
)

const (
	indexVersion = "1.0.0"
	// manySessions is the number of sessions from which the index is not rewritten
	// for one of them.
	manySessions = 1000
	// rowBytes is the approximate size of a row in the index. foldBytes is the
	// cost of opening a journal, as a number of bytes read.
	rowBytes  = 600
	foldBytes = 16 << 10
	// maxCache is the limit of an index or a checkpoint, in bytes. A longer file
	// is ignored and replaced.
	maxCache = 256 << 20
)

// The index has one row on each line, so that one can be read without decoding
// the others.
const (
	indexHead = `{"version":"` + indexVersion + `","sessions":[` + "\n"
	indexNext = ",\n"
	indexEnd  = "\n]"
)

// indexFile is the content of sessions.json.
type indexFile struct {
	Version   string            `json:"version"`
	Sessions  []json.RawMessage `json:"sessions"`
	UpdatedAt time.Time         `json:"updatedAt"`
}

// index is the part of sessions.json that could be read. The zero index has no rows.
type index struct {
	lines    map[string]string // rows as they are in the file, by session id
	reformat bool              // the file does not have one row on each line
}

func (x index) row(id string) row {
	r, _ := decodeRow(x.lines[id])
	return r
}

func (d *Dir) indexPath() string { return filepath.Join(d.journals.Path(), "sessions.json") }

// readIndex reads the index. Invalid rows are left out, and an index that
// cannot be read has no rows.
func (d *Dir) readIndex() index {
	text := d.indexText()
	rows, ok := cutRows(text)
	if !ok {
		return parseIndex(text)
	}
	x := index{lines: make(map[string]string, len(rows)/rowBytes)}
	for line := range strings.SplitSeq(rows, indexNext) {
		if id := idOf(line); id != "" {
			x.lines[id] = line
		}
	}
	return x
}

// idOf returns the session id in a row, or "" if the row is invalid.
func idOf(line string) string {
	if rest, ok := strings.CutPrefix(line, `{"id":"`); ok {
		if id, _, ok := strings.Cut(rest, `"`); ok && journal.ValidID(id) {
			return id
		}
	}
	r, _ := decodeRow(line)
	return r.ID
}

// indexText returns the content of the index, or "" if it cannot be read.
func (d *Dir) indexText() string {
	f, err := d.fs.OpenFile(d.indexPath(), os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() > maxCache {
		return ""
	}
	var text strings.Builder
	text.Grow(int(info.Size()))
	if _, err := io.Copy(&text, io.LimitReader(f, maxCache)); err != nil {
		return ""
	}
	return text.String()
}

// cutRows returns the rows of an index that has one on each line.
func cutRows(text string) (rows string, ok bool) {
	text, ok = strings.CutPrefix(text, indexHead)
	end := strings.LastIndex(text, indexEnd)
	if !ok || end < 0 {
		return "", false
	}
	return text[:end], true
}

// parseIndex reads an index in any JSON layout, as another program writes it.
func parseIndex(text string) index {
	var file indexFile
	if json.Unmarshal([]byte(text), &file) != nil || file.Version != indexVersion {
		return index{}
	}
	x := index{lines: make(map[string]string, len(file.Sessions)), reformat: true}
	for _, line := range file.Sessions {
		x.lines[idOf(string(line))] = string(line)
	}
	return x
}

// readRow returns the row of one session without decoding the others.
func (d *Dir) readRow(id string) row {
	if d.hasRows(manySessions) {
		if rows := d.openRows(); rows != nil {
			defer rows.file.Close()
			r, _ := decodeRow(rows.find(rowPrefix + id + `"`))
			return r
		}
	}
	text := d.indexText()
	if at := strings.Index(text, `{"id":"`+id+`"`); at >= 0 {
		line, _, _ := strings.Cut(text[at:], "\n")
		if r, ok := decodeRow(strings.TrimSuffix(line, ",")); ok && r.ID == id {
			return r
		}
	}
	if _, ok := cutRows(text); ok {
		return row{}
	}
	return parseIndex(text).row(id)
}

// UpdateIndex brings the row of a session up to date when its writer closes it.
// It does nothing if state and position are not those of the journal's end, and
// leaves the index of a large team to the lists: rewriting it costs more than
// the next list saves.
func (d *Dir) UpdateIndex(id string, state *projection.State, at journal.Position) {
	info, err := d.journals.Stat(id)
	if err != nil || at.Seq == 0 || state.SessionID == "" || state.Seq != at.Seq ||
		!info.Archived && info.Size != at.Offset {
		return
	}
	r := newRow(info, state, at)
	d.updateRows(map[string]*row{id: &r})
}

// updateRows replaces rows, or removes those that are nil. For few rows, the index
// of a large team is not even read. Errors are ignored: a list works without the
// index.
func (d *Dir) updateRows(changed map[string]*row) {
	learned := int64(len(changed)) * foldBytes
	info, err := d.fs.Stat(d.indexPath())
	const maxRow = 4 * rowBytes // so that the number of rows is rather underestimated
	if len(changed) == 0 || err == nil && !worthWriting(int(info.Size()/maxRow), learned) {
		return
	}
	lock, err := d.lockIndex()
	if err != nil {
		return
	}
	defer lock.Close()
	known := d.readIndex()
	if !worthWriting(len(known.lines), learned) {
		return
	}
	var entries []*Entry
	for id, line := range known.lines {
		if _, ok := changed[id]; ok {
			continue
		}
		if r, ok := decodeRow(line); ok {
			entries = append(entries, d.indexedEntry(&r, line))
		}
	}
	for _, r := range changed {
		if r != nil {
			entries = append(entries, d.entryOf(r))
		}
	}
	d.replaceIndex(entries)
}

// Forget removes the row of a session from the index, and its checkpoint: the journal is about to be replaced, or was,
// by one that may have fewer events. With the row, those would count as lost. Errors are ignored: then the session
// is reported as Truncated.
func (d *Dir) Forget(id string) {
	d.removeCheckpoint(id)
	lock, err := d.lockIndex()
	if err != nil {
		return
	}
	defer lock.Close()
	known := d.readIndex()
	if _, ok := known.lines[id]; !ok {
		return
	}
	delete(known.lines, id)
	entries := make([]*Entry, 0, len(known.lines))
	for _, line := range known.lines {
		if r, ok := decodeRow(line); ok {
			entries = append(entries, d.indexedEntry(&r, line))
		}
	}
	d.replaceIndex(entries)
}

// writeIndex locks and replaces the index. Lists ignore its error: another
// process may hold the lock, and a list works without the index.
func (d *Dir) writeIndex(entries []*Entry) error {
	lock, err := d.lockIndex()
	if err != nil {
		return fmt.Errorf("%s: %w", d.indexPath(), err)
	}
	defer lock.Close()
	return d.replaceIndex(entries)
}

func (d *Dir) lockIndex() (io.Closer, error) {
	return vfs.LockFile(d.fs, filepath.Join(d.journals.Path(), "sessions.lock"))
}

func (d *Dir) replaceIndex(entries []*Entry) error {
	slices.SortFunc(entries, func(a, b *Entry) int { return strings.Compare(a.id, b.id) })
	var text bytes.Buffer
	text.Grow(len(entries) * rowBytes)
	text.WriteString(indexHead)
	var updated time.Time
	var rows openedRows
	defer rows.close()
	for i, e := range entries {
		if i > 0 {
			text.WriteString(indexNext)
		}
		if err := e.appendLine(&text, &rows); err != nil {
			return err
		}
		if e.updatedAt.After(updated) {
			updated = e.updatedAt
		}
	}
	at, err := json.Marshal(updated)
	if err != nil {
		return err
	}
	text.WriteString(indexEnd + `,"updatedAt":` + string(at) + "}\n")
	rows.close() // an open file cannot be replaced on every system
	return vfs.WriteFile(d.fs, d.indexPath(), text.Bytes())
}

// appendLine appends the row of an entry. If its line is truncated, the journal is folded.
func (e *Entry) appendLine(text *bytes.Buffer, rows *openedRows) error {
	r := e.row
	if r == nil {
		line := e.text(rows)
		if _, ok := decodeRow(line); ok {
			text.WriteString(line)
			return nil
		}
		folded := e.reread()
		r = &folded
	}
	r.Summary = r.Row.Summary()
	enc := json.NewEncoder(text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return err
	}
	text.Truncate(text.Len() - 1) // the newline
	return nil
}

// Large reports whether the team has some 10,000 sessions or more, so that
// listing them takes noticeably long.
func (d *Dir) Large() bool { return d.hasRows(10 * manySessions) }

// hasRows reports whether the index has about n rows or more, judging by its size.
func (d *Dir) hasRows(n int) bool {
	info, err := d.fs.Stat(d.indexPath())
	return err == nil && info.Size() >= int64(n)*rowBytes
}

// worthWriting reports whether to rewrite an index with a number of rows. learned
// is what it lacks, in bytes that were read for it: of a large index, at least as
// many as the index has.
func worthWriting(rows int, learned int64) bool {
	return learned > 0 && (rows < manySessions || learned >= int64(rows)*rowBytes)
}
