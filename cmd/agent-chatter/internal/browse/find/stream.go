package find

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

const (
	maxLine   = 512                   // bytes of a hit's line that are kept before and after the match
	batchTime = 50 * time.Millisecond // shortest time between two messages with hits
)

// A stream collects what a search of messages finds until the Finder takes it.
type stream struct {
	text  string
	ready chan struct{} // has a value if there is something to take

	taken time.Time // of the last message; used by next

	mu  sync.Mutex
	msg HitsMsg // is taken next
}

func newStream(request int, text string) *stream {
	s := &stream{text: text, ready: make(chan struct{}, 1), msg: HitsMsg{Request: request}}
	s.clear()
	return s
}

// clear removes what was taken.
func (s *stream) clear() {
	s.msg.Found, s.msg.Failed = map[catalog.Key]*Found{}, map[catalog.Key]bool{}
	s.msg.read = map[catalog.Key]uint64{}
}

// run searches with a function, and notes its end.
func (s *stream) run(messages func(*stream) error) {
	err := messages(s)
	s.mu.Lock()
	s.msg.Done, s.msg.Err = true, err
	s.mu.Unlock()
	s.signal()
}

// in searches a list until ctx is done.
func (s *stream) in(ctx context.Context, c *catalog.Catalog, list []*catalog.Entry) error {
	hits, err := search.In(ctx, c, list, search.Query{Text: s.text})
	if err != nil {
		return err
	}
	s.addAll(hits)
	return ctx.Err()
}

// after searches each session of a list after an event, until ctx is done.
func (s *stream) after(
	ctx context.Context, c *catalog.Catalog, list []*catalog.Entry, after map[catalog.Key]uint64,
) error {
	for session := range catalog.Sessions(list) {
		key := session.Key()
		if session.Remote {
			continue // it is searched when it was fetched
		}
		hits, err := search.After(ctx, c, session, after[key], search.Query{Text: s.text})
		if err != nil {
			return err
		}
		if failed := s.addAll(hits); ctx.Err() != nil {
			return ctx.Err()
		} else if !failed {
			s.mu.Lock()
			s.msg.read[key] = session.LastSeq // the row was read before the events
			s.mu.Unlock()
		}
	}
	return nil
}

// addAll adds hits. It reports whether there was an error among them.
func (s *stream) addAll(hits iter.Seq2[search.Hit, error]) (failed bool) {
	for hit, err := range hits {
		s.add(hit, err)
		failed = failed || err != nil
	}
	return failed
}

func (s *stream) add(hit search.Hit, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.signal()
	var of *search.Error
	switch {
	case errors.As(err, &of):
		s.msg.Failed[of.Session.Key()] = true
		return
	case err != nil:
		s.msg.Failed[catalog.Key{}] = true
		return
	}
	one := s.msg.Found[hit.Session.Key()]
	if one == nil {
		one = &Found{First: excerptOf(hit)}
		s.msg.Found[hit.Session.Key()] = one
	}
	one.Hits, one.last = one.Hits+1, hit.Seq
	if len(one.Seqs) < MaxSeqs {
		one.Seqs = append(one.Seqs, hit.Seq)
	}
}

func (s *stream) signal() {
	select {
	case s.ready <- struct{}{}:
	default: // the value that is there stands for this one, too
	}
}

// next is a command that waits until something was found and takes it.
func (s *stream) next() tea.Msg {
	<-s.ready
	s.mu.Lock()
	done := s.msg.Done
	s.mu.Unlock()
	if !done {
		time.Sleep(time.Until(s.taken.Add(batchTime))) // the list is filtered once for what is found meanwhile
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = time.Now()
	m := s.msg
	s.clear()
	if m.Done {
		select {
		case <-s.ready: // sent meanwhile
		default:
		}
	}
	return m
}

// An Excerpt is the line of a message in which a text was found. Every session may have one.
type Excerpt struct {
	Speaker    string
	Line       string
	Start, End int // the match in Line, in bytes
}

// excerptOf returns what the row of a session shows of its first hit.
func excerptOf(h search.Hit) Excerpt {
	from, to := max(h.Start-maxLine, 0), min(h.End+maxLine, len(h.Line))
	for from < h.Start && !utf8.RuneStart(h.Line[from]) {
		from++
	}
	for to < len(h.Line) && !utf8.RuneStart(h.Line[to]) {
		to++
	}
	line := strings.Clone(h.Line[from:to]) // so that the message is released
	return Excerpt{strings.Clone(h.Speaker.DisplayName), line, h.Start - from, min(h.End, to) - from}
}
