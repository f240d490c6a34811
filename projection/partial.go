package projection

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// The bounds of State.Partials.
const (
	maxPartials     = 20
	maxPartial      = 64 << 10  // bytes of the text of one
	maxPartialBytes = 256 << 10 // bytes of the texts of all
)

// partial returns the partial reply of an ended turn.
func (s *State) partial(e journal.Event, p TurnEnded, steps []Step) Entry {
	return Entry{
		Seq: e.Seq, Partial: true, ContentBytes: p.PartialBytes, Steps: steps,
		Message: s.partialMessage(p.TurnID, p.MemberID, p.Partial, e.Time),
	}
}

func (s *State) partialMessage(turnID, memberID, text string, at time.Time) Message {
	return Message{ID: turnID, Timestamp: FormatTime(at), Speaker: s.Speaker(memberID), Content: text}
}

// addPartial adds a partial reply to Partials, cut to maxPartial, and removes the oldest
// ones that no longer fit.
func (s *State) addPartial(entry Entry) {
	if length := len(entry.Content); length > maxPartial {
		entry.Content = strings.Clone(runecut.Prefix(entry.Content, maxPartial))
		entry.ContentBytes = max(entry.ContentBytes, int64(length))
	}
	s.Partials = newest(append(s.Partials, entry), maxPartials)
	bytes := 0
	for i, entry := range slices.Backward(s.Partials) {
		if bytes += len(entry.Content); bytes > maxPartialBytes {
			s.Partials = s.Partials[i+1:]
			break
		}
	}
}

// Newest returns the newest messages and partial replies in the order of Replay, within
// the bounds of the state. They share memory with the state.
func (s *State) Newest() []Entry {
	all := slices.Concat(s.Recent, s.Partials)
	if len(s.Recent) < s.Stats.Messages { // Some of the older entries are messages that the state lacks.
		first := s.Seq + 1
		if len(s.Recent) > 0 {
			first = s.Recent[0].Seq
		}
		all = slices.DeleteFunc(all, func(entry Entry) bool { return entry.Seq < first })
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	return append(all, s.openReplies()...)
}

// openReplies returns the partial replies of the open turns.
func (s *State) openReplies() []Entry {
	var replies []Entry
	for _, t := range s.OpenTurns {
		if t.Message > 0 || t.Text == "" && len(t.Steps) == 0 {
			continue
		}
		entry := Entry{
			Seq: s.Seq, Partial: true, Steps: within(t.Steps, t.Text, t.Text),
			Message: s.partialMessage(t.TurnID, t.MemberID, t.Text, s.Row.UpdatedAt),
		}
		if t.TextBytes > int64(len(t.Text)) {
			entry.ContentBytes = t.TextBytes
		}
		replies = append(replies, entry)
	}
	return replies
}
