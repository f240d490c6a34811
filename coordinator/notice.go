package coordinator

import (
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Notice is what a Listener is notified of besides events: a *TurnError or one of the types below.
type Notice interface{ notice() }

// Restored reports that SetTeam restored a session, after the status has changed. It is the event session:restored.
type Restored struct {
	SessionID string
	Messages  int

	Invalid      int    // events that do not match their schema
	FirstInvalid uint64 // Seq of the first of them
}

// Saved reports that a save point has made all events of a session durable: when a human is next, after a change of a
// setting, and when Save or Stop returns. It is the event session:saved.
type Saved struct{ SessionID string }

// TeamReady reports that SetTeam has set a team, as its last notice. It is the event team:ready.
type TeamReady struct {
	Team     *team.Team
	Restored bool // with a session
}

// A Named is a Notice that other programs know as an event by its name.
type Named interface {
	Notice
	Name() string // as in "session:saved"
}

// Name returns "session:restored".
func (Restored) Name() string { return "session:restored" }

// Name returns "session:saved".
func (Saved) Name() string { return "session:saved" }

// Name returns "team:ready".
func (TeamReady) Name() string { return "team:ready" }

// MembersMissing reports that members spoke in the restored session and are not in the team, in the order of
// their first message.
type MembersMissing struct{ Members []projection.MemberRef }

// MemberChanged reports that a member had another agent or model when the restored session was created. A nil
// change is none.
type MemberChanged struct {
	Member       team.Member
	Agent, Model *projection.Change
}

// TeamChanged reports that a member was changed, added or removed: the team in force.
type TeamChanged struct{ Team *team.Team }

// ChangesInForce reports how the team of a restored session differs from its configuration.
type ChangesInForce struct{ Changes []projection.ChangedMember }

// LimitsChanged reports the limits that a restored session has recorded: those that count, and those that do not, since
// another home or machine has raised them.
type LimitsChanged struct{ InForce, Ignored []projection.BudgetChanged }

// ChangeIgnored reports that a change of a member that the session has recorded does not count here.
type ChangeIgnored struct {
	Change projection.MemberChanged
	Reason string
}

// OrphansEnded reports that processes were ended that agents had left running when the program was
// killed.
type OrphansEnded struct{ Processes int }

// SaveFailed reports that events could not be written. They are kept in memory, and the next save point
// retries. It is reported once per call of a Coordinator's method.
type SaveFailed struct{ Err error }

// NotSaved reports what became of the events of a session that ended before they could be saved.
type NotSaved struct {
	File   string // to which they were written, as journal.Log.SetAside does
	Events int    // that may not be in the journal
	Whole  bool   // the file has the earlier events, too
	Err    error  // why they could not be written to a file either: they are lost
}

// Written reports that events that were delivered as Unsaved are in the journal.
type Written struct{ Events []journal.Event }

// Prompt reports that a prompt is about to be sent to an agent.
type Prompt struct {
	Member team.Member
	Text   string
}

// InstructionsChanged reports that a member has other instructions than in its last turn: in the team file, or in an
// instruction file.
type InstructionsChanged struct{ Member team.Member }

// WindowCut reports that a prompt has only the newest messages, or that the session of the member's agent is new
// although it had one. It is reported once for each reason and member.
type WindowCut struct {
	Member team.Member
	// Reason is that of projection.AgentAttached, with which the agent starts a new session. "" or
	// projection.ReasonFirst: it had no session.
	Reason     string
	Shown, All int // messages
}

// Summarizing reports that an agent summarizes messages that are not in the prompts of a member any more.
type Summarizing struct {
	Member   team.Member
	Messages int
}

// PromptTruncated reports that the oldest messages were left out of a prompt, which exceeded the agent's limit.
type PromptTruncated struct {
	Member   team.Member
	Messages int
}

// MessageTruncated reports that the middle of the triggering message was left out of a prompt, which exceeded
// the agent's limit.
type MessageTruncated struct {
	Member team.Member
	Bytes  int
}

// SecretsRedacted reports that secrets were replaced in messages, replies, recorded events
// or the older messages of a prompt.
type SecretsRedacted struct {
	Kinds []string // sorted, each once
	Count int      // of secrets
}

// SettingUnsupported reports that a setting of a member has no effect, once in a conversation.
type SettingUnsupported struct {
	MemberID string
	Setting  string // as in the team file
}

// FileNotSent reports that the agent of a member does not get the content of a file of the message to it, once in a
// conversation. Its prompt names the file.
type FileNotSent struct {
	MemberID string
	Name     string
	Reason   NotSent
}

// NotSent is why a file is not sent.
type NotSent string

// The reasons.
const (
	NotTaken    NotSent = "not taken"    // the agent takes no pictures
	NotFitting  NotSent = "not fitting"  // it is too large, or the message has too many
	NotReadable NotSent = "not readable" // its content is missing or damaged
)

// Retrying reports that a request of an agent failed and is repeated, in a turn that continues.
type Retrying struct {
	Member team.Member
	Retry  agent.Retry // without secrets
}

// AgentNotice is what the program of a member's agent has to say, such as a warning, once in a conversation. It is no
// part of a reply.
type AgentNotice struct {
	Member team.Member
	Text   string // without secrets; may have several lines
}

// PermissionDenied reports that an agent requested a permission that the member's configuration denies.
type PermissionDenied struct {
	Member team.Member
	Action string
}

// PermissionUnanswered reports that an agent requested a permission, and no user could be asked.
type PermissionUnanswered struct {
	Member team.Member
	Action string
	Asked  bool // the agent asked the user something
}

// UnknownNames reports that a message addressed names that no member has.
type UnknownNames struct{ Names []string }

// Round reports that an agent's turn begins, the Round-th of at most Limit between two human messages.
type Round struct {
	Member       team.Member
	Round, Limit int
}

// RunRound reports that an agent's turn begins, the Round-th of at most Limit in this run.
type RunRound struct {
	Member       team.Member
	Round, Limit int
}

// RoundLimit reports that the agents had Limit turns since the last human message. The queue, which had Next,
// was cleared.
type RoundLimit struct {
	Limit int
	Next  []team.Member
}

// RunLimit reports that the agents had Limit turns in this run. The queue, which had Next, was cleared.
type RunLimit struct {
	Limit int
	Next  []team.Member
}

// BudgetNear reports that most of a limit is used: once in a conversation, on a day, or until the next message of a
// person.
type BudgetNear struct{ BudgetError }

// BudgetUnknown reports that a limit may be passed: what Turns turns and summaries used is unknown. It is reported as
// often as BudgetNear.
type BudgetUnknown struct {
	Bound team.Bound
	Turns int
}

// QueueFull reports that members were addressed and not queued, because Limit are.
type QueueFull struct {
	Members []team.Member
	Limit   int
}

// QueueDemoted reports that one message added more than Limit entries to the queue; those of Members got P3.
type QueueDemoted struct {
	Members []team.Member
	Limit   int
}

// QueueCleared reports that queued members were removed.
type QueueCleared struct{ Members []team.Member }

// FromIgnored reports that an agent wrote a FROM marker, which only humans may.
type FromIgnored struct{ Member team.Member }

// TaskIgnored reports that an agent wrote a TEAM_TASK marker, which its configuration does not allow.
type TaskIgnored struct{ Member team.Member }

// TaskTruncated reports that a task exceeded Limit bytes.
type TaskTruncated struct{ Limit int }

// TaskDone reports that an agent wrote its done word.
type TaskDone struct{ Member team.Member }

func (Restored) notice()             {}
func (PanelSplit) notice()           {}
func (Saved) notice()                {}
func (TeamReady) notice()            {}
func (MembersMissing) notice()       {}
func (MemberChanged) notice()        {}
func (OrphansEnded) notice()         {}
func (TeamChanged) notice()          {}
func (ChangesInForce) notice()       {}
func (ChangeIgnored) notice()        {}
func (FilesOff) notice()             {}
func (FilesLimited) notice()         {}
func (LimitsChanged) notice()        {}
func (SaveFailed) notice()           {}
func (NotSaved) notice()             {}
func (Written) notice()              {}
func (Prompt) notice()               {}
func (InstructionsChanged) notice()  {}
func (PromptTruncated) notice()      {}
func (MessageTruncated) notice()     {}
func (SecretsRedacted) notice()      {}
func (SettingUnsupported) notice()   {}
func (FileNotSent) notice()          {}
func (Retrying) notice()             {}
func (AgentNotice) notice()          {}
func (PermissionDenied) notice()     {}
func (PermissionUnanswered) notice() {}
func (UnknownNames) notice()         {}
func (Round) notice()                {}
func (RunRound) notice()             {}
func (RoundLimit) notice()           {}
func (RunLimit) notice()             {}
func (BudgetNear) notice()           {}
func (BudgetUnknown) notice()        {}
func (QueueFull) notice()            {}
func (QueueDemoted) notice()         {}
func (QueueCleared) notice()         {}
func (FromIgnored) notice()          {}
func (TaskIgnored) notice()          {}
func (TaskTruncated) notice()        {}
func (TaskDone) notice()             {}
func (WindowCut) notice()            {}
func (Summarizing) notice()          {}
func (*TurnError) notice()           {}
func (SettingUp) notice()            {}
