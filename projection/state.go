package projection

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// FoldVersion is the version of the fold. It changes whenever the same events would
// result in a different State: checkpoints of another version are ignored. It does not
// stand for the steps of messages, which some checkpoints of the same version lack.
const FoldVersion = 25

// The bounds of State.Recent: the number of messages, and the bytes of their contents
// and routing. To change one changes the FoldVersion.
const (
	RecentMessages = 200
	RecentBytes    = 1 << 20
)

const (
	maxTurnText   = 1 << 20 // bytes of OpenTurn.Text
	maxOpenTurns  = 100     // only crashes leave more than a few
	maxOpenTools  = 100     // tool calls in OpenTurn.Tools
	maxInstructed = 100     // members in State.Instructions
)

// State is the fold of a session's events in bounded space. The zero State is that of
// a session without events.
type State struct {
	Seq       uint64    `json:"seq"` // of the last event
	SessionID string    `json:"sessionId"`
	Team      Team      `json:"team"`
	CWD       string    `json:"cwd"`
	Parent    *Parent   `json:"parent,omitempty"`
	Row       Row       `json:"row"`
	Task      *string   `json:"task,omitempty"`
	Stats     Stats     `json:"stats"`
	Speakers  []Speaker `json:"speakers,omitempty"` // in the order of their first message

	// Copied is whether the events so far are copies of those of the session's parent.
	Copied bool `json:"copied,omitempty"`
	// Tallies has what the turns and summaries used that are neither copied nor imported, the earliest first, in
	// bounded space: those of days long past may be joined.
	Tallies []Tally `json:"tallies,omitempty"`
	// Message is what the turns used that ended since the last message of a person, copied ones included.
	Message Spent `json:"message"`

	OpenTurns []OpenTurn `json:"openTurns,omitempty"` // turns without an end
	// Unfinished has the newest turns that did not end with Done, the oldest first: of those that began since one
	// began while no other was open, the last of each member.
	Unfinished []UnfinishedTurn `json:"unfinished,omitempty"`
	// Instructions has TurnEnded.Instructions of the last turn of members, by id, for at most maxInstructed of them.
	Instructions map[string]string `json:"instructions,omitempty"`
	// Attached has the newest sessions of the agents of members, the newest last, by the id of the member, for at most
	// maxInstructed of them.
	Attached map[string][]AgentSession `json:"attached,omitempty"`
	// Origin is the session of another program that the newest SessionImported with an origin names; nil: none.
	Origin *Origin `json:"origin,omitempty"`
	// Summaries has the newest summary of members, by id, for at most maxInstructed of them.
	Summaries map[string]SummaryWritten `json:"summaries,omitempty"`
	// Changes are how members differ from the configuration of the team, which Team.Members includes, in the order of
	// their first change, for at most maxInstructed of them.
	Changes []ChangedMember `json:"changes,omitempty"`
	// Budget has the newest changes of each limit that agree with each other, from several machines, at most maxBudget,
	// the newest last. Most is never nil.
	Budget []BudgetChanged `json:"budget,omitempty"`
	// Trees has the newest tree of each of the directories whose files were captured last, at most maxKnownTrees.
	Trees []KnownTree `json:"trees,omitempty"`
	// Restores are the newest restores of files, at most maxRestores, the newest last.
	Restores []Restore `json:"restores,omitempty"`
	// Worktrees are the directories that members have of their own, at most maxWorktrees, the newest last. A session
	// that was continued in several homes has several of a member.
	Worktrees []Worktree `json:"worktrees,omitempty"`
	// Inputs are the newest InputReceived.InputID, at most maxInputs, the newest last.
	Inputs []string `json:"inputs,omitempty"`
	// History is a chained checksum of all messages; LastMessage is the seq of the last one.
	History     string  `json:"history,omitempty"`
	LastMessage uint64  `json:"lastMessage,omitempty"`
	Length      int64   `json:"length,omitempty"` // of all messages, in prompts
	Recent      []Entry `json:"recent,omitempty"` // the newest messages, the oldest first, without Steps
	recentBytes int     // in Recent; 0: not counted yet

	Unknown map[string]int `json:"unknown,omitempty"` // events of unknown types, by type
	Newer   bool           `json:"newer,omitempty"`   // written by a newer version: do not append
}

// Row is the summary of a session for lists.
type Row struct {
	CreatedAt     time.Time `json:"createdAt"`
	UpdatedAt     time.Time `json:"updatedAt"` // latest time of a message, turn, tool or task event
	Title         string    `json:"title"`
	Renamed       bool      `json:"renamed,omitempty"` // Title was set by a SessionRenamed
	Preview       string    `json:"preview,omitempty"` // the start of the first message
	MessageCount  int       `json:"messageCount"`
	LastSpeakerID string    `json:"lastSpeakerId,omitempty"`
	LastSpeaker   string    `json:"lastSpeaker,omitempty"` // display name
	Pinned        bool      `json:"pinned,omitempty"`
	Newer         string    `json:"newer,omitempty"`        // the unknown format, or the type of the unknown payload
	Ended         string    `json:"ended,omitempty"`        // reason of a clean exit; "": running or crashed
	Invalid       int       `json:"invalid,omitempty"`      // events that do not match their schema
	FirstInvalid  uint64    `json:"firstInvalid,omitempty"` // Seq of the first of them
	Parent        string    `json:"parent,omitempty"`       // id of the session that it copies or reruns
	Imported      string    `json:"imported,omitempty"`     // Source of the newest SessionImported
}

// Summary describes the session in one line: the number of its messages and the
// preview of the first.
func (r Row) Summary() string {
	if r.MessageCount == 0 {
		return "Empty conversation"
	}
	return fmt.Sprintf("%d messages - \"%s\"", r.MessageCount, r.Preview)
}

// Stats has the counts of a session.
type Stats struct {
	Messages int            `json:"messages"`
	ByMember map[string]int `json:"byMember,omitempty"` // messages, by id of the speaker
	Turns    int            `json:"turns"`
	Rounds   int            `json:"rounds"` // turns since the last human message, except cancelled and interrupted
	Tools    int            `json:"tools"`
	Usage    Totals         `json:"usage"`
}

// Entry is a message and its position in the journal, or a partial reply.
type Entry struct {
	Seq          uint64 `json:"seq"`
	Partial      bool   `json:"partial,omitempty"` // an unfinished reply; not part of the context
	ContentBytes int64  `json:"said,omitempty"`    // length of the complete partial reply; 0: Content is complete
	Message
	Attachments []File `json:"attachments,omitempty"`
	Steps       []Step `json:"steps,omitempty"` // of its turn, in order; At is a position in Content
}

// Apply folds one event into the state. It never fails: events that cannot be decoded
// are counted, and so are those that do not match their schema.
func (s *State) Apply(e journal.Event) { _ = s.ApplyValidating(e) }

// ApplyValidating is Apply, and returns the error of Validate for the event.
func (s *State) ApplyValidating(e journal.Event) error {
	p, invalid, err := decodeForFold(e)
	s.applyDecoded(e, p, invalid, err)
	return invalid
}

// ApplyEvent is Apply for an event that is decoded.
func (s *State) ApplyEvent(e Event) { s.applyDecoded(e.Event, e.Payload, e.invalid(), e.Err) }

// toolCompleted is ToolCompleted without Output, which no fold reads and which is
// half of the bytes of a session.
type toolCompleted struct {
	TurnID      string         `json:"turnId"`
	ToolID      string         `json:"toolId"`
	Name        string         `json:"name,omitempty"`
	Output      layout.Ignored `json:"output,omitempty"`
	OutputBytes int64          `json:"outputBytes,omitempty"`
	Error       string         `json:"error,omitempty"`
}

// decodeForFold is Decode, except that a ToolCompleted may lack its Output. It also
// returns the error of Validate.
func decodeForFold(e journal.Event) (p Payload, invalid, err error) {
	decodings.Add(1)
	if p, ok := decodeFitting(e); ok {
		return p, nil, nil
	}
	p, err = decode(e, true)
	return p, validate(e, p, err), err
}

// applyDecoded is Apply with the results of decodeForFold.
func (s *State) applyDecoded(e journal.Event, p Payload, invalid, err error) {
	s.Seq = e.Seq
	s.endCopy(e)
	if invalid != nil && !errors.Is(invalid, ErrNewer) {
		s.Row.Invalid++
		if s.Row.Invalid == 1 {
			s.Row.FirstInvalid = e.Seq
		}
	}
	switch {
	case errors.Is(err, errUnknownType):
		s.countUnknown(e.Type)
	case errors.Is(err, ErrNewer):
		s.Newer, s.Row.Newer = true, e.Type
		s.countUnknown(e.Type)
	case err == nil:
		s.apply(e, p)
	}
}

func (s *State) countUnknown(eventType string) {
	if s.Unknown == nil {
		s.Unknown = map[string]int{}
	}
	eventType = runecut.Prefix(strings.ToValidUTF8(eventType, "\uFFFD"), 100)
	if len(s.Unknown) >= 100 {
		eventType = "other"
	}
	s.Unknown[eventType]++
}

func (s *State) apply(e journal.Event, p Payload) {
	switch p := p.(type) {
	case TaskSet:
		s.Task = p.Task
	case MessageAppended:
		s.append(e, p)
		s.addHistory(e, p.Message)
	case TurnStarted:
		s.startTurn(e, p)
	case TurnText:
		if t := s.turn(p.TurnID); t != nil && t.Message == 0 {
			t.addText(p.Text)
		}
	case ToolStarted:
		s.Stats.Tools++
		if t := s.turn(p.TurnID); t != nil {
			t.Tools = newest(append(t.Tools, OpenTool{p.ToolID, p.Name}), maxOpenTools)
		}
	case ToolCompleted:
		if t := s.turn(p.TurnID); t != nil {
			t.Tools = slices.DeleteFunc(t.Tools, func(open OpenTool) bool { return open.ToolID == p.ToolID })
		}
	case PermissionAnswered:
		s.answered(e, p)
	case InputReceived:
		if p.InputID != "" {
			s.Inputs = newest(append(slices.Clone(s.Inputs), p.InputID), maxInputs)
		}
	case PlanUpdated, PermissionBypassed, AgentCompacted:
	case SummaryWritten:
		s.summarize(e, p)
	case AgentAttached:
		s.attach(p)
	case TurnSteered:
		s.steer(p)
	case TurnEnded:
		s.endTurn(e, p)
	default:
		s.applySetting(e, p)
		return
	}
	s.touch(e)
}

// applySetting folds an event that does not advance the update time, but for that which creates the session.
func (s *State) applySetting(e journal.Event, p Payload) {
	switch p := p.(type) {
	case SessionCreated:
		s.create(e, p)
	case SessionResumed:
		s.resume(p)
	case SessionRenamed:
		s.Row.Title, s.Row.Renamed = p.Title, true
	case SessionPinned:
		s.Row.Pinned = p.Pinned
	case SessionEnded:
		s.Row.Ended = p.Reason
	case SessionImported:
		s.imported(p)
	case MemberChanged:
		s.changeMember(p)
	case BudgetChanged:
		s.changeBudget(p)
	case FilesCaptured:
		s.knowTree(p.Dir, p.Root)
	case FilesChanged:
		s.knowTree(p.Dir, p.After)
	case FilesRestoring:
		s.beginRestore(e.Seq, p)
	case FilesRestored:
		s.endRestore(p)
	case FilesDropped:
		s.forgetTrees(p)
	case WorktreeCreated:
		s.createWorktree(p)
	case WorktreeMerged:
		s.mergeWorktree(p)
	case WorktreeDropped:
		s.dropWorktree(p)
	}
}

func (s *State) answered(e journal.Event, p PermissionAnswered) {
	if t := s.turn(p.TurnID); t != nil {
		t.add(e, p)
	}
}

// touch advances the update time. A clock that was set back does not set it back.
func (s *State) touch(e journal.Event) {
	if e.Time.After(s.Row.UpdatedAt) {
		s.Row.UpdatedAt = e.Time
	}
}

func (s *State) create(e journal.Event, p SessionCreated) {
	s.SessionID, s.Team, s.CWD, s.Parent = p.SessionID, p.Team, p.CWD, p.Parent
	if p.Format > Format {
		s.Newer, s.Row.Newer = true, strconv.Itoa(p.Format)
	}
	if p.Parent != nil {
		s.Row.Parent = clip(p.Parent.SessionID)
		s.Copied = e.Time.Before(timeOf(p.SessionID)) // otherwise it is rerun
	}
	s.Row.CreatedAt = e.Time
	s.touch(e)
}

// resume updates the team, so that the next resume is compared with the team of this
// one.
func (s *State) resume(p SessionResumed) {
	s.Row.Ended = ""
	if p.Source != nil {
		s.Team.Source = p.Source
	}
	s.Team.Members = slices.Clone(s.Team.Members)
	for _, changed := range p.Changed {
		i := slices.IndexFunc(s.Team.Members, func(m Member) bool { return m.ID == changed.ID })
		if i < 0 {
			continue
		}
		if changed.AgentType != nil {
			s.Team.Members[i].AgentType = changed.AgentType.To
		}
		if changed.Model != nil {
			s.Team.Members[i].Model = changed.Model.To
		}
	}
}

func (s *State) append(e journal.Event, p MessageAppended) {
	m := p.Message
	if s.Row.MessageCount == 0 {
		s.Row.Preview = Preview(m.Content)
	}
	if s.Row.Title == "" && !s.Row.Renamed && m.Speaker.Type == TypeHuman {
		s.Row.Title = Title(m.Content)
	}
	s.Row.MessageCount++
	s.Row.LastSpeakerID, s.Row.LastSpeaker = m.Speaker.ID, m.Speaker.DisplayName
	s.count(m)
	if t := s.replied(p); t != nil {
		t.Message, t.Text, t.TextBytes = e.Seq, "", 0
	}
	s.addRecent(Entry{Seq: e.Seq, Message: m, Attachments: p.Attachments})
}

// replied returns the open turn without a message that a message is the reply of; nil: none.
func (s *State) replied(p MessageAppended) *OpenTurn {
	for i := range slices.Backward(s.OpenTurns) {
		if t := &s.OpenTurns[i]; t.Message == 0 && p.repliesIn(t.TurnID, t.MemberID) {
			return t
		}
	}
	return nil
}

func (s *State) count(m Message) {
	s.Stats.Messages++
	if s.Stats.ByMember == nil {
		s.Stats.ByMember = map[string]int{}
	}
	if s.Stats.ByMember[m.Speaker.ID] == 0 {
		s.Speakers = append(s.Speakers, m.Speaker)
	}
	s.Stats.ByMember[m.Speaker.ID]++
	if m.Speaker.Type == TypeHuman {
		s.Stats.Rounds, s.Message = 0, Spent{}
	}
}

// addRecent adds a message to Recent and removes the oldest ones that no longer fit.
// After a message that exceeds the bounds by itself, Recent is empty.
func (s *State) addRecent(entry Entry) {
	if s.recentBytes == 0 {
		for _, e := range s.Recent {
			s.recentBytes += e.size()
		}
	}
	s.Recent = append(s.Recent, entry)
	s.recentBytes += entry.size()
	for len(s.Recent) > 0 && (len(s.Recent) > RecentMessages || s.recentBytes > RecentBytes) {
		s.recentBytes -= s.Recent[0].size()
		s.Recent[0] = Entry{} // for the garbage collector
		s.Recent = s.Recent[1:]
	}
}

// size returns the bytes of an entry that count towards RecentBytes.
func (e Entry) size() int {
	n := len(e.Content)
	for _, f := range e.Attachments {
		n += len(f.Name) + len(f.MediaType) + len(f.SHA256)
	}
	if e.Routing != nil {
		for _, m := range e.Routing.RawNextMarkers {
			n += len(m)
		}
		for _, a := range e.Routing.ResolvedAddressees {
			n += 3 * len(a.Identifier) // about the id and name of the member, too
		}
	}
	return n
}

// newest returns the last elements of a list, at most so many.
func newest[T any](list []T, most int) []T {
	return list[max(0, len(list)-most):]
}

// Clone returns a copy. Apply to one of them does not change the other.
func (s *State) Clone() *State {
	c := *s
	c.Stats.ByMember = maps.Clone(s.Stats.ByMember)
	c.Stats.Usage.Costs = maps.Clone(s.Stats.Usage.Costs)
	c.Message.Costs = maps.Clone(s.Message.Costs)
	c.Tallies = slices.Clone(s.Tallies)
	c.Instructions = maps.Clone(s.Instructions)
	c.Unknown = maps.Clone(s.Unknown)
	c.Speakers = slices.Clone(s.Speakers)
	c.Recent = slices.Clone(s.Recent)
	c.Unfinished = slices.Clone(s.Unfinished)
	c.OpenTurns = slices.Clone(s.OpenTurns)
	for i := range c.OpenTurns {
		c.OpenTurns[i].Tools = slices.Clone(c.OpenTurns[i].Tools)
	}
	return &c
}
