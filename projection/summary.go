package projection

import (
	"cmp"
	"maps"

	"github.com/agent-chatter/agent-chatter/journal"
)

// SummaryWritten is a summary of messages that a member's prompts do not have any more. It is no message: the history
// stays complete, and the summary precedes the newest messages in the member's prompts.
type SummaryWritten struct {
	MemberID string `json:"memberId"`           // whose prompts have it
	WriterID string `json:"writerId,omitempty"` // the member whose agent wrote it, if that is another one
	// From and To are the seqs of the first and the last of the messages. An earlier summary stands for those before.
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
	// Seen is the seq of the newest message at that time, and Sum is State.History then: the summary does not belong to
	// a session with another one.
	Seen         uint64 `json:"seen"`
	Sum          string `json:"sum"`
	Text         string `json:"text"`
	Usage        *Usage `json:"usage,omitempty"`
	Model        string `json:"model,omitempty"`    // of the writer
	Instructions string `json:"instructionsSha256"` // of the prompt that asked for it
	Secrets      string `json:"secrets,omitempty"`  // as in Basis
}

func (SummaryWritten) eventType() string { return "summary.written" }

// MaxSummary is the length of the longest summary in bytes.
const MaxSummary = 8 << 10

// summarize folds a SummaryWritten. One of other messages is not kept.
func (s *State) summarize(e journal.Event, p SummaryWritten) {
	if s.Message.Add(p.Usage); !s.Copied {
		by := TurnStarted{MemberID: cmp.Or(p.WriterID, p.MemberID), Model: p.Model}
		s.tally(e.Time, by, 0, p.Usage)
	}
	if p.Usage != nil {
		s.Stats.Usage.Add(*p.Usage)
	}
	_, known := s.Summaries[p.MemberID]
	if p.Sum != s.History || !known && len(s.Summaries) >= maxInstructed || len(p.Text) > MaxSummary {
		return
	}
	shift := s.LastMessage - p.Seen // a repair renumbered the events
	p.From, p.To, p.Seen, p.Usage = p.From+shift, p.To+shift, s.LastMessage, nil
	summaries := maps.Clone(s.Summaries) // States may share it
	if summaries == nil {
		summaries = map[string]SummaryWritten{}
	}
	summaries[p.MemberID] = p
	s.Summaries = summaries
}
