package historytest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

// Acknowledged is what one run of the program acknowledged to a person.
type Acknowledged struct {
	Machine int
	Session string
	Lines   []Line // in their order; Seq 0: the machine had it in no journal of Session
	Claimed bool   // the program did not say that the session is unclaimed
	OnHub   bool   // the program did not say that something is not on the hub
}

func (a Acknowledged) describe(l Line) string {
	return fmt.Sprintf("event %d of session %s, by machine %d: %s", l.Seq, a.Session, a.Machine, l.Body)
}

// Kind is the promise that a Violation breaks.
type Kind string

// The kinds.
const (
	Damaged     Kind = "damaged"      // a journal is not valid
	Differs     Kind = "differs"      // machines or the hub have different journals of a session
	Lost        Kind = "lost"         // an acknowledged event is neither in its session nor in a fork of it
	Duplicate   Kind = "duplicate"    // it is there more than once, or in two of these
	OutOfOrder  Kind = "out of order" // it precedes an event that was acknowledged before
	NotForked   Kind = "not forked"   // a fork differs from its parent before the position where it was forked
	NotOnHub    Kind = "not on the hub"
	Forked      Kind = "forked"       // an event of a machine that had claimed the session is not in it
	TwoContents Kind = "two contents" // two events were acknowledged at one position
)

// Violation is a broken promise.
type Violation struct {
	Kind Kind
	Text string
}

func (v Violation) String() string { return string(v.Kind) + ": " + v.Text }

// Journals are journals by the ids of their sessions.
type Journals map[string][]byte

// Check checks that all machines and the hub have the same valid journals, and that each acknowledged event is in its
// session or in exactly one fork of it, once and in order. acknowledged is ordered by time for each machine.
func Check(machines []Journals, hub Journals, acknowledged []Acknowledged) (found []Violation) {
	for n, journals := range machines {
		found = append(found, differences(fmt.Sprintf("machine %d", n), journals, hub)...)
	}
	h, damaged := readAll(hub)
	found = append(found, damaged...)
	places, wrong := h.places()
	found = append(found, wrong...)
	return append(found, h.checkPlaces(places, acknowledged)...)
}

// differences compares the journals of a machine with those of the hub.
func differences(name string, journals, hub Journals) (found []Violation) {
	ids := maps.Clone(journals)
	maps.Copy(ids, hub)
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if here, there := journals[id], hub[id]; !bytes.Equal(here, there) {
			text := fmt.Sprintf("session %s has %d bytes on %s and %d on the hub", id, len(here), name, len(there))
			found = append(found, Violation{Differs, text})
		}
	}
	return found
}

// histories are sessions by id.
type histories map[string]session

func readAll(journals Journals) (h histories, found []Violation) {
	h = histories{}
	for _, id := range slices.Sorted(maps.Keys(journals)) {
		s, err := read(id, journals[id])
		if err != nil {
			found = append(found, Violation{Damaged, fmt.Sprintf("session %s: %v", id, err)})
		}
		h[id] = s
	}
	return h, found
}

// place is where an event is.
type place struct {
	session string
	index   int
}

// places returns where each event is. The events that a fork has of its parent count as those of the parent only.
func (h histories) places() (places map[string][]place, found []Violation) {
	places = map[string][]place{}
	for _, id := range slices.Sorted(maps.Keys(h)) {
		s := h[id]
		first, err := h.firstOwn(s)
		if err != nil {
			found = append(found, Violation{NotForked, fmt.Sprintf("session %s: %v", id, err)})
		}
		for i := first; i < len(s.lines); i++ {
			body := s.lines[i].Body
			places[body] = append(places[body], place{id, i})
		}
	}
	return places, found
}

// firstOwn returns the index of the first line of a session that is not one of its parent.
func (h histories) firstOwn(s session) (int, error) {
	if s.parent == "" {
		return 0, nil
	}
	parent, ok := h[s.parent]
	if !ok {
		return 0, fmt.Errorf("its parent %s does not exist", s.parent)
	}
	i := 0
	for _, line := range parent.lines {
		if line.Seq > s.common {
			break
		}
		if line.aboutFile() {
			continue
		}
		for i < len(s.lines) && s.lines[i].aboutFile() {
			i++
		}
		if i == len(s.lines) || line.Seq > 1 && s.lines[i].Body != line.Body {
			return 0, fmt.Errorf("it lacks event %d of its parent %s", line.Seq, s.parent)
		}
		i++
	}
	return i, nil
}

// descends reports whether a session is another one, or a fork of it, or a fork of such a fork.
func (h histories) descends(id, ancestor string) bool {
	for range h { // a damaged journal may name itself
		if id == ancestor || id == "" {
			break
		}
		id = h[id].parent
	}
	return id == ancestor
}

func (h histories) checkPlaces(places map[string][]place, acknowledged []Acknowledged) (found []Violation) {
	type order struct {
		machine int
		session string
	}
	newest := map[order]int{}
	for _, a := range acknowledged {
		for _, line := range a.Lines {
			if line.aboutFile() {
				continue
			}
			var at []place
			for _, p := range places[line.Body] {
				if h.descends(p.session, a.Session) {
					at = append(at, p)
				}
			}
			text := a.describe(line)
			switch {
			case len(at) == 0:
				found = append(found, Violation{Lost, text})
				continue
			case len(at) > 1:
				found = append(found, Violation{Duplicate, fmt.Sprintf("%s is at %v", text, at)})
				continue
			}
			key := order{a.Machine, at[0].session}
			if last, ok := newest[key]; ok && at[0].index <= last {
				found = append(found, Violation{OutOfOrder, text})
			}
			newest[key] = at[0].index
		}
	}
	return found
}

// CheckHub checks that the hub, or any other copy, has what was acknowledged as being on the hub, in the session or in
// a fork of it.
func CheckHub(hub Journals, acknowledged []Acknowledged) (found []Violation) {
	h, found := readAll(hub)
	sessions := map[string][]string{}
	for id, s := range h {
		for _, line := range s.lines {
			sessions[line.Body] = append(sessions[line.Body], id)
		}
	}
	for _, a := range acknowledged {
		for _, line := range a.Lines {
			on := slices.ContainsFunc(sessions[line.Body], func(id string) bool { return h.descends(id, a.Session) })
			if a.OnHub && !line.aboutFile() && !on {
				found = append(found, Violation{NotOnHub, a.describe(line)})
			}
		}
	}
	return found
}

// CheckPositions checks that all events that were acknowledged at one position by machines that had claimed the session
// are the same one.
func CheckPositions(acknowledged []Acknowledged) (found []Violation) {
	type position struct {
		session string
		seq     uint64
	}
	type owner struct {
		machine int
		Line
	}
	first := map[position]owner{}
	for _, a := range acknowledged {
		for _, line := range a.Lines {
			if !a.Claimed || line.Seq == 0 {
				continue
			}
			p := position{a.Session, line.Seq}
			if o, ok := first[p]; ok && (o.Sum != line.Sum || o.Body != line.Body) {
				text := fmt.Sprintf("%s\nwith the sum %s, and by machine %d: %s\nwith the sum %s",
					a.describe(line), line.Sum, o.machine, o.Body, o.Sum)
				found = append(found, Violation{TwoContents, text})
				continue
			}
			first[p] = owner{a.Machine, line}
		}
	}
	return found
}

// CheckUnforked checks that what machines acknowledged that had claimed a session is in it, not only in a fork: without
// take-overs and losses of the hub, nothing else becomes a fork than what was written unclaimed.
func CheckUnforked(journals Journals, acknowledged []Acknowledged) (found []Violation) {
	h, found := readAll(journals)
	bodies := map[string]map[string]bool{}
	for id, s := range h {
		bodies[id] = map[string]bool{}
		for _, line := range s.lines {
			bodies[id][line.Body] = true
		}
	}
	for _, a := range acknowledged {
		for _, line := range a.Lines {
			if a.Claimed && !line.aboutFile() && !bodies[a.Session][line.Body] {
				found = append(found, Violation{Forked, a.describe(line)})
			}
		}
	}
	return found
}
