package catalog

import (
	"crypto/sha256"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Merged is what Merge made.
type Merged struct {
	ID           string
	Common, A, B int // messages: those that both had, and those that each had alone
}

// Merge makes a new session of two of the team, with what they have in common
// once, and behind it what each has alone: whole exchanges, each a person's
// message with all that came of it, in the order of their times. What both have of
// an exchange, as after an earlier merge, is taken once. The two stay as they are.
func (t *Dir) Merge(a, b string) (Merged, error) {
	parting, err := projection.Part(t.events(a), t.events(b))
	if err != nil {
		return Merged{}, err
	}
	m := &merging{
		team: t, a: a, b: b, parting: parting,
		made:  forking{id: t.journals.NewID(), parent: projection.Parent{SessionID: a, Seq: max(1, parting.A)}},
		count: Merged{Common: parting.Messages},
	}
	m.count.ID = m.made.id
	if err := t.fill(m.made.id, m.run); err != nil {
		return Merged{}, err
	}
	return m.count, nil
}

// merging is a session that is made of two.
type merging struct {
	team    *Dir
	a, b    string
	parting projection.Parting
	made    forking
	w       *writing
	count   Merged

	// What the first has alone, by how its exchanges begin.
	ahead map[digest]bool     // they were not taken yet
	both  map[digest][]digest // what came of those that were taken
}

func (m *merging) run(w *writing) error {
	m.w = w
	if err := m.common(); err != nil {
		return err
	}
	if err := m.tails(); err != nil {
		return err
	}
	return w.add(m.source())
}

// source says where the events that are not of the parent come from.
func (m *merging) source() journal.Record {
	return projection.Record(time.Time{}, projection.SessionImported{Source: "merge", Path: m.b, Taken: m.count.B})
}

// common copies the first session up to where they part.
func (m *merging) common() error {
	others, err := m.members()
	if err != nil {
		return err
	}
	for e, err := range m.team.events(m.a) {
		if err != nil {
			return err
		}
		if e.Seq > m.made.parent.Seq {
			return nil
		}
		if p, err := projection.Decode(e); err == nil {
			if created, ok := p.(projection.SessionCreated); ok {
				created.Team.Members = united(created.Team.Members, others)
				e.Data = projection.Record(e.Time, created).Data
			}
		}
		if err := m.made.take(e, m.w); err != nil {
			return err
		}
	}
	return nil
}

// members are those of the second session.
func (m *merging) members() ([]projection.Member, error) {
	for e, err := range m.team.events(m.b) {
		if err != nil {
			return nil, err
		}
		p, err := projection.Decode(e)
		if created, ok := p.(projection.SessionCreated); ok && err == nil {
			return created.Team.Members, nil
		}
	}
	return nil, nil
}

// united are the members of both, each once.
func united(members, others []projection.Member) []projection.Member {
	all := slices.Clone(members)
	for _, other := range others {
		if !slices.ContainsFunc(all, func(m projection.Member) bool { return m.ID == other.ID }) {
			all = append(all, other)
		}
	}
	return all
}

// tails takes what each of the two has alone, the earlier exchange first.
func (m *merging) tails() error {
	if err := m.lookAhead(); err != nil {
		return err
	}
	a, b := m.tail(m.a, m.parting.A), m.tail(m.b, m.parting.B)
	defer a.stop()
	defer b.stop()
	for a.more || b.more {
		var err error
		if m.firstIsNext(a, b) {
			err = m.takeFirst(a)
		} else {
			err = m.takeSecond(b)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(a.err, b.err)
}

// firstIsNext reports whether the next exchange is one of the first session. One
// that both have comes where that has it.
func (m *merging) firstIsNext(a, b *tail) bool {
	return a.more && (!b.more || m.ahead[digestOf(b.head)] || !a.begins().After(b.begins()))
}

// lookAhead notes how the exchanges begin that the first session has alone.
func (m *merging) lookAhead() error {
	m.ahead, m.both = map[digest]bool{}, map[digest][]digest{}
	a := m.tail(m.a, m.parting.A)
	defer a.stop()
	for a.more {
		m.ahead[digestOf(a.head)] = true
		for range a.exchange() {
		}
	}
	return a.err
}

// takeFirst takes an exchange of the first session.
func (m *merging) takeFirst(a *tail) error {
	beginning := digestOf(a.head)
	delete(m.ahead, beginning)
	for e := range a.exchange() {
		m.both[beginning] = append(m.both[beginning], digestOf(e))
		if err := m.take(e, &m.count.A); err != nil {
			return err
		}
	}
	return a.err
}

// takeSecond takes an exchange of the second session, without what the first one
// has of it, too.
func (m *merging) takeSecond(b *tail) error {
	both := m.both[digestOf(b.head)]
	for e := range b.exchange() {
		if len(both) > 0 && digestOf(e) == both[0] {
			both = both[1:]
			continue
		}
		both = nil
		if err := m.take(e, &m.count.B); err != nil {
			return err
		}
	}
	return b.err
}

func (m *merging) take(e journal.Event, messages *int) error {
	if projection.IsMessage(e) {
		*messages++
	}
	return m.made.take(e, m.w)
}

// digest tells an event from others: a message has an id of its own.
type digest [sha256.Size]byte

func digestOf(e journal.Event) digest {
	return sha256.Sum256(append([]byte(e.Type), e.Data...))
}

// tail is the conversation of a session behind an event, of which only the next
// event is in memory.
type tail struct {
	next func() (journal.Event, error, bool)
	stop func()
	head journal.Event // the next event
	more bool          // there is one
	err  error         // that ended it
}

func (m *merging) tail(id string, seq uint64) *tail {
	t := &tail{}
	t.next, t.stop = iter.Pull2(behind(projection.Conversation(m.team.events(id)), seq))
	t.advance()
	return t
}

func (t *tail) advance() {
	t.head, t.err, t.more = t.next()
	t.more = t.more && t.err == nil
}

// exchange yields the events up to the next message of a person.
func (t *tail) exchange() iter.Seq[journal.Event] {
	return func(yield func(journal.Event) bool) {
		for first := true; t.more && (first || !projection.IsOfPerson(t.head)); first = false {
			if !yield(t.head) {
				return
			}
			t.advance()
		}
	}
}

// begins is when an exchange began: what is still of the last one that both have
// comes before any other.
func (t *tail) begins() time.Time {
	if !projection.IsOfPerson(t.head) {
		return time.Time{}
	}
	return t.head.Time
}

// behind leaves out the events up to that number.
func behind(events iter.Seq2[journal.Event, error], seq uint64) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			if (err != nil || e.Seq > seq) && !yield(e, err) {
				return
			}
		}
	}
}
