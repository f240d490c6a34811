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
)

const (
	indexVersion = "1.0.0"
	// manySessions is where rewriting the whole index for one session stops
	// being worth it.
	manySessions = 1000
	// rowBytes is what a row of the index weighs, nearly, and foldBytes what
	// opening a journal costs, compared to reading one.
	rowBytes  = 600
	foldBytes = 16 << 10
	// maxCache is more than an index or a checkpoint has, in bytes. What is
	// longer is none, and made anew.
	maxCache = 256 << 20
)

// An index is written with a row on each line, so that one can be cut out
// without reading the others.
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

// index is what sessions.json knows. The zero index knows nothing.
type index struct {
	lines   map[string]string // the rows as they stand there, by their ids
	foreign bool              // in another layout than this program's
}

func (x index) row(id string) row {
	r, _ := decodeRow(x.lines[id])
	return r
}

func (t *Dir) indexPath() string { return filepath.Join(t.journals.Path(), "sessions.json") }

// readIndex returns what the index knows. One that cannot be read knows nothing,
// nor do lines of it that make no sense.
func (t *Dir) readIndex() index {
	text := t.indexText()
	rows, ok := cutRows(text)
	if !ok {
		return otherLayout(text)
	}
	x := index{lines: make(map[string]string, len(rows)/rowBytes)}
	for line := range strings.SplitSeq(rows, indexNext) {
		if id := idOf(line); id != "" {
			x.lines[id] = line
		}
	}
	return x
}

// idOf is the id of the session that a line is of.
func idOf(line string) string {
	if rest, ok := strings.CutPrefix(line, `{"id":"`); ok {
		if id, _, ok := strings.Cut(rest, `"`); ok && journal.ValidID(id) {
			return id
		}
	}
	r, _ := decodeRow(line)
	return r.ID
}

// indexText is the index as it stands in the file; "" when it cannot be read.
func (t *Dir) indexText() string {
	f, err := t.fs.OpenFile(t.indexPath(), os.O_RDONLY, 0)
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

// cutRows returns the rows of an index that is laid out as this program does it.
func cutRows(text string) (rows string, ok bool) {
	text, ok = strings.CutPrefix(text, indexHead)
	end := strings.LastIndex(text, indexEnd)
	if !ok || end < 0 {
		return "", false
	}
	return text[:end], true
}

// otherLayout reads an index that somebody else has written.
func otherLayout(text string) index {
	var file indexFile
	if json.Unmarshal([]byte(text), &file) != nil || file.Version != indexVersion {
		return index{}
	}
	x := index{lines: make(map[string]string, len(file.Sessions)), foreign: true}
	for _, line := range file.Sessions {
		x.lines[idOf(string(line))] = string(line)
	}
	return x
}

// readRow returns the row of one session, without decoding the others.
func (t *Dir) readRow(id string) row {
	text := t.indexText()
	at := strings.Index(text, `{"id":"`+id+`"`)
	if at >= 0 {
		line, _, _ := strings.Cut(text[at:], "\n")
		if r, ok := decodeRow(strings.TrimSuffix(line, ",")); ok && r.ID == id {
			return r
		}
	}
	if _, ok := cutRows(text); ok {
		return row{}
	}
	return otherLayout(text).row(id)
}

// writeIndex replaces the index. Where nobody asked for that, an error is no matter:
// somebody else may be about to, and a list does without.
func (t *Dir) writeIndex(sessions []*Entry) error {
	unlock, err := t.lockIndex()
	if err != nil {
		return fmt.Errorf("%s: %w", t.indexPath(), err)
	}
	defer unlock()
	return t.replaceIndex(sessions)
}

func (t *Dir) lockIndex() (unlock func() error, err error) {
	return t.fs.Lock(filepath.Join(t.journals.Path(), "sessions.lock"))
}

func (t *Dir) replaceIndex(sessions []*Entry) error {
	slices.SortFunc(sessions, func(a, b *Entry) int { return strings.Compare(a.ID, b.ID) })
	var text bytes.Buffer
	text.Grow(len(sessions) * rowBytes)
	text.WriteString(indexHead)
	var updated time.Time
	for i, s := range sessions {
		if i > 0 {
			text.WriteString(indexNext)
		}
		if err := s.appendLine(&text); err != nil {
			return err
		}
		if s.UpdatedAt.After(updated) {
			updated = s.UpdatedAt
		}
	}
	at, err := json.Marshal(updated)
	if err != nil {
		return err
	}
	text.WriteString(indexEnd + `,"updatedAt":` + string(at) + "}\n")
	return journal.WriteFile(t.fs, t.indexPath(), text.Bytes())
}

// appendLine writes the row as it stands in the index, or will.
func (l *Entry) appendLine(text *bytes.Buffer) error {
	if l.row == nil {
		if _, ok := decodeRow(l.line); ok {
			text.WriteString(l.line)
			return nil
		}
		r := l.anew() // or what is broken would be copied for ever
		l.row = &r
	}
	l.row.Summary = l.row.Row.Summary()
	enc := json.NewEncoder(text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l.row); err != nil {
		return err
	}
	text.Truncate(text.Len() - 1) // the newline
	return nil
}

// updateIndex puts rows in the place of their sessions' old ones, or takes them
// out where they are nil. The index of a large team is not even read for a few.
func (t *Dir) updateIndex(changed map[string]*row) {
	learned := int64(len(changed)) * foldBytes
	if info, err := t.fs.Stat(t.indexPath()); len(changed) == 0 || err == nil && !worthWriting(int(info.Size()/(4*rowBytes)), learned) {
		return
	}
	unlock, err := t.lockIndex()
	if err != nil {
		return
	}
	defer unlock()
	known := t.readIndex()
	if !worthWriting(len(known.lines), learned) {
		return
	}
	var sessions []*Entry
	for id, line := range known.lines {
		if _, ok := changed[id]; ok {
			continue
		}
		if r, ok := decodeRow(line); ok {
			sessions = append(sessions, t.indexed(&r, line))
		}
	}
	for _, r := range changed {
		if r != nil {
			sessions = append(sessions, t.listed(r))
		}
	}
	t.replaceIndex(sessions)
}

// Large reports whether the team has so many sessions, some ten thousand, that to
// list them takes a person's notice.
func (t *Dir) Large() bool { return t.has(10 * manySessions) }

// has reports whether the index weighs as much as so many rows.
func (t *Dir) has(sessions int) bool {
	info, err := t.fs.Stat(t.indexPath())
	return err == nil && info.Size() >= int64(sessions)*rowBytes
}

// worthWriting weighs what a list learned against what the index weighs, in
// bytes.
func worthWriting(rows int, learned int64) bool {
	return learned > 0 && (rows < manySessions || learned >= int64(rows)*rowBytes)
}
