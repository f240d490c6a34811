package sessioncopy

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Merged describes the result of Merge.
type Merged struct {
	ID           string // of the new session
	Common, A, B int    // messages: in the common prefix, then taken from each session
}

// Merge writes a new session from two sessions of one team: their common
// prefix, followed by what each has after it. That is ordered by time in whole
// exchanges: a person's message and all events up to the next one. Events that
// both have, as after an earlier merge, are copied once. Neither session is
// changed.
func Merge(ctx context.Context, dir *catalog.Dir, a, b string) (Merged, error) {
	divergence, err := projection.Diverge(dir.Events(ctx, a), dir.Events(ctx, b))
	if err != nil {
		return Merged{}, err
	}
	m := &merge{
		ctx: ctx, dir: dir, a: a, b: b, divergence: divergence,
		result: fork{id: dir.Journals().NewID(), parent: projection.Parent{SessionID: a, Seq: max(1, divergence.A)}},
		count:  Merged{Common: divergence.Messages},
	}
	m.count.ID = m.result.id
	if err := markCopy(dir, m.result.id, a, b); err != nil {
		return Merged{}, err
	}
	if err := create(ctx, dir, m.result.id, m.write); err != nil {
		return Merged{}, err
	}
	return m.count, nil
}

// merge is the state of one Merge.
type merge struct {
	ctx        context.Context
	dir        *catalog.Dir
	a, b       string
	divergence projection.Divergence
	result     fork
	w          *writer
	count      Merged

	// Events of session a after the divergence.
	tailOfA []digest       // all, in order
	inTail  map[digest]int // positions in tailOfA of those with the id of a message or a turn
	copied  int            // the first ones, which were copied
	next    int            // position after the one that session b had last; len(tailOfA): none
}

func (m *merge) write(w *writer) error {
	m.w = w
	if err := errors.Join(w.from(m.dir, m.a), w.from(m.dir, m.b)); err != nil {
		return err
	}
	if err := m.copyPrefix(); err != nil {
		return err
	}
	if err := m.copyTails(); err != nil {
		return err
	}
	source := projection.SessionImported{Source: "merge", Path: m.b, Taken: m.count.B}
	return w.add(projection.Record(time.Time{}, source))
}

// copyPrefix copies session a up to the divergence. The members of b are added
// to its session.created.
func (m *merge) copyPrefix() error {
	others, err := m.membersOfB()
	if err != nil {
		return err
	}
	for e, err := range m.dir.Events(m.ctx, m.a) {
		if err != nil {
			return err
		}
		if e.Seq > m.result.parent.Seq {
			return nil
		}
		if p, err := projection.Decode(e); err == nil {
			if created, ok := p.(projection.SessionCreated); ok {
				created.Team.Members = union(created.Team.Members, others)
				e.Data = projection.Record(e.Time, created).Data
			}
		}
		if err := m.result.copy(e, m.w); err != nil {
			return err
		}
	}
	return nil
}

func (m *merge) membersOfB() ([]projection.Member, error) {
	for e, err := range m.dir.Events(m.ctx, m.b) {
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

// union returns members followed by those of others whose id is not among them.
func union(members, others []projection.Member) []projection.Member {
	all := slices.Clone(members)
	for _, other := range others {
		if !slices.ContainsFunc(all, func(m projection.Member) bool { return m.ID == other.ID }) {
			all = append(all, other)
		}
	}
	return all
}

// copyTails copies what both sessions have after the divergence, the earlier
// exchange first.
func (m *merge) copyTails() error {
	if err := m.readTailOfA(); err != nil {
		return err
	}
	a, b := m.tail(m.a, m.divergence.A), m.tail(m.b, m.divergence.B)
	defer a.stop()
	defer b.stop()
	for a.more || b.more {
		// An exchange that both have is copied at its place in a.
		at, inA := m.inTail[digestOf(b.head)]
		pending := inA && at >= m.copied
		var err error
		if a.more && (!b.more || pending || !a.startTime().After(b.startTime())) {
			err = m.copyFromA(a)
		} else {
			err = m.copyFromB(b)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(a.err, b.err)
}

func (m *merge) readTailOfA() error {
	a := m.tail(m.a, m.divergence.A)
	defer a.stop()
	m.inTail = map[digest]int{}
	for ; a.more; a.advance() {
		d := digestOf(a.head)
		if hasID(a.head) {
			m.inTail[d] = len(m.tailOfA)
		}
		m.tailOfA = append(m.tailOfA, d)
	}
	m.next = len(m.tailOfA)
	return a.err
}

// hasID reports whether an event has the id of a message or a turn, so that an equal
// event of another session is its copy. A task, a setting of a member and a limit may get the same value again.
func hasID(e journal.Event) bool {
	p, err := projection.Decode(e)
	switch p.(type) {
	case projection.TaskSet, projection.MemberChanged, projection.BudgetChanged, projection.FilesCaptured,
		projection.FilesDropped, projection.WorktreeDropped:
		return false
	}
	return err == nil
}

// copyFromA copies the next exchange of session a.
func (m *merge) copyFromA(a *tail) error {
	for e := range a.exchange() {
		m.copied++
		if err := m.copy(e, &m.count.A); err != nil {
			return err
		}
	}
	return a.err
}

// copyFromB copies the next exchange of session b without the events that session a
// has.
func (m *merge) copyFromB(b *tail) error {
	for e := range b.exchange() {
		if m.isInA(e) {
			continue
		}
		if err := m.copy(e, &m.count.B); err != nil {
			return err
		}
	}
	return b.err
}

// isInA reports whether session a has the next event of session b, too. An event
// without an id must follow the one that was found last.
func (m *merge) isInA(e journal.Event) bool {
	d := digestOf(e)
	if m.next == len(m.tailOfA) || m.tailOfA[m.next] != d {
		at, ok := m.inTail[d]
		if !ok {
			m.next = len(m.tailOfA)
			return false
		}
		m.next = at
	}
	m.next++
	return true
}

func (m *merge) copy(e journal.Event, messages *int) error {
	if projection.IsMessage(e) {
		*messages++
	}
	return m.result.copy(e, m.w)
}

// digest identifies an event. Messages differ at least in their id.
type digest [sha256.Size]byte

func digestOf(e journal.Event) digest {
	return sha256.Sum256(append([]byte(e.Type), e.Data...))
}

// tail reads the conversation of a session after an event, one event ahead.
type tail struct {
	next func() (journal.Event, error, bool)
	stop func()
	head journal.Event // the next event
	more bool          // head is valid
	err  error         // why reading ended, if not at the end of the session
}

// tail reads the events of a session whose sequence number is greater than seq.
func (m *merge) tail(id string, seq uint64) *tail {
	t := &tail{}
	t.next, t.stop = iter.Pull2(func(yield func(journal.Event, error) bool) {
		for e, err := range projection.Conversation(m.dir.Events(m.ctx, id)) {
			if (err != nil || e.Seq > seq) && !yield(e, err) {
				return
			}
		}
	})
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
		for first := true; t.more && (first || !projection.IsHumanMessage(t.head)); first = false {
			if !yield(t.head) {
				return
			}
			t.advance()
		}
	}
}

// startTime is the time of the next exchange. The rest of an exchange that
// began before the divergence has the zero time and comes first.
func (t *tail) startTime() time.Time {
	if !projection.IsHumanMessage(t.head) {
		return time.Time{}
	}
	return t.head.Time
}
