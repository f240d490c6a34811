package catalog

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
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
	Version   string    `json:"version"`
	Sessions  []row     `json:"sessions"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// index is what sessions.json knows: the rows by id. A nil one knows nothing.
type index map[string]*row

func (x index) row(id string) row {
	if r := x[id]; r != nil {
		return *r
	}
	return row{}
}

func (t *Team) indexPath() string { return filepath.Join(t.journals.Path(), "sessions.json") }

// readIndex returns what the index knows. One that cannot be read knows nothing,
// nor do lines of it that make no sense.
func (t *Team) readIndex() index {
	text := t.indexText()
	lines, ok := cutRows(text)
	if !ok {
		return otherLayout(text)
	}
	return decodeRows(lines)
}

// indexText is the index as it stands in the file; "" when it cannot be read.
func (t *Team) indexText() string {
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

// cutRows returns the lines of an index that is laid out as this program does
// it.
func cutRows(text string) (lines []string, ok bool) {
	text, ok = strings.CutPrefix(text, indexHead)
	end := strings.LastIndex(text, indexEnd)
	if !ok || end < 0 {
		return nil, false
	}
	return strings.Split(text[:end], indexNext), true
}

// otherLayout reads an index that somebody else has written.
func otherLayout(text string) index {
	var file indexFile
	if json.Unmarshal([]byte(text), &file) != nil || file.Version != indexVersion {
		return nil
	}
	x := make(index, len(file.Sessions))
	for i := range file.Sessions {
		x[file.Sessions[i].ID] = &file.Sessions[i]
	}
	return x
}

// decodeRows decodes the lines of an index, with several goroutines when there
// are many.
func decodeRows(lines []string) index {
	rows := make([]row, len(lines))
	each := max(manySessions, len(lines)/runtime.GOMAXPROCS(0)+1)
	var wg sync.WaitGroup
	for from := 0; from < len(lines); from += each {
		wg.Go(func() {
			for i := from; i < min(from+each, len(lines)); i++ {
				rows[i], _ = decodeRow(lines[i])
			}
		})
	}
	wg.Wait()
	x := make(index, len(rows))
	for i := range rows {
		if rows[i].ID != "" {
			x[rows[i].ID] = &rows[i]
		}
	}
	return x
}

// readRow returns the row of one session, without decoding the others.
func (t *Team) readRow(id string) row {
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

// writeIndex replaces the index, when nobody else is about to.
func (t *Team) writeIndex(rows []*row) {
	unlock, err := t.lockIndex()
	if err != nil {
		return
	}
	defer unlock()
	t.replaceIndex(rows)
}

func (t *Team) lockIndex() (unlock func() error, err error) {
	return t.fs.Lock(filepath.Join(t.journals.Path(), "sessions.lock"))
}

func (t *Team) replaceIndex(rows []*row) {
	slices.SortFunc(rows, func(a, b *row) int { return strings.Compare(a.ID, b.ID) })
	var text bytes.Buffer
	text.Grow(len(rows) * rowBytes)
	text.WriteString(indexHead)
	var updated time.Time
	for i, r := range rows {
		if i > 0 {
			text.WriteString(indexNext)
		}
		if !r.appendLine(&text) {
			return
		}
		if r.UpdatedAt.After(updated) {
			updated = r.UpdatedAt
		}
	}
	at, err := json.Marshal(updated)
	if err != nil {
		return
	}
	text.WriteString(indexEnd + `,"updatedAt":` + string(at) + "}\n")
	journal.WriteFile(t.fs, t.indexPath(), text.Bytes())
}

// appendLine writes the row as it stands in the index, or will.
func (r *row) appendLine(text *bytes.Buffer) bool {
	if r.line != "" {
		text.WriteString(r.line)
		return true
	}
	enc := json.NewEncoder(text)
	enc.SetEscapeHTML(false)
	if enc.Encode(r) != nil {
		return false
	}
	text.Truncate(text.Len() - 1) // the newline
	return true
}

// updateIndex puts rows in the place of their sessions' old ones, or takes them
// out where they are nil. The index of a large team is not even read for a few.
func (t *Team) updateIndex(changed map[string]*row) {
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
	if !worthWriting(len(known), learned) {
		return
	}
	var rows []*row
	for id, r := range known {
		if _, ok := changed[id]; !ok {
			rows = append(rows, r)
		}
	}
	for _, r := range changed {
		if r != nil {
			rows = append(rows, r)
		}
	}
	t.replaceIndex(rows)
}

// Large reports whether the team has so many sessions, some ten thousand, that to
// list them takes a person's notice.
func (t *Team) Large() bool { return t.has(10 * manySessions) }

// has reports whether the index weighs as much as so many rows.
func (t *Team) has(sessions int) bool {
	info, err := t.fs.Stat(t.indexPath())
	return err == nil && info.Size() >= int64(sessions)*rowBytes
}

// worthWriting weighs what a list learned against what the index weighs, in
// bytes.
func worthWriting(rows int, learned int64) bool {
	return learned > 0 && (rows < manySessions || learned >= int64(rows)*rowBytes)
}
