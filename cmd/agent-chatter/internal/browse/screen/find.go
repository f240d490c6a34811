package screen

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

const (
	maxSeqs   = 1000                  // messages of a session that n and N go through
	maxLine   = 512                   // bytes of a hit's line that are kept before and after the match
	batchTime = 50 * time.Millisecond // shortest time between two messages with hits
)

// found is what a search found in a session.
type found struct {
	title bool     // the text is in what the list shows of the session
	hits  int      // messages that match
	seqs  []uint64 // of the first of them
	first excerpt
}

// An excerpt is the line of a message in which a text was found. Every session may have one.
type excerpt struct {
	speaker    string
	line       string
	start, end int // the match in line, in bytes
}

// A finder searches the sessions for a text. The zero finder searches for nothing.
type finder struct {
	text    string
	found   map[catalog.Key]*found
	titled  bool // the titles are searched
	done    bool // the messages are searched
	failed  int  // sessions that could not be searched to their end
	problem error

	request int // number of the search; messages of others are outdated
	cancel  context.CancelFunc
	stream  *stream
}

// titlesMsg has the sessions with the text in what the list shows of them.
type titlesMsg struct {
	request int
	keys    []catalog.Key
	err     error
}

// hitsMsg has messages with the text.
type hitsMsg struct {
	request int
	found   map[catalog.Key]*found
	failed  int
	done    bool
	err     error
}

// prepare ends the last search and begins one for a text, which finds nothing before start.
func (f *finder) prepare(text string) {
	f.stop()
	*f = finder{text: text, request: f.request + 1, found: map[catalog.Key]*found{}}
}

// start searches the sessions of a list, unless that was done since prepare.
func (f *finder) start(ctx context.Context, c *catalog.Catalog, list []*catalog.Entry) tea.Cmd {
	if f.text == "" || f.stream != nil {
		return nil
	}
	ctx, f.cancel = context.WithCancel(ctx)
	f.stream = &stream{request: f.request, ready: make(chan struct{}, 1), found: map[catalog.Key]*found{}}
	text, request := f.text, f.request
	go f.stream.run(ctx, c, list, text)
	titles := func() tea.Msg {
		matches, err := catalog.Query{Text: text, MatchCase: search.MatchesCase(text)}.Select(ctx, list)
		if err != nil {
			return titlesMsg{request: request, err: err}
		}
		keys := make([]catalog.Key, len(matches))
		for i, e := range matches {
			keys[i] = e.Key()
		}
		return titlesMsg{request: request, keys: keys}
	}
	return tea.Batch(titles, f.stream.next)
}

// ended reports whether everything is searched.
func (f *finder) ended() bool { return f.titled && f.done }

// stop cancels the search.
func (f *finder) stop() {
	if f.cancel != nil {
		f.cancel()
		f.cancel = nil
	}
}

// takeTitles adds the result of the search in titles, unless it is outdated.
func (f *finder) takeTitles(m titlesMsg) (changed bool) {
	if m.request != f.request {
		return false
	}
	f.titled, f.problem = true, errors.Join(f.problem, m.err)
	for _, key := range m.keys {
		f.at(key).title = true
	}
	return true
}

// takeHits adds messages that were found, unless they are outdated.
func (f *finder) takeHits(m hitsMsg) (changed bool, next tea.Cmd) {
	if m.request != f.request {
		return false, nil
	}
	for key, more := range m.found {
		one := f.at(key)
		if one.hits == 0 {
			one.first = more.first
		}
		one.hits += more.hits
		one.seqs = append(one.seqs, more.seqs[:min(len(more.seqs), maxSeqs-len(one.seqs))]...)
	}
	f.failed += m.failed
	f.done = m.done
	f.problem = errors.Join(f.problem, m.err)
	if m.done {
		return true, nil
	}
	return true, f.stream.next
}

func (f *finder) at(key catalog.Key) *found {
	one := f.found[key]
	if one == nil {
		one = new(found)
		f.found[key] = one
	}
	return one
}

// filter returns the entries that were found.
func (f *finder) filter(all []*catalog.Entry) []*catalog.Entry {
	if f.text == "" {
		return all
	}
	shown := make([]*catalog.Entry, 0, len(f.found))
	for _, e := range all {
		if f.found[e.Key()] != nil {
			shown = append(shown, e)
		}
	}
	return shown
}

// A stream collects what a search of messages finds until the model takes it.
type stream struct {
	request int
	ready   chan struct{} // has a value if there is something to take

	taken time.Time // of the last message; used by next

	mu     sync.Mutex
	found  map[catalog.Key]*found
	failed int
	done   bool
	err    error
}

// run searches until ctx is done.
func (s *stream) run(ctx context.Context, c *catalog.Catalog, list []*catalog.Entry, text string) {
	hits, err := search.In(ctx, c, list, search.Query{Text: text})
	if err == nil {
		for hit, err := range hits {
			s.add(hit, err)
		}
		err = ctx.Err()
	}
	s.mu.Lock()
	s.done, s.err = true, err
	s.mu.Unlock()
	s.signal()
}

func (s *stream) add(hit search.Hit, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.signal()
	if err != nil {
		s.failed++
		return
	}
	one := s.found[hit.Session.Key()]
	if one == nil {
		one = &found{first: excerptOf(hit)}
		s.found[hit.Session.Key()] = one
	}
	one.hits++
	if len(one.seqs) < maxSeqs {
		one.seqs = append(one.seqs, hit.Seq)
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
	done := s.done
	s.mu.Unlock()
	if !done {
		time.Sleep(time.Until(s.taken.Add(batchTime))) // the list is filtered once for what is found meanwhile
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken = time.Now()
	m := hitsMsg{s.request, s.found, s.failed, s.done, s.err}
	s.found, s.failed = map[catalog.Key]*found{}, 0
	if s.done {
		select {
		case <-s.ready: // sent meanwhile
		default:
		}
	}
	return m
}

// excerptOf returns what the row of a session shows of its first hit.
func excerptOf(h search.Hit) excerpt {
	from, to := max(h.Start-maxLine, 0), min(h.End+maxLine, len(h.Line))
	for from < h.Start && !utf8.RuneStart(h.Line[from]) {
		from++
	}
	for to < len(h.Line) && !utf8.RuneStart(h.Line[to]) {
		to++
	}
	line := strings.Clone(h.Line[from:to]) // so that the message is released
	return excerpt{strings.Clone(h.Speaker.DisplayName), line, h.Start - from, min(h.End, to) - from}
}
