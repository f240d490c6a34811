package find

import (
	"context"
	"errors"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/letters"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// MaxSeqs is how many messages of a session are kept.
const MaxSeqs = 1000

// Found is what a search found in a session.
type Found struct {
	Title bool     // the text is in what the list shows of the session
	Hits  int      // messages that match
	Seqs  []uint64 // of the first MaxSeqs of them
	First Excerpt

	last uint64 // seq of the last message that matches
}

// A Finder searches the sessions for a text.
type Finder struct {
	Text    string // "": nothing is searched
	Request int    // number of the search; messages of others are outdated
	Found   map[catalog.Key]*Found
	Failed  map[catalog.Key]bool // sessions that could not be searched to their end
	Problem error

	catalog *catalog.Catalog
	parent  context.Context
	ctx     context.Context // of the search
	cancel  context.CancelFunc
	stream  *stream // nil: the search has not started
	busy    bool    // the stream has not ended
	titled  bool    // the titles are searched
	done    bool    // the messages are searched

	changed map[catalog.Key]*catalog.Entry // are searched when the stream has ended
	read    map[catalog.Key]uint64         // up to which event; only of sessions that had changed
}

// TitlesMsg has the sessions with the text in what the list shows of them.
type TitlesMsg struct {
	Request int
	Keys    []catalog.Key
	Err     error
}

// HitsMsg has messages with the text.
type HitsMsg struct {
	Request int
	Found   map[catalog.Key]*Found
	Failed  map[catalog.Key]bool
	Done    bool
	Err     error

	read map[catalog.Key]uint64 // as in Finder
}

// ChangedMsg has the sessions that were written since the list before was read.
type ChangedMsg struct {
	Request int
	Entries []*catalog.Entry
}

// New returns a Finder that searches for nothing. Its searches end when ctx is done.
func New(ctx context.Context, c *catalog.Catalog) *Finder { return &Finder{parent: ctx, catalog: c} }

// Prepare ends the last search and begins one for a text, which finds nothing before Start.
func (f *Finder) Prepare(text string) {
	f.Stop()
	*f = Finder{
		Text: text, Request: f.Request + 1, Found: map[catalog.Key]*Found{}, Failed: map[catalog.Key]bool{},
		catalog: f.catalog, parent: f.parent,
		changed: map[catalog.Key]*catalog.Entry{}, read: map[catalog.Key]uint64{},
	}
}

// Start searches the sessions of a list, unless that was done since Prepare.
func (f *Finder) Start(list []*catalog.Entry) tea.Cmd {
	if f.Text == "" || f.stream != nil {
		return nil
	}
	f.ctx, f.cancel = context.WithCancel(f.parent)
	ctx, c := f.ctx, f.catalog
	return f.search(list, func(s *stream) error { return s.in(ctx, c, list) })
}

// search searches titles, and messages by a method of a stream.
func (f *Finder) search(list []*catalog.Entry, messages func(*stream) error) tea.Cmd {
	ctx, text, request := f.ctx, f.Text, f.Request
	f.stream, f.busy = newStream(request, text), true
	go f.stream.run(messages)
	titles := func() tea.Msg {
		matches, err := catalog.Query{Text: text, MatchCase: search.MatchesCase(text)}.Select(ctx, list)
		if err != nil {
			return TitlesMsg{Request: request, Err: err}
		}
		keys := make([]catalog.Key, len(matches))
		for i, e := range matches {
			keys[i] = e.Key()
		}
		return TitlesMsg{Request: request, Keys: keys}
	}
	return tea.Batch(titles, f.stream.next)
}

// Compare is a command that finds out which sessions of a list were written since the list before was read.
func (f *Finder) Compare(before, list []*catalog.Entry) tea.Cmd {
	if f.Text == "" || f.stream == nil {
		return nil
	}
	request := f.Request
	return func() tea.Msg {
		for len(before) > 0 && len(list) > 0 && same(before[len(before)-1], list[len(list)-1]) {
			before, list = before[:len(before)-1], list[:len(list)-1] // most sessions do not change
		}
		known := make(map[catalog.Key]*catalog.Entry, len(before))
		for _, e := range before {
			known[e.Key()] = e
		}
		m := ChangedMsg{Request: request}
		for _, e := range list {
			if one := known[e.Key()]; one == nil || !same(one, e) {
				m.Entries = append(m.Entries, e)
			}
		}
		return m
	}
}

// same reports whether two entries are of a session that was neither written nor fetched between them.
func same(a, b *catalog.Entry) bool {
	return a.Key() == b.Key() && a.UpdatedAt().Equal(b.UpdatedAt()) && a.Remote() == b.Remote()
}

// Stop cancels the search.
func (f *Finder) Stop() {
	if f.cancel != nil {
		f.cancel()
		f.cancel = nil
	}
}

// Ended reports whether everything is searched, except what was written meanwhile.
func (f *Finder) Ended() bool { return f.titled && f.done }

// Update takes a message of a command of the Finder. It ignores others, and those of an outdated search. It reports
// whether what was found has changed.
func (f *Finder) Update(msg tea.Msg) (changed bool, cmd tea.Cmd) {
	switch msg := msg.(type) {
	case TitlesMsg:
		if msg.Request == f.Request {
			f.takeTitles(msg)
			return true, nil
		}
	case HitsMsg:
		if msg.Request == f.Request {
			return true, f.takeHits(msg)
		}
	case ChangedMsg:
		if msg.Request == f.Request {
			for _, e := range msg.Entries {
				f.changed[e.Key()] = e
			}
			return false, f.again()
		}
	}
	return false, nil
}

func (f *Finder) takeTitles(m TitlesMsg) {
	f.titled, f.Problem = true, errors.Join(f.Problem, m.Err)
	for _, key := range m.Keys {
		f.at(key).Title = true
	}
}

func (f *Finder) takeHits(m HitsMsg) tea.Cmd {
	for key, more := range m.Found {
		one := f.at(key)
		if one.Hits == 0 {
			one.First = more.First
		}
		one.Hits, one.last = one.Hits+more.Hits, more.last
		one.Seqs = append(one.Seqs, more.Seqs[:min(len(more.Seqs), MaxSeqs-len(one.Seqs))]...)
	}
	maps.Copy(f.Failed, m.Failed)
	maps.Copy(f.read, m.read)
	f.Problem = errors.Join(f.Problem, m.Err)
	if f.done, f.busy = f.done || m.Done, !m.Done; f.busy {
		return f.stream.next
	}
	return f.again()
}

// again searches what was written to sessions since they were searched, once the stream has ended.
func (f *Finder) again() tea.Cmd {
	if f.busy || len(f.changed) == 0 {
		return nil
	}
	after := map[catalog.Key]uint64{}
	for key := range f.changed {
		after[key] = f.read[key]
		if one := f.Found[key]; one != nil {
			after[key] = max(one.last, f.read[key])
		}
	}
	ctx, c, list := f.ctx, f.catalog, slices.Collect(maps.Values(f.changed))
	clear(f.changed)
	return f.search(list, func(s *stream) error { return s.after(ctx, c, list, after) })
}

func (f *Finder) at(key catalog.Key) *Found {
	one := f.Found[key]
	if one == nil {
		one = new(Found)
		f.Found[key] = one
	}
	return one
}

// Filter returns the entries that were found.
func (f *Finder) Filter(all []*catalog.Entry) []*catalog.Entry {
	if f.Text == "" {
		return all
	}
	shown := make([]*catalog.Entry, 0, len(f.Found))
	for _, e := range all {
		if f.Found[e.Key()] != nil {
			shown = append(shown, e)
		}
	}
	return shown
}

// Matcher returns the function that returns where a text that is searched for is in what is shown, as
// regexp.Regexp.FindAllStringIndex does; nil: nothing is searched for.
func Matcher(text string) func(string) [][]int {
	if text == "" {
		return nil
	}
	form := letters.Compose
	if !search.MatchesCase(text) {
		form = letters.Fold
	}
	wanted := form(text)
	return func(shown string) (places [][]int) {
		for from := 0; from < len(shown); {
			start, end, ok := letters.Index(shown[from:], wanted, form)
			if !ok || start == end {
				return places
			}
			places = append(places, []int{from + start, from + end})
			from += end
		}
		return places
	}
}
