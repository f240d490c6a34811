package live

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// An Inbox takes what front ends enter.
type Inbox interface {
	Enter(in Input) error
	TakeBack(id string) (text string, ok bool)
	Cancel(member string) // the turn of a member, or all if it is ""
	// Complete returns how a text can go on for a front end with a role. It does not block.
	Complete(role web.Role, text string) Completion
}

// A Shared conversation is one that front ends take part in. This process or another one hosts it.
type Shared interface {
	Enter(in Input) error
	TakeBack(id string) (text string, err error)
	Answer(question string, a Answer) error
	Cancel(member string) error
	Complete(role web.Role, text string) Completion
	Watch(ctx context.Context) iter.Seq[Update]
}

var _ Shared = (*Conversation)(nil)

// A Conversation is a conversation that this process hosts. Its methods may be called concurrently.
type Conversation struct {
	inbox   Inbox
	entered entered

	mu        sync.Mutex
	state     State
	version   int
	questions []*asked
	asks      int
	replies   map[string]*streamed // of open turns
	seq       uint64               // of the last event
	notices   []string
	dropped   int // notices that are too old to be kept
	watchers  map[*watcher]struct{}
	ended     bool
}

// An asked question waits for an answer.
type asked struct {
	Question
	given  chan Answer // gets the answer
	answer *Answer     // nil: there is none yet
}

// An Answer is the answer to a question, and the device that gave it.
type Answer struct {
	coordinator.Answer
	By string
}

// keptNotices is how many notices a front end that attaches later, or is slow, gets.
const keptNotices = 50

// New returns a conversation that takes what is entered into an inbox.
func New(inbox Inbox) *Conversation {
	return &Conversation{inbox: inbox, replies: map[string]*streamed{}, watchers: map[*watcher]struct{}{}}
}

// ErrEnded is the error of a conversation that is not hosted any more.
var ErrEnded = errors.New("the conversation has ended")

// over reports whether the conversation has ended here.
func (c *Conversation) over() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// ErrSent is the error of an input that cannot be taken back.
var ErrSent = errors.New("the message was sent already")

// TakeBack removes an input that is queued. The error is ErrSent.
func (c *Conversation) TakeBack(id string) (text string, err error) {
	text, ok := c.inbox.TakeBack(id)
	if !ok {
		return "", ErrSent
	}
	return text, nil
}

// Cancel cancels the turn of a member, or all turns.
func (c *Conversation) Cancel(member string) error {
	if c.over() {
		return ErrEnded
	}
	c.inbox.Cancel(member)
	return nil
}

// Complete returns how a text can go on.
func (c *Conversation) Complete(role web.Role, text string) Completion {
	return c.inbox.Complete(role, text)
}

// An AnsweredError is the error of an answer to a question that is not open.
type AnsweredError struct{ By string } // the device that answered first; "": unknown

func (e *AnsweredError) Error() string {
	if e.By != "" {
		return fmt.Sprintf("%.40q has answered first", e.By)
	}
	return "the question is not open any more"
}

// Answer answers a question. The errors are *AnsweredError, and the one of an answer that does not fit.
func (c *Conversation) Answer(id string, a Answer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.questions, func(q *asked) bool { return q.ID == id })
	if i < 0 {
		return &AnsweredError{}
	}
	q := c.questions[i]
	if q.answer != nil {
		return &AnsweredError{q.answer.By}
	}
	if err := fits(q.Permission, a.Answer); err != nil {
		return err
	}
	q.answer = &a
	q.given <- a
	c.change()
	return nil
}

// fits checks that an answer is one of those that are possible.
func fits(p agent.Permission, a coordinator.Answer) error {
	switch {
	case HasControl(a.Reason):
		return errors.New("the reason has control characters")
	case a.Decision == coordinator.Allowed && len(p.Questions) > 0:
		if len(a.Answers) != len(p.Questions) {
			return errNoFit
		}
		for i, q := range p.Questions {
			if err := q.Check(a.Answers[i]); err != nil {
				return err
			}
		}
		return nil
	case len(a.Answers) > 0,
		a.Decision == coordinator.AllowedForSession && (p.Omitted > 0 || len(p.Questions) > 0),
		a.Decision == coordinator.AllowedAlways: // a stolen device must not be able to
		return errNoFit
	}
	return nil
}

var errNoFit = errors.New("this is no answer to the question")

// HasControl reports whether a text has control characters other than those of several lines.
func HasControl(text string) bool {
	return strings.ContainsFunc(text, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' })
}

// Ask opens a question. The caller closes it.
func (c *Conversation) Ask(q coordinator.Question) *Asked {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asks++
	open := &asked{given: make(chan Answer, 1), Question: Question{
		ID: fmt.Sprintf("q%d", c.asks), Turn: q.TurnID, Member: q.Member.ID, Name: q.Member.DisplayName,
		Permission: q.Permission,
	}}
	c.questions = append(c.questions, open)
	c.change()
	return &Asked{c, open}
}

// An Asked is a question that front ends can answer until it is closed.
type Asked struct {
	of *Conversation
	*asked
}

// Wait waits for the answer of a front end. ok is false if ctx is done.
func (a *Asked) Wait(ctx context.Context) (answer Answer, ok bool) {
	select {
	case answer = <-a.given:
		return answer, true
	case <-ctx.Done():
		return answer, false
	}
}

// Close withdraws the question. If a front end has answered first, it returns its answer.
func (a *Asked) Close() (answer Answer, answered bool) {
	c := a.of
	c.mu.Lock()
	defer c.mu.Unlock()
	c.questions = slices.DeleteFunc(c.questions, func(q *asked) bool { return q == a.asked })
	c.change()
	if a.answer != nil {
		return *a.answer, true
	}
	return answer, false
}

// change makes the watchers look. The lock is held.
func (c *Conversation) change() {
	c.version++
	c.wake()
}

func (c *Conversation) wake() {
	for w := range c.watchers {
		select {
		case w.news <- struct{}{}:
		default:
		}
	}
}

// Set changes the state; it must keep no reference. The open questions are not a part of it.
func (c *Conversation) Set(change func(*State)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.state)
	c.change()
}

// Text takes what a turn streams.
func (c *Conversation) Text(turn, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reply := c.replies[turn]
	if reply == nil {
		reply = new(streamed)
		c.replies[turn] = reply
	}
	reply.add(c.seq, text)
	c.wake()
}

// Notice takes what the program says.
func (c *Conversation) Notice(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notices = append(c.notices, text)
	if n := len(c.notices) - keptNotices; n > 0 {
		c.notices = slices.Delete(c.notices, 0, n)
		c.dropped += n
	}
	c.wake()
}

// Return gives lines that were queued for a cancelled turn back to those who entered them. A front end that takes none
// of them is left out: when it attaches once more, it finds that they were neither sent nor are queued.
func (c *Conversation) Return(lines []tty.Line) {
	inputs := queuedOf(lines)
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.watchers {
		w.returned = append(w.returned, inputs...)
		if len(w.returned) > maxReturned {
			w.lost = true
		}
	}
	c.wake()
}

// maxReturned is how many inputs wait for a front end.
const maxReturned = 10 * maxQueued

// End ends the conversation here. Open questions are withdrawn by those who ask.
func (c *Conversation) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.wake()
}

// A streamed is what a turn has streamed.
type streamed struct {
	text  strings.Builder
	parts []part
}

// A part of a text was said between two events.
type part struct {
	after uint64 // the event
	at    int    // where it begins
}

func (s *streamed) add(after uint64, text string) {
	if n := len(s.parts); n == 0 || s.parts[n-1].after != after {
		s.parts = append(s.parts, part{after, s.text.Len()})
	}
	s.text.WriteString(text)
}

// from returns what follows the first bytes.
func (s *streamed) from(turn string, at int) (replies []Reply) {
	all := s.text.String()
	for i, p := range s.parts {
		end := len(all)
		if i+1 < len(s.parts) {
			end = s.parts[i+1].at
		}
		if begin := max(p.at, at); begin < end {
			replies = append(replies, Reply{turn, begin, p.after, all[begin:end]})
		}
	}
	return replies
}

// A watcher is what a front end has got.
type watcher struct {
	news     chan struct{}
	version  int
	replies  map[string]int // how many bytes of each it has
	notices  int
	returned []Queued
	lost     bool // it is too slow
}

// Watch yields updates until ctx is done or the conversation ends: at first everything, then what is new. It may block
// in the loop: what happens meanwhile is in the next update.
func (c *Conversation) Watch(ctx context.Context) iter.Seq[Update] {
	return func(yield func(Update) bool) {
		w := &watcher{news: make(chan struct{}, 1), version: -1, replies: map[string]int{}}
		c.mu.Lock()
		c.watchers[w] = struct{}{}
		w.notices = c.dropped + len(c.notices)
		c.mu.Unlock()
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.watchers, w)
		}()
		for {
			if u, over := c.take(w); !u.empty() && !yield(u) || over {
				return
			}
			select {
			case <-w.news:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (u Update) empty() bool {
	return u.State == nil && len(u.Replies)+len(u.Notices)+len(u.Returned) == 0 && !u.Ended
}

// take returns what is new for a watcher, and whether nothing follows.
func (c *Conversation) take(w *watcher) (u Update, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.version != c.version {
		w.version = c.version
		u.State = c.snapshot()
	}
	maps.DeleteFunc(w.replies, func(turn string, _ int) bool { return c.replies[turn] == nil })
	for turn, reply := range c.replies {
		u.Replies = append(u.Replies, reply.from(turn, w.replies[turn])...)
		w.replies[turn] = reply.text.Len()
	}
	u.Notices = slices.Clone(c.notices[max(0, w.notices-c.dropped):])
	w.notices = c.dropped + len(c.notices)
	u.Returned, w.returned = w.returned, nil
	u.Ended = c.ended
	return u, u.Ended || w.lost
}

// snapshot returns the state with the open questions. The lock is held.
func (c *Conversation) snapshot() *State {
	s := c.state
	s.Speaking, s.Next, s.Waiting = slices.Clone(s.Speaking), slices.Clone(s.Next), slices.Clone(s.Waiting)
	s.Queue, s.Sent = slices.Clone(s.Queue), slices.Clone(s.Sent)
	for _, q := range c.questions {
		if q.answer == nil {
			s.Questions = append(s.Questions, q.Question)
		}
	}
	return &s
}
