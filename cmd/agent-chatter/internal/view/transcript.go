package view

import (
	"iter"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// A Transcript turns the events of a session into blocks, as they happen or from a journal. A block is returned once,
// when it can no longer change; Held has those that still can. The blocks do not depend on when or in which chunks
// the text of a reply arrives, except that a link definition has no effect on blocks that were returned before it.
// It is pure: it reads no clock, and the times of tools are those of their events. The zero value is ready to use.
type Transcript struct {
	Members []Member // in the order of the team. session.created adds those that are missing

	turn  *openTurn // nil: no agent speaks
	queue []Block   // after the last one that was returned, up to text
	text  written
	last  Call // that has ended
}

// A written is the text that is being written, and what precedes it.
type written struct {
	stream markdown.Stream
	lexer  Lexer   // of the block of code that is being written
	last   element // what the newest block shows
	name   string  // for the next piece: it begins a part of a message
}

// An element is a kind of block.
type element int

const (
	nothing element = iota
	aName
	someText
	aCall
	aPlan
	anEnd
)

// An openTurn is the turn of the member that speaks.
type openTurn struct {
	id       string
	member   Member
	reply    reply
	streamed bool // by Stream: the text of the journal's events is the same
	named    bool // its name is shown
	replied  bool // its message was appended
	divided  bool // a step is between parts of its text, which may be other Markdown than the whole
	plan     []projection.PlanEntry
	released []Call // that Release returned before they had a result
}

// Continue makes the first event that is applied one in the middle of a conversation, whose earlier blocks are shown
// elsewhere. open is the start of the turn that is open there, whose name is shown; nil: no agent speaks.
func (t *Transcript) Continue(open *projection.TurnStarted) {
	t.text.last = someText
	if open != nil {
		member := t.member(projection.Speaker{ID: open.MemberID})
		t.turn = &openTurn{id: open.TurnID, member: member, named: true, divided: true}
	}
}

// Apply adds an event and returns the blocks that are final after it.
func (t *Transcript) Apply(e journal.Event) []Block {
	payload, err := projection.Decode(e)
	if err != nil {
		return nil
	}
	switch p := payload.(type) {
	case projection.SessionCreated:
		t.AddMembers(p.Team.Members)
	case projection.TurnStarted:
		t.endTurn(nil)
		t.turn = &openTurn{id: p.TurnID, member: t.member(projection.Speaker{ID: p.MemberID})}
	case projection.TurnText:
		if t.turn != nil && t.turn.id == p.TurnID && !t.turn.streamed {
			t.hear(p.Text)
		}
	case projection.ToolStarted:
		t.startCall(e, p)
	case projection.ToolCompleted:
		t.completeCall(e, p)
	case projection.PlanUpdated:
		t.updatePlan(p)
	case projection.MessageAppended:
		t.appendMessage(p.Message)
	case projection.TurnEnded:
		t.endTurn(&p)
	}
	return t.take()
}

// Stream adds text that the speaking member streams and returns the blocks that are final after it. The events that
// record the same text later add nothing.
func (t *Transcript) Stream(text string) []Block {
	if t.turn == nil || t.turn.replied {
		return nil
	}
	t.turn.streamed = true
	t.hear(text)
	return t.take()
}

// Held returns the blocks that are not final, as they are now.
func (t *Transcript) Held() []Block {
	held := slices.Clone(t.queue)
	text := t.text
	for _, p := range t.text.stream.Held() {
		held = append(held, text.block(p))
	}
	return held
}

// Close ends the conversation and returns its last blocks: a turn without an end is unfinished.
func (t *Transcript) Close() []Block {
	t.endTurn(nil)
	return t.take()
}

// LastCall returns the tool call that ended last, to be shown whole.
func (t *Transcript) LastCall() (Block, bool) { return Block{content: t.last}, t.last.Ended }

// Speaking reports whether a turn is open: the blocks that follow belong to those that were returned last.
func (t *Transcript) Speaking() bool { return t.turn != nil }

// take returns and forgets the blocks up to the first tool call that has no result.
func (t *Transcript) take() []Block {
	n := slices.IndexFunc(t.queue, func(b Block) bool {
		c, ok := b.content.(Call)
		return ok && !c.Ended
	})
	if n < 0 {
		n = len(t.queue)
	}
	final := t.queue[:n:n]
	t.queue = t.queue[n:]
	return final
}

// add adds a block that shows an element.
func (t *Transcript) add(e element, blank bool, c content) {
	t.queue = append(t.queue, Block{blank: blank && t.text.last != nothing, content: c})
	t.text.last = e
}

// begin shows the name of the turn's member before the first block of the turn.
func (t *Transcript) begin() {
	if turn := t.turn; !turn.named {
		t.addName(turn.member)
		turn.named = true
	}
}

func (t *Transcript) addName(m Member) {
	t.add(aName, true, Name{Name: m.DisplayName, Color: m.Color})
	t.text.name = m.DisplayName
}

// hear adds a chunk of the reply of the member whose turn it is.
func (t *Transcript) hear(chunk string) {
	r := &t.turn.reply
	t.say(r.pass(chunk))
	for r.marked && r.passed < maxPassed && !t.turn.divided && t.text.stream.Fenced() {
		t.say(r.passMarker())
	}
}

// say adds text of the member whose turn it is.
func (t *Transcript) say(text string) {
	if strings.Trim(text, blanks) != "" {
		t.begin()
	}
	t.write(text)
}

// write adds text to the message that is being written.
func (t *Transcript) write(text string) {
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
	t.text.name = name
}

// block returns the block of the next piece.
func (w *written) block(p markdown.Piece) Block {
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
	b.blank = w.last != aName && w.last != nothing && (w.last != someText || w.apart(p))
	w.last = someText
	return b
}

// apart reports whether a blank line separates a piece from the one before it. In lists and quotes, and in code, it
// is where the source has one.
func (w *written) apart(p markdown.Piece) bool {
	switch {
	case ansi.BlankInQuote(p), p.Joined, p.Kind == markdown.CodeBlock && !p.First && !p.Blank:
		return false
	}
	return p.Blank || len(p.Containers) == 0
}

// appendMessage adds a message: the rest of a reply, or all of it.
func (t *Transcript) appendMessage(m projection.Message) {
	if m.Speaker.Type == projection.TypeHuman {
		t.endTurn(nil) // no turn is open after it
	}
	turn := t.turn
	if turn == nil || turn.replied || turn.member.ID != m.Speaker.ID {
		if turn != nil {
			t.endText("")
			turn.named = false
		}
		member := t.member(m.Speaker)
		t.addName(member)
		t.add(someText, false, message{name: member.DisplayName, text: m.Content})
		t.text = written{last: t.text.last}
		return
	}
	turn.replied = true
	rest, ok := turn.reply.rest(m.Content)
	if !ok {
		t.endText("")
		turn.named = false
	}
	t.say(rest)
	t.endText("")
}

// endTurn ends the turn, if there is one. end is nil if the journal lacks it.
func (t *Transcript) endTurn(end *projection.TurnEnded) {
	turn := t.turn
	if turn == nil || end != nil && end.TurnID != turn.id {
		return
	}
	if !turn.replied {
		rest, ok := "", false
		if end != nil {
			rest, ok = turn.reply.rest(end.Partial)
		}
		if !ok {
			rest = turn.reply.held.String()
		}
		t.say(strings.TrimRight(rest, blanks))
		t.endText("")
	}
	for i, b := range t.queue {
		if c, ok := b.content.(Call); ok {
			c.Ended = true
			t.queue[i].content = c
		}
	}
	if line, ok := EndOf(end, turn.replied); ok {
		t.begin()
		t.add(anEnd, false, line)
	}
	t.endMessage()
	t.turn = nil
}

// BlocksFrom yields a conversation as the chat shows it, from the turn or message that event first belongs to. An error
// ends it.
func BlocksFrom(events iter.Seq2[journal.Event, error], first uint64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		var t Transcript
		var blocks []Block
		for e, err := range events {
			if err != nil {
				yield(Block{}, err)
				return
			}
			blocks = append(blocks, t.Apply(e)...)
			if e.Seq < first {
				if !t.Speaking() {
					blocks = nil
				}
				continue
			}
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
