package api

import (
	"net/http"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// maxRunning is among how many sessions running looks: it reads a file for each.
const maxRunning = 500

// running returns the live sessions among those that were updated last, with which the list of all begins: a session is
// updated when a process opens it.
func running(all []*catalog.Entry) map[catalog.Key]bool {
	live := map[catalog.Key]bool{}
	for _, e := range all[:min(len(all), maxRunning)] {
		if e.Live() {
			live[e.Key()] = true
		}
	}
	return live
}

// liveFirst returns a list with its live sessions before the others. Each part is in the order of the list.
func liveFirst(list []*catalog.Entry, live map[catalog.Key]bool) []*catalog.Entry {
	ordered := make([]*catalog.Entry, 0, len(list))
	for _, first := range []bool{true, false} {
		for _, e := range list {
			if live[e.Key()] == first {
				ordered = append(ordered, e)
			}
		}
	}
	return ordered
}

// A groupJSON is the sessions of a directory, which follow one another in a grouped list.
type groupJSON struct {
	Directory string `json:"directory"` // "": it is unknown
	From      int    `json:"from"`      // the place of the first one
	Sessions  int    `json:"sessions"`
}

// groupingOf reports whether a request wants the list in groups.
func groupingOf(r *http.Request) (bool, error) {
	switch r.FormValue("group") {
	case "":
		return false, nil
	case "directory":
		return true, nil
	}
	return false, &requestError{"group takes directory."}
}

// byDirectory returns a list with the sessions of each directory together, and the groups. Both the groups, by their
// first session, and the sessions of each are in the order of the list.
func byDirectory(list []*catalog.Entry) (ordered []*catalog.Entry, groups []groupJSON) {
	var parts [][]*catalog.Entry
	place := map[string]int{} // in parts, by directory
	i := 0
	for s := range catalog.Sessions(list) {
		at, known := place[s.CWD]
		if !known {
			at = len(parts)
			place[s.CWD] = at
			parts = append(parts, nil)
			groups = append(groups, groupJSON{Directory: tty.SafeLine(s.CWD)})
		}
		parts[at] = append(parts[at], list[i])
		i++
	}
	for n, part := range parts {
		groups[n].From, groups[n].Sessions = len(ordered), len(part)
		ordered = append(ordered, part...)
	}
	return ordered, groups
}
