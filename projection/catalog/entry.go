package catalog

import (
	"cmp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Entry is what is known of a session to put it in its place in a list. The
// rest is decoded when somebody asks: of a hundred thousand sessions a person
// sees twenty.
type Entry struct {
	ID         string
	UpdatedAt  time.Time
	Damaged    bool // as Session.Damaged says
	Unreadable bool // as Session.Unread says
	Truncated  bool // as in Session

	team *Dir
	line string // of the index
	row  *row   // decoded, or of what the index does not know; nil: the line
}

// listed is a session of which the index does not know what r does.
func (t *Dir) listed(r *row) *Entry {
	l := t.indexed(r, "")
	l.row = r
	return l
}

// indexed is a session as it stands in the index; r is at least the beginning of
// the line, and is not kept.
func (t *Dir) indexed(r *row, line string) *Entry {
	return &Entry{ID: r.ID, UpdatedAt: r.UpdatedAt, Damaged: r.Damaged != "", Unreadable: r.unread != nil, Truncated: r.Lost > 0, team: t, line: line}
}

// glance is the session of a file as a line of the index has it; nil when the
// line does not describe the file, or is to be written anew in the layout that
// can be read at a glance.
func (t *Dir) glance(info journal.Info, line string) *Entry {
	if updated, ok := glance(info, line); ok {
		return &Entry{ID: info.ID, UpdatedAt: updated, team: t, line: line}
	}
	if r, ok := decodeRow(line); ok && r.describes(info) && (r.Damaged != "" || r.Lost > 0) {
		return t.indexed(&r, line)
	}
	return nil
}

// newer compares two sessions for the order of lists: the one that was updated
// last comes first.
func newer(a, b *Entry) int {
	if c := b.UpdatedAt.Compare(a.UpdatedAt); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(b.ID, a.ID), strings.Compare(a.team.journals.Path(), b.team.journals.Path()))
}

// Session is all that is known of the session without reading it.
func (l *Entry) Session() Session {
	if l.row != nil {
		return l.team.session(l.row)
	}
	r, ok := decodeRow(l.line)
	if !ok {
		r = l.anew()
	}
	return l.team.session(&r)
}

// anew is the row of a session of whose line only the beginning is sound.
func (l *Entry) anew() row {
	info, err := l.team.journals.Stat(l.ID)
	if err != nil {
		return row{ID: l.ID} // deleted since
	}
	r, _ := l.team.freshRow(info, row{})
	return r
}

// Sessions are the Sessions of those listed.
func Sessions(listed []*Entry) []Session {
	sessions := make([]Session, len(listed))
	together(len(listed), func(i int) { sessions[i] = listed[i].Session() })
	return sessions
}

// together does something for each of so many things, with several goroutines
// when there are many.
func together(n int, do func(i int)) {
	each := max(manySessions, n/runtime.GOMAXPROCS(0)+1)
	var wg sync.WaitGroup
	for from := 0; from < n; from += each {
		wg.Go(func() {
			for i := from; i < min(from+each, n); i++ {
				do(i)
			}
		})
	}
	wg.Wait()
}
