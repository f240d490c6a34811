package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Seal syncs the journal, and makes the sync marks cover every line before the last:
// damage of those lines is corruption from then on, never a torn tail. It appends a
// TypeSealed event if the marks do not cover them yet, and returns what it appended.
// It is for a journal that was written as a whole, and for its writer before Close. It
// sets a torn tail aside, as Append does. An archive and a journal without events stay
// unchanged.
func (l *Log) Seal() ([]Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return nil, err
	}
	if l.archived || l.end.Seq == 0 || l.file == nil && l.torn.Bytes == 0 && !l.unended && l.sealed() {
		return nil, nil
	}
	var events []Event
	if l.file == nil {
		recovered, err := l.openFile(nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.files.Live(), err)
		}
		if events, err = l.write(recovered); err != nil {
			return nil, err
		}
	}
	if err := l.sync(); err != nil || l.sealed() {
		return events, err
	}
	// Crash here leaves every line on the disk, the last ones without a sync mark. The
	// next Append or Seal covers them.
	last, err := l.write([]Record{l.dir.sealedRecord()})
	if err != nil {
		return events, err
	}
	// Crash here leaves the seal, a part of it, which is a torn tail, or nothing of it.
	return append(events, last...), l.sync()
}

// sealed reports whether the sync marks cover every line before the last.
func (l *Log) sealed() bool { return l.maxSynced+1 >= l.end.Seq }

func (d *Dir) sealedRecord() Record {
	return Record{Type: TypeSealed, Data: json.RawMessage("{}"), Time: d.now().UTC().Truncate(time.Microsecond)}
}

// Seal seals a journal that has no writer, as Log.Seal does, and reports whether the
// journal was changed. A journal with a torn tail is not sealed, because what follows
// a damaged line without a sync mark looks like one: it returns ErrTorn.
func (d *Dir) Seal(ctx context.Context, id string) (changed bool, err error) {
	l, err := d.Open(ctx, id)
	if err != nil {
		return false, err
	}
	if l.torn.Bytes > 0 {
		err = fmt.Errorf("%s: %w", l.Path(), ErrTorn)
	} else {
		var events []Event
		events, err = l.Seal()
		changed = len(events) > 0
	}
	return changed, errors.Join(err, l.Close())
}
