package catalog

import (
	"slices"
	"sync"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Elsewhere is what a hub says of the sessions that are not here, and of those that another machine writes. It may be
// used concurrently.
type Elsewhere struct {
	Sealed int // sessions that are only on the hub, and sealed for others: nothing else is known of them

	entries []*Entry
	byKey   map[Key]*Entry

	mu   sync.Mutex
	here map[Key]bool // sessions that a list has found here: one that was deleted since is not listed
}

// NewElsewhere returns an Elsewhere of entries that RemoteEntry has returned. It keeps and orders the slice.
func NewElsewhere(entries []*Entry) *Elsewhere {
	slices.SortFunc(entries, newestFirst)
	e := &Elsewhere{entries: entries, byKey: make(map[Key]*Entry, len(entries)), here: map[Key]bool{}}
	for _, one := range entries {
		e.byKey[one.Key()] = one
	}
	return e
}

// Entries returns the entries, the most recently updated first. A nil Elsewhere has none.
func (e *Elsewhere) Entries() []*Entry {
	if e == nil {
		return nil
	}
	return e.entries
}

// RemoteEntry returns the entry of a session as a hub describes it, with the number of its last event there. It is
// not here, or claimedBy is the host of another machine that writes it.
func (d *Dir) RemoteEntry(id, teamID string, r projection.Row, lastSeq uint64, here bool, claimedBy string) *Entry {
	e := d.entryOf(&row{ID: id, TeamID: teamID, Row: r, LastSeq: lastSeq, remote: !here})
	e.claimedBy = claimedBy
	return e
}

// Remote reports whether the session is only on a hub.
func (e *Entry) Remote() bool { return e.row != nil && e.row.remote }

// Live reports whether a process here or another machine writes the session. It reads the lock file of the journal.
func (e *Entry) Live() bool {
	return e.claimedBy != "" || !e.Remote() && e.dir.journals.Writer(e.id) != (journal.Holder{})
}

// with adds the sessions of a directory, or of all if dir is "", to the entries of those that are here, and returns
// them in the order of newestFirst. A session that was fetched meanwhile is the one that is here.
func (e *Elsewhere) with(entries []*Entry, dir string) []*Entry {
	if len(e.Entries()) == 0 {
		return entries
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, local := range entries {
		if there := e.byKey[local.Key()]; there != nil {
			e.here[local.Key()], local.claimedBy = true, there.claimedBy
		}
	}
	for _, there := range e.entries {
		if key := there.Key(); there.Remote() && !e.here[key] && (dir == "" || dir == key.Dir) {
			own := *there // answer gives it an order
			entries = append(entries, &own)
		}
	}
	slices.SortFunc(entries, newestFirst)
	return entries
}
