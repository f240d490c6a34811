package search

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Hit is a message that a query finds.
type Hit struct {
	Session    catalog.Session
	Seq        uint64 // of the message's event
	Speaker    projection.Speaker
	Time       time.Time
	Partial    bool   // it is what an unfinished turn left
	Line       string // the line of the message with the first match
	Start, End int    // where the match is in Line, in bytes; End is the end of Line when the match goes on
}

// Error says that a session could not be searched, or not to its end.
type Error struct {
	Session catalog.Session
	Err     error
}

func (e *Error) Error() string { return "session " + e.Session.ID + ": " + e.Err.Error() }

// Unwrap returns what was wrong.
func (e *Error) Unwrap() error { return e.Err }

// Search yields what a query finds in sessions, in their order, and in a
// session in the order of its messages. It looks through as many journals at
// once as there are processors, and ends early when ctx is done.
//
// Errors that are yielded are *Error, and each is about one session: the search
// goes on with the next. A journal that is gone by now has no hits. Search
// itself fails when the regular expression of the query is none.
func Search(ctx context.Context, c *catalog.Catalog, sessions []catalog.Session, q Query) (iter.Seq2[Hit, error], error) {
	compiled, err := q.compile()
	if err != nil {
		return nil, err
	}
	return func(yield func(Hit, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var workers sync.WaitGroup
		defer workers.Wait()
		defer cancel()
		queue := make(chan chan result, runtime.GOMAXPROCS(0))
		workers.Go(func() {
			defer close(queue)
			for _, s := range sessions {
				if s.UpdatedAt.Before(q.Since) && s.Damaged == "" {
					continue
				}
				results := make(chan result, 64)
				select {
				case queue <- results:
				case <-ctx.Done():
					return
				}
				workers.Go(func() {
					defer close(results)
					(&searcher{query: compiled, journals: c.At(s.Dir()).Journals(), session: s, ctx: ctx, results: results}).run()
				})
			}
		})
		for results := range queue {
			for r := range results {
				if !yield(r.hit, r.err) {
					return
				}
			}
		}
	}, nil
}

// result is a hit or an error.
type result struct {
	hit Hit
	err error
}

// searcher looks through one session.
type searcher struct {
	query    *compiled
	journals *journal.Dir
	session  catalog.Session
	ctx      context.Context
	results  chan<- result

	sound  journal.Position // up to where the chain was checked
	damage error            // that is behind it
}

func (s *searcher) run() {
	err := s.search()
	if err != nil && !errors.Is(err, journal.ErrNotFound) {
		s.send(result{err: &Error{s.session, err}})
	}
}

// send reports false when nobody wants more.
func (s *searcher) send(r result) bool {
	select {
	case s.results <- r:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// search checks the chain only where that says something about what it finds,
// and in sessions that are known to be damaged.
func (s *searcher) search() error {
	if s.session.Damaged != "" {
		s.check()
	}
	r, err := s.journals.Reader(s.session.ID, journal.Position{})
	if err != nil {
		return err
	}
	defer r.Close()
	for e, err := range r.Grep(s.match) {
		if err != nil { // of an archive: what it means for the session, its chain says
			s.check()
			return cmp.Or(s.damage, err)
		}
		entry, ok := s.entry(e)
		if !ok {
			continue
		}
		if hit, ok := s.hit(entry); ok && s.believed(e.Seq) && !s.send(result{hit: hit}) {
			return nil
		}
	}
	return s.damage
}

// believed reports whether every line up to an event checks.
func (s *searcher) believed(seq uint64) bool {
	if seq > s.sound.Seq && s.damage == nil {
		s.check()
	}
	return seq <= s.sound.Seq
}

// check reads the chain on, up to damage or the end of what there is by now.
func (s *searcher) check() {
	r, err := s.journals.Reader(s.session.ID, s.sound)
	if err != nil {
		s.damage = err
		return
	}
	defer r.Close()
	for _, err := range r.Scan() {
		if err != nil {
			s.damage = err
			break
		}
	}
	s.sound = r.Position()
	if s.damage == nil && s.session.MissingHeader {
		s.damage = &catalog.MissingHeaderError{ID: s.session.ID, Reason: s.session.Damaged}
	}
}

// match is what Grep looks for, until nobody wants more.
func (s *searcher) match(lines []byte) int {
	if s.ctx.Err() != nil {
		return -1
	}
	return s.query.raw.index(lines)
}

// entry is what somebody said in an event.
func (s *searcher) entry(e journal.Event) (projection.Entry, bool) {
	p, err := projection.Decode(e)
	if err != nil {
		return projection.Entry{}, false
	}
	switch p := p.(type) {
	case projection.MessageAppended:
		return projection.Entry{Seq: e.Seq, Message: p.Message}, true
	case projection.TurnEnded:
		return projection.Entry{Seq: e.Seq, Partial: true, Message: projection.Message{
			Timestamp: projection.FormatTime(e.Time), Speaker: s.speaker(p.MemberID), Content: p.Partial,
		}}, p.Partial != ""
	}
	return projection.Entry{}, false
}

// speaker asks the beginning of the session who a member is.
func (s *searcher) speaker(memberID string) projection.Speaker {
	var begun projection.State
	if r, err := s.journals.Reader(s.session.ID, journal.Position{}); err == nil {
		defer r.Close()
		for e, err := range r.All() {
			if err == nil {
				begun.Apply(e)
			}
			break
		}
	}
	return begun.Speaker(memberID)
}

func (s *searcher) hit(e projection.Entry) (Hit, bool) {
	at, err := time.Parse(time.RFC3339Nano, e.Timestamp)
	if err == nil && at.Before(s.query.Since) {
		return Hit{}, false
	}
	start, end, ok := s.query.find(e.Message)
	if !ok {
		return Hit{}, false
	}
	h := Hit{Session: s.session, Seq: e.Seq, Speaker: e.Speaker, Time: at, Partial: e.Partial}
	h.Line, h.Start, h.End = lineOf(e.Content, start, end)
	return h, true
}

// lineOf cuts the line out of a text in which a match begins.
func lineOf(text string, start, end int) (line string, from, to int) {
	begin := strings.LastIndexByte(text[:start], '\n') + 1
	line = text[begin:]
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		line = text[begin : start+i]
	}
	line = strings.TrimSuffix(line, "\r")
	return line, min(start-begin, len(line)), min(end-begin, len(line))
}
