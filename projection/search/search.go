package search

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// Hit is a message that matches a query.
type Hit struct {
	Session    catalog.Session
	Seq        uint64 // of the message's event
	Speaker    projection.Speaker
	Time       time.Time
	Partial    bool   // the text of an unfinished turn
	Content    string // of the message
	Line       string // the line of the message in which the first match begins
	Start, End int    // the match in Line, in bytes; End is at most len(Line)

	matcher *matcher // of the query
	touch   *Touch   // of a FileQuery; then the other fields are zero
}

// Matches returns the start and the end of each match in a text, such as a part of Line, in bytes. Empty matches are
// left out. It takes time proportional to the length of the text times the number of matches. Of a Hit that Search did
// not return, it returns none.
func (h Hit) Matches(text string) (places [][2]int) {
	for at := 0; at < len(text) && h.matcher != nil; {
		start, end, ok := h.matcher.findText(text[at:])
		if !ok {
			break
		}
		if end > start {
			places = append(places, [2]int{at + start, at + end})
		}
		at += max(end, start+1)
	}
	return places
}

// With returns the hit with another content of its message, such as one without secrets. ok reports whether that
// matches, too. A Hit that Search did not return matches nothing.
func (h Hit) With(content string) (with Hit, ok bool) {
	if h.matcher == nil {
		return Hit{}, false
	}
	start, end, ok := h.matcher.findText(content)
	if !ok {
		return Hit{}, false
	}
	h.Content = content
	h.Line, h.Start, h.End = lineOf(content, start, end)
	return h, true
}

// Error reports a session that could not be searched, or not to its end, or that was
// searched although it is not a session: then it wraps a *catalog.MissingHeaderError.
type Error struct {
	Session catalog.Session
	Err     error
}

func (e *Error) Error() string { return "session " + e.Session.ID + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Result is the answer to a Query.
type Result struct {
	Sessions []catalog.Session // that Query.Sessions selects

	// Hits yields the hits in the order of Sessions, and within a session in
	// the order of its messages. After the hits of a session it may
	// yield an *Error, then continues with the next session. A journal that was
	// removed has no hits. It ends early when the context of Search is done.
	Hits iter.Seq2[Hit, error]
}

// Search lists the sessions of a query. Their journals are read while the Hits
// are iterated, at most one more at once than there are processors. Errors:
// *PatternError; those of catalog.Catalog.List.
func Search(ctx context.Context, c *catalog.Catalog, q Query) (*Result, error) {
	m, err := q.compile()
	if err != nil {
		return nil, err
	}
	list, err := c.List(ctx, q.Sessions)
	if err != nil {
		return nil, err
	}
	sessions := list.Sessions // so that hits does not keep the whole list, which has the index
	hits := func(yield func(Hit, error) bool) { m.search(ctx, c, slices.Values(sessions), yield) }
	return &Result{Sessions: sessions, Hits: hits}, nil
}

// In searches the sessions of a list, in its order, and yields what Result.Hits yields. The
// list is kept, not the sessions: there may be many. Query.Sessions is ignored. Errors:
// *PatternError.
func In(
	ctx context.Context, c *catalog.Catalog, list []*catalog.Entry, q Query,
) (hits iter.Seq2[Hit, error], err error) {
	m, err := q.compile()
	if err != nil {
		return nil, err
	}
	return func(yield func(Hit, error) bool) { m.search(ctx, c, catalog.Sessions(list), yield) }, nil
}

// After searches the events of a session after the one with number seq, and yields what Result.Hits yields. It reads
// only those. Query.Sessions is ignored. Errors: *PatternError.
func After(
	ctx context.Context, c *catalog.Catalog, s catalog.Session, seq uint64, q Query,
) (hits iter.Seq2[Hit, error], err error) {
	m, err := q.compile()
	if err != nil {
		return nil, err
	}
	m.after = seq
	return func(yield func(Hit, error) bool) { m.search(ctx, c, slices.Values([]catalog.Session{s}), yield) }, nil
}

// search starts a searcher for each session, in order. The queue bounds their
// number.
func (m *matcher) search(
	ctx context.Context, c *catalog.Catalog, sessions iter.Seq[catalog.Session], yield func(Hit, error) bool,
) {
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()
	queue := make(chan chan result, runtime.GOMAXPROCS(0))
	workers.Go(func() {
		defer close(queue)
		for s := range sessions {
			if s.Remote || s.UpdatedAt.Before(m.Since) && s.Damaged == "" {
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
				journals := c.At(s.Dir()).Journals()
				worker := &searcher{matcher: m, journals: journals, session: s, ctx: ctx, results: results}
				if err := worker.search(); err != nil && !errors.Is(err, journal.ErrNotFound) {
					worker.send(result{err: &Error{s, err}})
				}
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
}

// result is a hit or an error.
type result struct {
	hit Hit
	err error
}

// searcher searches one session.
type searcher struct {
	matcher  *matcher
	journals *journal.Dir
	session  catalog.Session
	ctx      context.Context
	results  chan<- result

	verified journal.Position // the checksums were verified up to here
	damage   error            // found after verified
}

// send reports whether the caller wants more results.
func (s *searcher) send(r result) bool {
	select {
	case s.results <- r:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// search verifies no checksum until there is a hit, and then those of all lines that
// it searches; in a session that is listed as damaged it verifies them first.
func (s *searcher) search() error {
	if err := s.skip(); err != nil {
		return err
	}
	from := s.verified
	if s.session.Damaged != "" {
		s.verify()
	}
	r, err := s.journals.Reader(s.session.ID, from)
	if err != nil {
		return err
	}
	defer r.Close()
	for e, err := range r.Grep(s.index) {
		if err != nil { // verify finds out what it means for the session
			s.verify()
			return cmp.Or(s.damage, err)
		}
		hit, ok := s.find(e)
		if !ok {
			continue
		}
		if e.Seq > s.verified.Seq && s.damage == nil {
			s.verify()
		}
		if e.Seq <= s.verified.Seq && !s.send(result{hit: hit}) {
			return nil
		}
	}
	return s.damage
}

// skip skips the events that are not searched.
func (s *searcher) skip() error {
	if s.matcher.after == 0 {
		return nil
	}
	r, err := s.journals.Reader(s.session.ID, journal.Position{})
	if err != nil {
		return err
	}
	defer r.Close()
	s.verified, err = r.Find(s.matcher.after + 1)
	return err
}

// index is the function that Grep finds lines with. It finds none when the
// context is done.
func (s *searcher) index(lines []byte) int {
	if s.ctx.Err() != nil {
		return -1
	}
	return s.matcher.prefilter.index(lines)
}

// verify verifies checksums up to damage or the current end of the journal.
func (s *searcher) verify() {
	r, err := s.journals.Reader(s.session.ID, s.verified)
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
		if s.ctx.Err() != nil {
			return
		}
	}
	s.verified = r.Position()
	if s.damage == nil && s.session.MissingHeader {
		s.damage = &catalog.MissingHeaderError{ID: s.session.ID, Reason: s.session.Damaged}
	}
}

// find returns the hit of an event, if it matches.
func (s *searcher) find(e journal.Event) (Hit, bool) {
	if s.matcher.file != "" {
		return s.touch(e)
	}
	entry, ok := s.entry(e)
	if !ok {
		return Hit{}, false
	}
	return s.hit(entry)
}

// entry returns the message of an event, or the text of an unfinished turn.
func (s *searcher) entry(e journal.Event) (projection.Entry, bool) {
	switch d := conversation.Alone(projection.DecodeEvent(e)).(type) {
	case conversation.Said:
		return projection.Entry{Seq: e.Seq, Message: d.Message}, true
	case conversation.Ended:
		return projection.Entry{Seq: e.Seq, Partial: true, Message: projection.Message{
			Timestamp: projection.FormatTime(e.Time), Speaker: s.speaker(d.Turn.Speaker.ID), Content: d.Partial,
		}}, d.Partial != ""
	}
	return projection.Entry{}, false
}

// speaker returns a member as the first event of the session describes it.
func (s *searcher) speaker(memberID string) projection.Speaker {
	var members []projection.Speaker
	if r, err := s.journals.Reader(s.session.ID, journal.Position{}); err == nil {
		defer r.Close()
		members = conversation.FirstMembers(r)
	}
	return conversation.Continued(members).Speaker(memberID)
}

func (s *searcher) hit(e projection.Entry) (Hit, bool) {
	at, err := time.Parse(time.RFC3339Nano, e.Timestamp)
	if err == nil && at.Before(s.matcher.Since) {
		return Hit{}, false
	}
	if !s.matcher.matchesSpeaker(e.Speaker) {
		return Hit{}, false
	}
	return Hit{
		Session: s.session, Seq: e.Seq, Speaker: e.Speaker, Time: at, Partial: e.Partial, matcher: s.matcher,
	}.With(e.Content)
}

// lineOf returns the line of a text in which a match begins, and the match in
// it.
func lineOf(text string, start, end int) (line string, from, to int) {
	begin := strings.LastIndexByte(text[:start], '\n') + 1
	line = text[begin:]
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		line = text[begin : start+i]
	}
	line = strings.TrimSuffix(line, "\r")
	return line, min(start-begin, len(line)), min(end-begin, len(line))
}
