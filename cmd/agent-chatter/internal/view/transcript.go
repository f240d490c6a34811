package view

import (
	"iter"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// A Transcript turns a conversation into blocks, as it happens or from a journal: events and streamed text by their
// deltas, one turn after the other, or whole items. A block is returned once, when it can no longer change; Held has
// those that still can. The blocks do not depend on when or in which chunks the text of a reply arrives, except that a
// link definition has no effect on blocks that were returned before it. It is pure: it reads no clock, and the times of
// tools are those of their events. The zero value is ready to use.
type Transcript struct {
	Members // session.created adds those that are missing

	conversation conversation.Conversation
	sequence     conversation.Sequence
	turn         *shownTurn // nil: no agent speaks
	queue        []Block    // after the last one that was returned, up to text
	preview      *preview   // of a turn of a panel; nil: none
	before       int        // blocks that the last call returned before those of a turn that began; -1: none began
	text         openText
	calls        []Call // that have ended, the newest ones
}

// A written is the text that is being written, and what precedes it.
type openText struct {
	stream markdown.Stream
	begun  bool    // stream has text
	lexer  Lexer   // of the block of code that is being written
	last   element // what the newest block shows
	name   string  // for the next piece: it begins a part of a message
}

// An element is a kind of block.
type element int

const (
	noElement element = iota
	nameElement
	textElement
	callElement
	planElement
	endElement
)

// A shownTurn is the turn of the member that speaks.
type shownTurn struct {
	member   Member
	named    bool   // its name is shown
	released []Call // that Release returned before they had a result
}

// Continued returns the Transcript of events in the middle of a conversation, whose earlier blocks are shown elsewhere.
func Continued(members Members) *Transcript {
	t := &Transcript{Members: members, conversation: *conversation.Continued(members.Speakers())}
	t.text.last = textElement
	return t
}

// Apply adds an event and returns the blocks that are final after it.
func (t *Transcript) Apply(e projection.Event) []Block { return t.show(t.conversation.Apply(e)) }

// Stream adds text that a turn streams and returns the blocks that are final after it. The events that record the same
// text later add nothing.
func (t *Transcript) Stream(turnID, text string) []Block {
	return t.show(t.conversation.Stream(turnID, text))
}

// Close ends the conversation and returns its last blocks: a turn without an end is unfinished.
func (t *Transcript) Close() []Block { return t.show(t.conversation.Close()) }

// Open returns the turns that have no end, the oldest first.
func (t *Transcript) Open() []*conversation.Turn { return t.conversation.Open() }

// Held returns the blocks that are not final, as they are now.
func (t *Transcript) Held() []Block {
	held := slices.Clone(t.queue)
	text := t.text
	for _, p := range t.text.stream.Held() {
		held = append(held, text.block(p))
	}
	return held
}

// Waiting returns the messages that follow what the member that speaks does.
func (t *Transcript) Waiting() []projection.Message { return t.sequence.Waiting() }

// Calls returns the tool calls that have ended, the newest maxCalls, and those of turns that are shown later.
func (t *Transcript) Calls() []Call {
	calls := slices.Clone(t.calls)
	for _, d := range t.sequence.Held() {
		if d, ok := d.(conversation.Completed); ok {
			calls = append(calls, Call{d.Call})
		}
	}
	return calls
}

const maxCalls = 2000

func (t *Transcript) ended(c Call) {
	t.calls = append(t.calls, c)
	if len(t.calls) > 2*maxCalls {
		t.calls = slices.Clone(t.calls[maxCalls:])
	}
}

// Speaking reports whether a turn is open: the blocks that follow belong to those that were returned last.
func (t *Transcript) Speaking() bool { return t.turn != nil }

// take returns and forgets the blocks up to the first tool call that is running.
func (t *Transcript) take() []Block {
	n := slices.IndexFunc(t.queue, Block.running)
	if n < 0 {
		n = len(t.queue)
	}
	final := t.queue[:n:n]
	t.queue = t.queue[n:]
	return final
}

// add adds a block that shows an element.
func (t *Transcript) add(e element, blank bool, c content) {
	t.queue = append(t.queue, Block{blank: blank && t.text.last != noElement, content: c})
	t.text.last = e
}

// show adds deltas and returns the blocks that are final after them.
func (t *Transcript) show(deltas []conversation.Delta) []Block {
	t.before = -1
	t.preview.add(deltas)
	for _, d := range t.sequence.Next(deltas) {
		t.showDelta(d)
	}
	return t.take()
}

func (t *Transcript) showDelta(d conversation.Delta) {
	switch d := d.(type) {
	case conversation.Changed:
		switch p := d.Payload.(type) {
		case projection.SessionCreated:
			t.AddMembers(p.Team.Members)
		case projection.Described:
			t.change(p)
		}
	case conversation.Said:
		t.interrupt()
		d.Message.Content = d.Text()
		t.message(d.Message)
	case conversation.Began:
		t.turn, t.before = &shownTurn{member: t.speaking(d.Turn.Speaker)}, len(t.queue)
	case conversation.Text:
		t.continued(d.Turn)
		t.say(d.Text)
	case conversation.Called:
		t.continued(d.Turn)
		t.addStep(callElement, Call{d.Call})
	case conversation.Completed:
		t.continued(d.Turn)
		t.complete(Call{d.Call})
	case conversation.Planned:
		t.continued(d.Turn)
		if len(d.Plan.Entries) > 0 {
			t.addStep(planElement, checklist{Entries: d.Plan.Entries, More: d.Plan.More})
		}
	case conversation.Replied:
		t.continued(d.Turn)
		t.reply(d)
	case conversation.Ended:
		t.continued(d.Turn)
		t.end(d)
	}
}

// continued begins a turn whose start was not seen. Its name is shown elsewhere.
func (t *Transcript) continued(turn *conversation.Turn) {
	if t.turn == nil {
		t.turn = &shownTurn{named: true}
	}
	if t.turn.member.ID == "" {
		t.turn.member = t.speaking(turn.Speaker)
	}
}

// interrupt ends what the member that speaks has written so far, before a message to it.
func (t *Transcript) interrupt() {
	if t.turn != nil {
		t.endMessage()
		t.turn.named = false
	}
}

// begin shows the name of the turn's member before the first block of the turn.
func (t *Transcript) begin() {
	if !t.turn.named {
		t.addName(t.turn.member)
		t.turn.named = true
	}
}

func (t *Transcript) addName(m Member) {
	t.add(nameElement, true, Name{Name: m.DisplayName, Color: m.Color})
	t.text.name = m.DisplayName
}

// addStep adds a tool call or a plan.
func (t *Transcript) addStep(e element, c content) {
	t.begin()
	t.endText(t.turn.member.DisplayName)
	t.add(e, t.text.last != nameElement, c)
}

// complete adds the result of a call: to its block, or after what was released.
func (t *Transcript) complete(c Call) {
	same := func(other Call) bool { return other.Seq == c.Seq && other.Result == nil }
	for i, b := range t.queue {
		if call, ok := b.content.(Call); ok && same(call) {
			t.queue[i].content = c
			t.ended(c)
			return
		}
	}
	if i := slices.IndexFunc(t.turn.released, same); i >= 0 {
		t.turn.released = slices.Delete(t.turn.released, i, i+1)
		t.endText(t.turn.member.DisplayName)
		t.add(callElement, true, c)
		t.ended(c)
	}
}

// reply adds the rest of the message of the turn, or all of it.
func (t *Transcript) reply(d conversation.Replied) {
	if d.Whole {
		t.endText("")
		t.turn.named = false
	}
	t.say(d.Rest)
	t.endText("")
}

// end ends the turn.
func (t *Transcript) end(d conversation.Ended) {
	if !d.Turn.Replied() {
		t.say(d.Rest)
		t.endText("")
	}
	for _, c := range d.Open {
		for i, b := range t.queue {
			if call, ok := b.content.(Call); ok && call.Seq == c.Seq {
				t.queue[i].content = Call{c}
			}
		}
	}
	if line, ok := EndOf(d.End, d.Turn.Replied()); ok {
		t.begin()
		t.add(endElement, false, line)
	}
	t.endMessage()
	t.turn = nil
}

// say adds text of the member whose turn it is. Line breaks at the beginning of a part of it are left out, and after a
// step all blanks, as in the parts of an item.
func (t *Transcript) say(text string) {
	switch {
	case t.text.begun:
	case t.text.last == callElement, t.text.last == planElement:
		text = strings.TrimLeft(text, blanks)
	default:
		text = strings.TrimLeft(text, "\r\n")
	}
	if strings.Trim(text, blanks) != "" {
		t.begin()
	}
	if text == "" {
		return
	}
	t.text.begun = true
	for _, p := range t.text.stream.Write(text) {
		t.queue = append(t.queue, t.text.block(p))
	}
}

// endMessage ends a message. Its link definitions have no effect on others.
func (t *Transcript) endMessage() {
	t.endText("")
	t.text.stream = markdown.Stream{}
}

// endText ends a part of a message. The next part begins with the name where text has it.
func (t *Transcript) endText(name string) {
	for _, p := range t.text.stream.Close() {
		t.queue = append(t.queue, t.text.block(p))
	}
	t.text.name, t.text.begun = name, false
}

// blanks are trimmed from the ends of texts.
const blanks = " \t\r\n"

// block returns the block of the next piece.
func (w *openText) block(p markdown.Piece) Block {
	if p.Kind == "" && strings.Trim(p.Source, blanks) == "" {
		return Block{}
	}
	shown := Text{Piece: p, Name: w.name}
	w.name = ""
	switch p.Kind {
	case "":
		return Block{content: shown}
	case markdown.CodeBlock:
		if p.First {
			w.lexer = NewLexer(p.Language)
		}
		shown.Code = w.lexer.Line(ansi.ExpandTabs(strings.TrimRight(p.Text, "\r\n")))
	}
	b := Block{content: shown}
	b.blank = w.last != nameElement && w.last != noElement && (w.last != textElement || w.apart(p))
	w.last = textElement
	return b
}

// apart reports whether a blank line separates a piece from the one before it. In lists and quotes, and in code, it
// is where the source has one.
func (w *openText) apart(p markdown.Piece) bool {
	switch {
	case ansi.BlankInQuote(p), p.Joined, p.Kind == markdown.CodeBlock && !p.First && !p.Blank:
		return false
	}
	return p.Blank || len(p.Containers) == 0
}

// change shows a change of a member, a limit or files.
func (t *Transcript) change(p projection.Described) {
	if p, ok := p.(projection.MemberChanged); ok && p.Added != nil {
		t.AddMembers([]projection.Member{*p.Added})
	}
	t.add(endElement, true, Note(p.Text()))
}

// Message returns the blocks of a message without its turn.
func (t *Transcript) Message(m projection.Message) []Block {
	t.message(m)
	return t.take()
}

func (t *Transcript) message(m projection.Message) {
	member := t.member(m.Speaker)
	t.addName(member)
	t.add(textElement, false, message{name: member.DisplayName, text: m.Content})
	t.text = openText{last: t.text.last}
}

// Item returns the blocks of an item that is shown whole, after those of the items before it. A change of the session
// has none, but that of a member, a limit or files.
func (t *Transcript) Item(i *conversation.Item) []Block {
	entry, ok := i.Entry()
	if !ok {
		if p, ok := i.Change.(projection.Described); ok {
			t.change(p)
		}
		return t.take()
	}
	member := t.member(entry.Speaker)
	t.addName(member)
	unfinished := app.UnfinishedText(entry)
	for _, p := range i.Parts() {
		switch {
		case p.Step == nil:
			said := message{name: member.DisplayName + unfinished, text: p.Text}
			t.add(textElement, t.text.last != nameElement, said)
		case p.Step.Plan != nil:
			plan := checklist{Entries: p.Step.Plan.Entries, More: p.Step.Plan.More}
			t.add(planElement, t.text.last != nameElement, plan)
		default:
			c := Call{*p.Step.Call}
			c.Over = true
			t.add(callElement, t.text.last != nameElement, c)
			if c.Result != nil {
				t.ended(c)
			}
		}
	}
	t.text = openText{last: t.text.last}
	if unfinished != "" {
		t.add(endElement, false, TurnEnd{Problem: strings.Trim(unfinished, " ()")})
	}
	return t.take()
}

// BlocksFrom yields a conversation as the chat shows it, from the turn or message that event first belongs to. An error
// ends it.
func BlocksFrom(events iter.Seq2[projection.Event, error], first uint64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		var t Transcript
		var blocks []Block
		for e, err := range events {
			if err != nil {
				yield(Block{}, err)
				return
			}
			final := t.Apply(e)
			if e.Seq < first {
				switch {
				case !t.Speaking():
					blocks = nil
				case t.before >= 0: // the turn before it has ended
					blocks = final[min(t.before, len(final)):]
				default:
					blocks = append(blocks, final...)
				}
				continue
			}
			blocks = append(blocks, final...)
			for _, b := range blocks {
				if !yield(b, nil) {
					return
				}
			}
			blocks = nil
		}
		for _, b := range append(blocks, t.Close()...) {
			if !yield(b, nil) {
				return
			}
		}
	}
}
