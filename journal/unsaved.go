package journal

import (
	"bytes"
	"io"
	"path/filepath"
)

// Unsaved describes the events that SetAside wrote to a file.
type Unsaved struct {
	Path   string // of the file; "": nothing was to be written
	Events int    // that may not be in the journal
	Whole  bool   // all earlier events of the journal precede them in the file
}

// SetAside writes the events that may not be in the journal to a new file beside it, in order: if the Log is poisoned,
// those that were appended since the last successful Sync and those of the failed Append; then a batch that Append has
// refused. If another file has taken the journal's name, all earlier events precede them, since nothing else may name
// the file that has those. The lines are numbered and chained as in the journal.
//
// It is for a Log that cannot be saved and is to be closed. It changes no other file. After an error there is no file.
func (l *Log) SetAside(batch ...Record) (Unsaved, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return Unsaved{}, ErrClosed
	}
	records, err := l.normalize(batch)
	if err != nil {
		return Unsaved{}, err
	}
	lines := l.unsavedLines(records)
	if len(lines) == 0 {
		return Unsaved{}, nil
	}
	aside := Unsaved{Events: bytes.Count(lines, []byte("\n")), Whole: l.failure != nil && l.isDetached()}
	var content io.Reader = bytes.NewReader(lines)
	if aside.Whole {
		content = io.MultiReader(newLineEnder(io.NewSectionReader(l.file, 0, l.synced.Offset)), content)
	}
	name, err := l.files.copyAside(l.dir.fs, content)
	if err != nil {
		return Unsaved{}, err
	}
	aside.Path = filepath.Join(l.files.Dir, name)
	return aside, nil
}

// unsavedLines returns the lines that may not be in the journal, and those of records after them.
func (l *Log) unsavedLines(records []Record) []byte {
	var lines []byte
	last := Event{Seq: l.end.Seq, Sum: l.end.Sum}
	if f := l.failure; f != nil {
		lines = l.unsyncedInMemory()
		if len(f.events) > 0 {
			last = f.events[len(f.events)-1]
		}
	}
	for _, r := range records {
		line, e := encodeAfter(last, r)
		lines, last = append(lines, line...), e
	}
	return lines
}

// isDetached reports whether the open file has every synced line and is not the one that has the journal's name.
func (l *Log) isDetached() bool {
	if l.file == nil || l.checkName(l.file) == nil {
		return false
	}
	t, err := fileSource(l.files.Live(), l.file, l.synced.Offset).findTail(l.dir.maxLine)
	return err == nil && t.end == l.synced
}
