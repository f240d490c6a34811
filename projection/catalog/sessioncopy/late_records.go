package sessioncopy

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// lateRecords are what a source got within the part that an earlier import had: tool calls of a message that was
// rewritten, their results, and the rest of a reply that was unfinished. They follow what the session has, in their
// turn, which is begun again.
type lateRecords struct {
	tools map[string]bool       // keys of tool events that were not next to the messages that are in the session
	grown map[string]grownReply // by id
}

// grownReply is a reply of which the session has the beginning, perhaps in several messages.
type grownReply struct {
	rest  string // what the session lacks
	parts int    // messages that the session has
}

// without returns the reply with the beginning of its rest in another message.
func (g grownReply) without(text string) grownReply {
	rest, _ := strings.CutPrefix(g.rest, strings.TrimLeft(text, "\n"))
	return grownReply{strings.TrimLeft(rest, "\n"), g.parts + 1}
}

func (l *lateRecords) addTool(r journal.Record) {
	if r.Type != toolStartedType && r.Type != toolCompletedType {
		return
	}
	if l.tools == nil {
		l.tools = map[string]bool{}
	}
	l.tools[keyOf(r.Type, r.Data)] = true
}

// restID matches the id of a message that has the rest of another one.
var restID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*)#[2-9][0-9]*$`) })

// addRest notes a message of the session that has the rest of a reply. It reports false for any other message.
func (l *lateRecords) addRest(e journal.Event) bool {
	if e.Type != messageType {
		return false
	}
	m, ok := messageOf(e.Type, e.Data)
	id := restID().FindStringSubmatch(m.ID)
	if !ok || id == nil {
		return false
	}
	g, ok := l.grown[id[1]]
	if ok {
		l.grown[id[1]] = g.without(m.Content)
	}
	return ok
}

// addGrown notes a reply of which the session has the beginning. It reports false for any other message.
func (l *lateRecords) addGrown(r journal.Record, e journal.Event) bool {
	m, ok := messageOf(r.Type, r.Data)
	known, knownOK := messageOf(e.Type, e.Data)
	if !ok || !knownOK || m.ID != known.ID || m.Speaker.Type != projection.TypeAI ||
		!strings.HasPrefix(m.Content, known.Content) {
		return false
	}
	if l.grown == nil {
		l.grown = map[string]grownReply{}
	}
	l.grown[m.ID] = grownReply{rest: strings.TrimLeft(m.Content, "\n")}.without(known.Content)
	return true
}

func messageOf(eventType string, data []byte) (projection.Message, bool) {
	p, err := projection.Decode(journal.Event{Type: eventType, Data: data})
	m, ok := p.(projection.MessageAppended)
	return m.Message, err == nil && ok
}

// any reports whether there may be a late record for a session that was read to its end.
func (l *lateRecords) any(k *knownSession) bool {
	for key := range l.tools {
		if k.tools[key] {
			delete(l.tools, key)
		}
	}
	for id, g := range l.grown {
		if strings.TrimSpace(g.rest) == "" {
			delete(l.grown, id)
		}
	}
	return len(l.tools)+len(l.grown) > 0
}

// addLate writes the late records. It reads the source once more.
func (i *sessionImport) addLate() error {
	if !i.late.any(i.known) {
		return nil
	}
	left := len(i.late.tools) + len(i.late.grown)
	var began *journal.Record
	open := false
	for r, err := range i.records() {
		if err != nil {
			return err
		}
		switch r.Type {
		case turnStartedType:
			began, open = &r, false
			continue
		case turnEndedType:
			if open {
				err = i.append(withoutUsage(r))
			}
			began, open = nil, false
		default:
			rest, ok := i.late.take(r)
			if !ok {
				continue
			}
			left--
			if began != nil && !open {
				open = true
				err = i.append(*began)
			}
			if err == nil {
				i.counts.Late++
				err = i.w.add(i.redact(rest))
			}
		}
		if err != nil || left == 0 && !open {
			return err
		}
	}
	return nil
}

// take returns what the session lacks of a record; false: it is not late.
func (l *lateRecords) take(r journal.Record) (rest journal.Record, ok bool) {
	if r.Type == toolStartedType || r.Type == toolCompletedType {
		key := keyOf(r.Type, r.Data)
		if ok = l.tools[key]; ok {
			delete(l.tools, key)
		}
		return r, ok
	}
	m, ok := messageOf(r.Type, r.Data)
	g, grown := l.grown[m.ID]
	if !ok || !grown {
		return r, false
	}
	delete(l.grown, m.ID)
	m.ID, m.Content = m.ID+"#"+strconv.Itoa(g.parts+1), g.rest
	return projection.Record(r.Time, projection.MessageAppended{Message: m}), true
}

// withoutUsage returns the end of a turn that ended before, whose tokens were counted.
func withoutUsage(r journal.Record) journal.Record {
	if p, err := projection.Decode(journal.Event{Type: r.Type, Data: r.Data}); err == nil {
		if ended, ok := p.(projection.TurnEnded); ok {
			ended.Usage = nil
			return projection.Record(r.Time, ended)
		}
	}
	return r
}
