package catalog

import (
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
// message with all that came of it, in the order of their times; one that both
// have all the same, as after an earlier merge, is taken once. The two stay as they
// are.
func (t *Team) Merge(a, b string) (Merged, error) {
	parting, err := projection.Part(t.events(a), t.events(b))
	if err != nil {
		return Merged{}, err
	}
	id := t.journals.NewID()
	log, err := t.journals.Create(id)
	if err != nil {
		return Merged{}, err
	}
	defer log.Close()
	m := &merging{
		team: t, a: a, b: b, parting: parting,
		made:  forking{id: id, parent: projection.Parent{SessionID: a, Seq: max(1, parting.A)}, log: log, state: new(projection.State)},
		count: Merged{ID: id, Common: parting.Messages},
	}
	if err := m.run(); err != nil {
		// Crash here leaves a shorter session, whole in itself, that nobody has heard of.
		err = errors.Join(err, log.Close())
		if deleted := t.Delete(id); !errors.Is(deleted, journal.ErrNotFound) { // nothing was written yet
			err = errors.Join(err, deleted)
		}
		return Merged{}, err
	}
	t.Closed(id, m.made.state, log.Position())
	return m.count, nil
}

// merging is a session that is made of two.
type merging struct {
	team    *Team
	a, b    string
	parting projection.Parting
	taken   map[string]bool // how the exchanges began that the first has alone
	made    forking
	count   Merged
}

func (m *merging) run() error {
	if err := m.common(); err != nil {
		return err
	}
	if err := m.tails(); err != nil {
		return err
	}
	m.made.batch = append(m.made.batch, m.source())
	if err := m.made.append(); err != nil {
		return err
	}
	return m.made.log.Sync()
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
		if e.Seq > max(1, m.parting.A) {
			return nil
		}
		if p, err := projection.Decode(e); err == nil {
			if created, ok := p.(projection.SessionCreated); ok {
				created.Team.Members = united(created.Team.Members, others)
				e.Data = projection.Record(e.Time, created).Data
			}
		}
		if err := m.made.take(e); err != nil {
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
	m.taken = map[string]bool{}
	for exchange, err := range m.alone(m.a, m.parting.A) {
		if err != nil {
			return err
		}
		m.taken[beginning(exchange)] = true
	}
	nextA, stopA := iter.Pull2(m.alone(m.a, m.parting.A))
	defer stopA()
	nextB, stopB := iter.Pull2(m.alone(m.b, m.parting.B))
	defer stopB()
	a, errA, moreA := nextA()
	b, errB, moreB := nextB()
	for errA == nil && errB == nil && (moreA || moreB) {
		if moreA && (!moreB || !a[0].Time.After(b[0].Time)) {
			if err := m.take(a, &m.count.A); err != nil {
				return err
			}
			a, errA, moreA = nextA()
			continue
		}
		if !m.taken[beginning(b)] {
			if err := m.take(b, &m.count.B); err != nil {
				return err
			}
		}
		b, errB, moreB = nextB()
	}
	return errors.Join(errA, errB)
}

// alone are the exchanges of a session behind an event.
func (m *merging) alone(id string, seq uint64) iter.Seq2[[]journal.Event, error] {
	return projection.Exchanges(behind(m.team.events(id), seq))
}

// beginning tells an exchange from others: a message has an id of its own.
func beginning(exchange []journal.Event) string {
	return exchange[0].Type + string(exchange[0].Data)
}

func (m *merging) take(exchange []journal.Event, messages *int) error {
	for _, e := range exchange {
		if projection.IsMessage(e) {
			*messages++
		}
		if err := m.made.take(e); err != nil {
			return err
		}
	}
	return nil
}

// events reads a journal of the team from its beginning.
func (t *Team) events(id string) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		r, err := t.journals.Reader(id, journal.Position{})
		if err != nil {
			yield(journal.Event{}, err)
			return
		}
		defer r.Close()
		for e, err := range r.All() {
			if !yield(e, err) {
				return
			}
		}
	}
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
