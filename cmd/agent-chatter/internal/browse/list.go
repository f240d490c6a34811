package browse

import (
	"slices"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A list is the sessions of a query, in its order, and the selected one. It decodes only the
// rows that are shown: there may be a hundred thousand.
type list struct {
	all    []*catalog.Entry // of the query
	shown  []*catalog.Entry // of them: all, or those that the search found
	remote int              // how many of all are only on the hub
	rows   map[catalog.Key]catalog.Session
	live   map[catalog.Key]journal.Holder // the writers of rows that are open
	marked []catalog.Key                  // at most two, to be compared

	selected int  // index in shown
	filling  bool // results arrive, and the user has selected none: the first one is selected
	top      int  // index of the first row on the screen
	height   int  // rows on the screen
}

// replace shows other entries. The selection stays on its session; if that is gone, on its place.
func (l *list) replace(all, shown []*catalog.Entry) {
	key, had := l.key()
	l.all, l.shown = all, shown
	l.rows, l.remote = map[catalog.Key]catalog.Session{}, 0
	for _, e := range all {
		if e.Remote() {
			l.remote++
		}
	}
	if had && !l.filling && (l.selected >= len(shown) || shown[l.selected].Key() != key) {
		i := slices.IndexFunc(shown, func(e *catalog.Entry) bool { return e.Key() == key })
		if i >= 0 {
			l.top += i - l.selected // it stays where it is on the screen
			l.selected = i
		}
	}
	l.scroll()
}

// key returns the key of the selected session.
func (l *list) key() (catalog.Key, bool) {
	if l.selected >= len(l.shown) {
		return catalog.Key{}, false
	}
	return l.shown[l.selected].Key(), true
}

// session returns the selected session.
func (l *list) session() (catalog.Session, bool) {
	if l.selected >= len(l.shown) {
		return catalog.Session{}, false
	}
	return l.row(l.selected), true
}

// find returns a session of the query.
func (l *list) find(key catalog.Key) (catalog.Session, bool) {
	if s, ok := l.rows[key]; ok {
		return s, true
	}
	i := slices.IndexFunc(l.all, func(e *catalog.Entry) bool { return e.Key() == key })
	if i < 0 {
		return catalog.Session{}, false
	}
	return l.all[i].Session(), true
}

// row returns the session of an entry that is shown.
func (l *list) row(i int) catalog.Session {
	key := l.shown[i].Key()
	s, ok := l.rows[key]
	if !ok {
		s = l.shown[i].Session()
		l.rows[key] = s
	}
	return s
}

// move selects the session so many rows below, and scrolls so that it is on the screen.
func (l *list) move(by int) { l.selectAt(l.selected + by) }

// selectAt selects a row, or the next one that exists.
func (l *list) selectAt(i int) {
	l.selected, l.filling = i, false
	l.scroll()
}

// fill selects the first row, and the first one of what is found until the user selects another one.
func (l *list) fill() {
	l.selectAt(0)
	l.filling = true
}

// scroll shows the selected row.
func (l *list) scroll() {
	l.selected = max(0, min(l.selected, len(l.shown)-1))
	height := max(l.height, 1)
	l.top = max(l.selected-height+1, min(l.top, l.selected))
	l.top = max(0, min(l.top, len(l.shown)-height))
}

// visible returns the entries on the screen.
func (l *list) visible() []*catalog.Entry {
	return l.shown[min(l.top, len(l.shown)):min(l.top+max(l.height, 1), len(l.shown))]
}

// mark marks the selected session, or removes its mark. Of three marks the oldest is removed.
func (l *list) mark() {
	key, ok := l.key()
	if !ok {
		return
	}
	if i := slices.Index(l.marked, key); i >= 0 {
		l.marked = slices.Delete(l.marked, i, i+1)
		return
	}
	l.marked = append(l.marked, key)
	if len(l.marked) > 2 {
		l.marked = l.marked[1:]
	}
}
