package recall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// readInput has the arguments of read_session.
type readInput struct {
	Session string `json:"session" jsonschema:"id of the session, at least 4 characters of its beginning or end, its title, latest, or ID#seq"`
	Around  uint64 `json:"around,omitempty" jsonschema:"event to read around; same as ID#seq in session"`
	From    uint64 `json:"from,omitempty" jsonschema:"first event"`
	To      uint64 `json:"to,omitempty" jsonschema:"last event"`
	Tools   string `json:"tools,omitempty" jsonschema:"show tool calls in a line each, also what they returned, or none"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"nextCursor of the call before, with the same other arguments"`
}

// The values of readInput.Tools.
const (
	toolCalls   = "calls"
	toolResults = "results"
	toolNone    = "none"
)

// readOutput is the result of read_session.
type readOutput struct {
	Notice     string   `json:"notice" jsonschema:"how to treat the quotations"`
	Session    Session  `json:"session"`
	Items      []Item   `json:"items" jsonschema:"what happened, in order"`
	Problems   []string `json:"problems,omitempty" jsonschema:"what could not be read"`
	NextCursor string   `json:"nextCursor,omitempty" jsonschema:"cursor for the next call; missing: nothing is left"`
}

// An Item is a message, a tool call, or another event.
type Item struct {
	Cite    string `json:"cite" jsonschema:"session and event, ID#seq"`
	Seq     uint64 `json:"seq" jsonschema:"number of the event"`
	Time    string `json:"time,omitempty"`
	Kind    string `json:"kind" jsonschema:"message, unfinished reply, tool call, tool result, tool error, task or failed turn"`
	Speaker string `json:"speaker,omitempty" jsonschema:"name of the speaker or of the tool, quoted"`
	Quote   string `json:"quote" jsonschema:"the text, quoted"`
	Skipped int    `json:"skipped,omitempty" jsonschema:"bytes of the text that an earlier result has"`
	More    int    `json:"more,omitempty" jsonschema:"bytes of the text that are left out"`
}

// A readPosition is the place in a session from which to read on.
type readPosition struct {
	ID  string `json:"id"`
	Dir string `json:"dir"` // name of the team's directory
	Seq uint64 `json:"seq"` // of the next event
	At  int    `json:"at,omitempty"`
}

const readTool = "read_session"

// Read is read_session.
func (r *Recall) Read(ctx context.Context, in readInput) (out readOutput, text string, err error) {
	at := in.Cursor
	in.Cursor = ""
	asked := in
	var p readPosition
	if at != "" {
		if err := r.position(at, readTool, asked, &p); err != nil {
			return out, "", err
		}
	}
	s, event, err := r.sessionOf(ctx, in, p)
	if err != nil {
		return out, "", err
	}
	if in.Around == 0 {
		in.Around = event
	}
	if err := checkRange(in, s); err != nil {
		return out, "", err
	}
	secrets := r.redactors()(s.Source)
	reader, err := r.app.Catalog.At(s.Dir()).Journals().Reader(s.ID, journal.Position{})
	if err != nil {
		return out, "", err
	}
	defer reader.Close()
	reader.StopWith(ctx)
	run := &reading{
		in: in, session: s, reader: reader, without: secrets.Session(),
		sayings: newSayings(reader, secrets, in.Tools),
	}
	if p.Seq > 0 {
		err = run.forward(ctx, p.Seq, p.At)
	} else if in.Around > 0 {
		err = run.around(ctx)
	} else {
		err = run.forward(ctx, max(in.From, 1), 0)
	}
	if ctx.Err() != nil {
		return out, "", ctx.Err()
	}
	out = readOutput{
		Notice: quoteNotice, Session: described(s, secrets), Items: slices.Concat([]Item{}, run.items),
		Problems: run.problems(err),
	}
	if run.next.Seq > 0 {
		run.next.ID, run.next.Dir = s.ID, filepath.Base(s.Dir())
		out.NextCursor = r.cursorAt(readTool, asked, run.next)
	}
	return out, readText(out, in.To), nil
}

// sessionOf returns the session that the arguments or the cursor name, and the event that a citation names.
func (r *Recall) sessionOf(ctx context.Context, in readInput, p readPosition) (catalog.Session, uint64, error) {
	if p.Seq == 0 {
		return r.find(ctx, in.Session)
	}
	_, event := cutEvent(in.Session)
	s, _, err := r.find(ctx, p.ID)
	if err == nil && filepath.Base(s.Dir()) != p.Dir {
		err = &catalog.NotFoundError{Name: p.ID}
	}
	return s, event, err
}

// checkRange returns an error if the arguments name events that the session does not have.
func checkRange(in readInput, s catalog.Session) error {
	for _, seq := range []uint64{in.Around, in.From} {
		if seq > s.LastSeq && s.Damaged == "" {
			return failure("Session %s has no event %d: its last is %d. Call read_session without it, "+
				"or with around: %d for the end.", s.ID, seq, s.LastSeq, s.LastSeq)
		}
	}
	switch {
	case in.Around > 0 && in.From+in.To > 0:
		return failure("around (or ID#seq) and a range exclude each other. Call read_session with one of them.")
	case in.To > 0 && in.To < in.From:
		return failure("to is before from. Call read_session with a range such as from: %d, to: %d.", in.To, in.From)
	}
	return nil
}

// A reading is a call of read_session that runs.
type reading struct {
	in      readInput
	session catalog.Session
	reader  *journal.Reader
	without func(projection.Event) projection.Event // without secrets
	sayings *sayings

	items []Item
	size  int          // of the quotations
	next  readPosition // Seq 0: there is nothing more
}

// forward reads from an event on until the result is full. skip is the number of bytes of its text that were read.
func (r *reading) forward(ctx context.Context, seq uint64, skip int) error {
	at, err := r.reader.Find(seq)
	if err != nil {
		return err
	}
	for e, err := range projection.Decoded(conversation.Until(ctx, r.reader.ScanAfter(at))) {
		if err != nil {
			return err
		}
		if r.in.To > 0 && e.Seq > r.in.To {
			return nil
		}
		if said, ok := r.sayings.next(r.without(e)); ok && !r.add(e, said, skip) {
			return nil
		}
		skip = 0
	}
	return nil
}

// add adds what an event says to the result, from a byte on. It reports whether there is room for more.
func (r *reading) add(e projection.Event, said saying, skip int) bool {
	text := visible(said.text)
	skip = min(skip, len(text))
	rest := text[skip:]
	room := maxResult - r.size - len(said.by)
	if quoted := len(quotedText(rest)); quoted > room && len(r.items) > 0 {
		r.next = readPosition{Seq: e.Seq, At: skip}
		return false
	}
	part := fitting(rest, room)
	item := r.item(e, said, part)
	item.Skipped = skip
	r.items = append(r.items, item)
	r.size += len(item.Quote) + len(item.Speaker)
	if len(part) < len(rest) {
		r.next = readPosition{Seq: e.Seq, At: skip + len(part)}
		return false
	}
	return true
}

// fitting returns as much of the start of a text as is at most room bytes long when it is quoted.
func fitting(text string, room int) string {
	part := runecut.Prefix(text, room)
	for {
		over := len(quotedText(part)) - room
		if over <= 0 || part == "" {
			return part
		}
		part = runecut.Prefix(part, max(len(part)-over, 0))
	}
}

func (r *reading) item(e projection.Event, said saying, part string) Item {
	item := Item{
		Cite: cite(r.session.ID, e.Seq), Seq: e.Seq, Time: timeText(e.Time), Kind: said.kind, More: said.more,
		Quote: string(bytes.TrimSuffix([]byte(quotedText(part)), []byte("\n"))),
	}
	if said.by != "" {
		item.Speaker = quotedLine(short(said.by, maxTitle))
	}
	return item
}

// around reads the events before an event, which take at most a third of the result, and those from it on.
func (r *reading) around(ctx context.Context) error {
	at, err := r.reader.Find(r.in.Around)
	if err != nil {
		return err
	}
	before, err := conversation.Before(ctx, r.reader, at, maxResult/3)
	if err != nil {
		return err
	}
	var items []Item
	for _, e := range before.Events {
		if said, ok := r.sayings.next(r.without(e)); ok {
			part := fitting(visible(said.text), maxResult/3)
			said.more += len(visible(said.text)) - len(part)
			items = append(items, r.item(e, said, part))
		}
	}
	first := len(items)
	for ; first > 0; first-- {
		size := len(items[first-1].Quote) + len(items[first-1].Speaker)
		if r.size+size > maxResult/3 {
			break
		}
		r.size += size
	}
	r.items = items[first:]
	n := len(r.items)
	err = r.forward(ctx, r.in.Around, 0)
	if len(r.items) == n && r.next.Seq > 0 { // the event itself is longer than what is left
		r.items, r.size, r.next = nil, 0, readPosition{}
		err = r.forward(ctx, r.in.Around, 0)
	}
	return err
}

// problems returns what may be missing from the result.
func (r *reading) problems(err error) (all []string) {
	id := r.session.ID
	var corrupt *journal.CorruptError
	switch {
	case errors.As(err, &corrupt):
		all = append(all, damage(fmt.Sprintf("Session %s is damaged: nothing after the damage was read. "+
			"A person can type: agent-chatter verify %s", id, id), err))
	case err != nil:
		all = append(all, damage(fmt.Sprintf("Session %s could not be read further.", id), err))
	}
	if r.session.MissingHeader {
		all = append(all, fmt.Sprintf("Session %s has no header: its members are unknown.", id))
	}
	if torn := r.reader.Torn(); torn.Bytes > 0 {
		all = append(all, fmt.Sprintf("Session %s ends in %s of an unfinished write.", id,
			app.Count(int(torn.Bytes), "byte")))
	}
	if r.session.Invalid > 0 {
		all = append(all, fmt.Sprintf("Session %s has %s, which may be missing here.", id,
			app.Count(r.session.Invalid, "invalid event")))
	}
	return all
}

// readText returns a result as a text. to is the last event of the range, or 0 if it is that of the session.
func readText(out readOutput, to uint64) string {
	t := newText()
	s := out.Session
	t.say("Session %s", heading(s))
	fmt.Fprintf(t, "%s\n", s.Title)
	for _, item := range out.Items {
		note := ""
		if item.Skipped > 0 {
			note += fmt.Sprintf("  from byte %d", item.Skipped)
		}
		if item.More > 0 {
			note += fmt.Sprintf("  %d more bytes are left out", item.More)
		}
		t.say("%s  %s  %s%s", item.Cite, item.Time, item.Kind, note)
		if item.Speaker != "" {
			fmt.Fprintf(t, "%s:\n", item.Speaker)
		}
		fmt.Fprintf(t, "%s\n", item.Quote)
	}
	switch {
	case out.NextCursor != "": // the end names it
	case len(out.Problems) > 0:
		t.say("End of what can be read.")
	case to > 0 && to < s.LastSeq:
		t.say("End of the range. To continue, call %s with from: %d.", readTool, to+1)
	default:
		t.say("End of the session.")
	}
	return t.end(out.Problems, out.NextCursor, readTool)
}
