package projection

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"maps"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal"
)

// AgentAttached records which session of the agent's program a turn uses, and which messages its prompt brings. It
// is saved before the prompt is sent.
type AgentAttached struct {
	TurnID       string    `json:"turnId"`
	MemberID     string    `json:"memberId"`
	Way          AttachWay `json:"way"`
	AgentSession string    `json:"agentSession"`     // the agent's id of its session
	Point        string    `json:"point,omitempty"`  // of the agent's session that was forked: the last that was kept
	Reason       string    `json:"reason,omitempty"` // why the session is new; see the Reason constants
	// SessionID is that of the session. Another session with the event is a copy.
	SessionID string `json:"sessionId"`
	// Host is a hash of the session, the member, the agent's session and Sum with a secret key of the home and the
	// machine: another home cannot use the attachment, and a session from elsewhere cannot contain a false one.
	Host string `json:"host"`
	// From is the seq of the first message that the prompt brings, and Seen that of the last. Sum is State.History
	// at Seen: of a session with another one, the agent has seen other messages.
	From uint64 `json:"from"`
	Seen uint64 `json:"seen"`
	Sum  string `json:"sum"`
	// Resident is the turn that started the agent's program, if it is not this one.
	Resident string `json:"resident,omitempty"`
	Basis
}

// A Basis is what a session of an agent depends on besides the conversation, as hashes.
type Basis struct {
	Settings     string `json:"settings"`           // the engine, program, directory and environment of the member
	Instructions string `json:"instructionsSha256"` // as in TurnEnded
	Secrets      string `json:"secrets,omitempty"`  // what is redacted; "": nothing
	Team         string `json:"team,omitempty"`     // the members, as prompts describe them
	Task         string `json:"task,omitempty"`     // the task of the team; "": none
	Restore      string `json:"restore,omitempty"`  // the id of the newest restore of files that a prompt had; "": none
}

// AttachWay is how a turn came to its session.
type AttachWay string

// The ways.
const (
	AttachNew       AttachWay = "new"
	AttachContinued AttachWay = "continued" // in the process of an earlier turn
	AttachResumed   AttachWay = "resumed"   // in a new process
	AttachForked    AttachWay = "forked"
	AttachImported  AttachWay = "imported" // forked from the session that was imported; the prompt has instructions
)

// The reasons of AgentAttached: why an earlier session is not used.
const (
	ReasonFirst        = "first"        // there is none
	ReasonGone         = "gone"         // the agent does not have it any more
	ReasonBusy         = "busy"         // another process uses it
	ReasonCopied       = "copied"       // it is that of another copy of the session, and cannot be forked
	ReasonHost         = "host"         // it is on another machine, or in another home
	ReasonHistory      = "history"      // the messages that it has seen are not those of the session
	ReasonInstructions = "instructions" // the instructions of the member changed
	ReasonSecrets      = "secrets"      // it has seen what is a secret now
	ReasonSettings     = "settings"     // the agent's program, directory or environment changed
	ReasonFull         = "full"         // its context, or what is new, is too long
	ReasonUnsupported  = "unsupported"  // the agent cannot continue it
)

// AgentCompacted records that an agent replaced the earlier part of its own session by a summary.
type AgentCompacted struct {
	TurnID   string `json:"turnId"`
	MemberID string `json:"memberId"`
	Before   int64  `json:"before,omitempty"` // tokens in its context; 0: not reported
	After    int64  `json:"after,omitempty"`
}

// InputReceived records on which device the message of a person was entered. Without it, that was the terminal of the
// conversation.
type InputReceived struct {
	MessageID string `json:"messageId"`
	Device    string `json:"device"` // its name
	// InputID is what the device calls what was entered, so that it is not entered twice; "": it has no name for it.
	InputID string `json:"inputId,omitempty"`
}

// maxInputs is how many elements State.Inputs has.
const maxInputs = 100

// TurnSteered records that an agent has taken a message in its running turn: no later prompt brings it.
type TurnSteered struct {
	TurnID    string `json:"turnId"`
	MessageID string `json:"messageId"`
}

func (InputReceived) eventType() string  { return "input.received" }
func (TurnSteered) eventType() string    { return "turn.steered" }
func (AgentAttached) eventType() string  { return "agent.attached" }
func (AgentCompacted) eventType() string { return "agent.compacted" }

// An Attachment is an AgentAttached and what is known of its turn.
type Attachment struct {
	AgentAttached              // From and Seen are those of this session, also after a repair renumbered the events
	Fits          bool         `json:"fits"`              // the agent has seen the messages of this session
	Ended         FinishReason `json:"ended,omitempty"`   // "": the turn has no end
	End           string       `json:"end,omitempty"`     // TurnEnded.Point
	Reply         uint64       `json:"reply,omitempty"`   // seq of the turn's message; 0: none
	Steered       []uint64     `json:"steered,omitempty"` // seqs of the messages that the agent took in the turn
	Context       int64        `json:"context,omitempty"`
	Window        int64        `json:"window,omitempty"` // both as in Usage
	Total         *Cost        `json:"total,omitempty"`  // as in Usage
}

// An AgentSession is a session of an agent's program, as the turns that used it know it.
type AgentSession struct {
	Began AttachWay   `json:"began"` // the way of the first turn
	Last  Attachment  `json:"last"`
	Done  *Attachment `json:"done,omitempty"` // the last one whose turn ended with Done; nil: none
}

// maxAgentSessions is how many sessions of a member's agent State has, the newest ones: more than one if a conversation
// moves between machines.
const maxAgentSessions = 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Length is about how many bytes a message takes in a prompt: its content, indented, and its heading.
func (m Message) Length() int64 {
	const heading = 64
	return int64(len(m.Content) + 2*strings.Count(m.Content, "\n") + heading)
}

// addHistory chains a message to History.
func (s *State) addHistory(e journal.Event, m Message) {
	s.Length += m.Length()
	sum := crc32.Update(crc32.Checksum([]byte(s.History), castagnoli), castagnoli, e.Data)
	s.History = hex.EncodeToString(binary.BigEndian.AppendUint32(nil, sum))
	s.LastMessage = e.Seq
}

// maxAttached is the length of the longest text in an AgentAttached that is kept, in bytes.
const maxAttached = 300

// short reports whether the event is short enough for the bounds of State. This program writes no longer ones.
func (p AgentAttached) short() bool {
	return areShort(p.TurnID, p.MemberID, string(p.Way), p.AgentSession, p.Point, p.Reason, p.SessionID, p.Host, p.Sum,
		p.Resident, p.Settings, p.Instructions, p.Secrets, p.Team, p.Task, p.Restore)
}

func areShort(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return len(text) > maxAttached })
}

// An Origin is an ImportOrigin and what is known of it.
type Origin struct {
	Source string `json:"source"` // as in SessionImported
	ImportOrigin
	Seen uint64 `json:"seen"` // the seq of the last message that was imported
	Fits bool   `json:"fits"` // the messages up to Seen are those that were imported
}

// imported folds a SessionImported.
func (s *State) imported(p SessionImported) {
	s.Row.Imported = clip(p.Source)
	o := p.Origin
	if o == nil || !areShort(p.Source, o.AgentSession, o.Point, o.Sum, o.Host) {
		return
	}
	s.Origin = &Origin{Source: p.Source, ImportOrigin: *o, Seen: s.LastMessage, Fits: o.Sum == s.History}
}

// attach folds an AgentAttached.
func (s *State) attach(p AgentAttached) {
	sessions, known := s.Attached[p.MemberID]
	if !known && len(s.Attached) >= maxInstructed || !p.short() {
		return
	}
	seen, sum := s.LastMessage, s.History
	if t := s.turn(p.TurnID); t != nil && t.Panel != nil {
		seen, sum = t.Seen, t.Sum
	}
	a := Attachment{AgentAttached: p, Fits: p.Sum == sum}
	if shift := int64(seen) - int64(p.Seen); shift != 0 {
		a.Seen, a.From = seen, uint64(max(0, int64(p.From)+shift))
	}
	session := AgentSession{Began: p.Way, Last: a}
	same := func(other AgentSession) bool { return other.Last.AgentSession == p.AgentSession }
	if i := slices.IndexFunc(sessions, same); i >= 0 {
		before := sessions[i]
		session.Began, session.Done = before.Began, before.Done
		session.Last.Context, session.Last.Window = before.Last.Context, before.Last.Window
		session.Last.Total = before.Last.Total
	}
	others := slices.DeleteFunc(slices.Clone(sessions), same)
	s.setAttached(p.MemberID, newest(append(others, session), maxAgentSessions))
}

// setAttached changes the sessions of a member in a copy of Attached: States may share it.
func (s *State) setAttached(memberID string, sessions []AgentSession) {
	attached := maps.Clone(s.Attached)
	if attached == nil {
		attached = map[string][]AgentSession{}
	}
	attached[memberID] = sessions
	s.Attached = attached
}

// maxSteered is how many messages that were taken in a turn are kept. This program sends fewer.
const maxSteered = 100

// steer folds a TurnSteered.
func (s *State) steer(p TurnSteered) {
	at := slices.IndexFunc(s.Recent, func(e Entry) bool { return e.ID == p.MessageID })
	t := s.turn(p.TurnID)
	if at < 0 || t == nil {
		return
	}
	sessions := slices.Clone(s.Attached[t.MemberID])
	i := slices.IndexFunc(sessions, func(a AgentSession) bool { return a.Last.TurnID == p.TurnID })
	if i < 0 || len(sessions[i].Last.Steered) >= maxSteered {
		return
	}
	last := &sessions[i].Last
	last.Steered = append(slices.Clip(last.Steered), s.Recent[at].Seq)
	s.setAttached(t.MemberID, sessions)
}

// endAttached folds the end of a turn into the session that it used.
func (s *State) endAttached(p TurnEnded) {
	sessions := slices.Clone(s.Attached[p.MemberID])
	i := slices.IndexFunc(sessions, func(a AgentSession) bool { return a.Last.TurnID == p.TurnID })
	if i < 0 {
		return
	}
	last := &sessions[i].Last
	last.Ended, last.End = p.FinishReason, clip(p.Point)
	if t := s.turn(p.TurnID); t != nil {
		last.Reply = t.Message
	}
	if u := p.Usage; u != nil {
		if u.Window > 0 {
			last.Context, last.Window = u.Context, u.Window
		}
		if u.Total != nil {
			last.Total = u.Total
		}
	}
	if p.FinishReason == Done {
		done := *last
		sessions[i].Done = &done
	}
	s.setAttached(p.MemberID, sessions)
}
