package projection

import (
	"encoding/json"

	"github.com/agent-chatter/agent-chatter/journal"
)

// Format is the version of the journal format that this program writes.
const Format = 1

// Payload is the data of an event. Each type of event has one type of payload.
type Payload interface{ eventType() string }

// SessionCreated is the first event of a session.
type SessionCreated struct {
	Format    int     `json:"format"`
	SessionID string  `json:"sessionId"`
	Team      Team    `json:"team"`
	CWD       string  `json:"cwd"`
	App       App     `json:"app"`
	Parent    *Parent `json:"parent,omitempty"`
	Limits
}

// Limits are the limits of agent turns that a run has. 0 is none, or was not recorded by an earlier version.
type Limits struct {
	MaxRounds    int                `json:"maxRounds,omitempty"`    // turns between two human messages
	MaxRunRounds int                `json:"maxRunRounds,omitempty"` // turns of the run
	Budget       map[string]float64 `json:"budget,omitempty"`       // of what turns use, by name, such as session.cost
}

// Team describes the team of a session as it was when the session was created.
type Team struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Members []Member `json:"members"`
	Source  *Source  `json:"source,omitempty"` // nil: a built-in team
}

// Member is a member of a Team. It never contains the environment of the member's
// processes, which may hold secrets.
type Member struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	Type        string `json:"type"` // TypeAI or TypeHuman
	AgentType   string `json:"agentType,omitempty"`
	Model       string `json:"model,omitempty"`
}

// Speaker returns the member as one who speaks.
func (m Member) Speaker() Speaker { return Speaker{m.ID, m.Name, m.DisplayName, m.Type} }

// Source identifies the configuration file of a team.
type Source struct {
	Path   string `json:"path"`   // absolute
	SHA256 string `json:"sha256"` // of its bytes, in hex
}

// App identifies the program that wrote an event.
type App struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Parent is the session that a session copies or whose messages it reruns, and the last
// event that it copied or reran.
type Parent struct {
	SessionID string `json:"sessionId"`
	Seq       uint64 `json:"seq"`
}

// SessionResumed precedes the first event that a later chat records.
type SessionResumed struct {
	App     App            `json:"app"`
	CWD     string         `json:"cwd"`
	Source  *Source        `json:"source,omitempty"`  // nil: unchanged
	Missing []MemberRef    `json:"missing,omitempty"` // speakers that are no longer in the team
	Changed []MemberChange `json:"changed,omitempty"` // members whose agent type or model changed
	Limits
}

// MemberChange describes how a member changed.
type MemberChange struct {
	MemberRef
	AgentType *Change `json:"agentType,omitempty"` // nil: unchanged
	Model     *Change `json:"model,omitempty"`     // nil: unchanged
}

// Change is an old and a new value; "" is unset.
type Change struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// MemberRef identifies a member.
type MemberRef struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// SessionRenamed sets the title, which then no longer follows the first message.
type SessionRenamed struct {
	Title string `json:"title"`
}

// SessionPinned protects the session from being archived or deleted, or stops doing so.
type SessionPinned struct {
	Pinned bool `json:"pinned"`
}

// SessionEnded records a clean exit of the program.
type SessionEnded struct {
	Reason string `json:"reason"`
}

// SessionImported records the origin of the events before it.
type SessionImported struct {
	Source  string `json:"source"` // the format
	Path    string `json:"path"`
	Taken   int    `json:"taken"` // messages
	Skipped int    `json:"skipped"`
	// Origin is nil unless the source's program can continue its own session from the last message.
	Origin *ImportOrigin `json:"origin,omitempty"`
}

// An ImportOrigin is the session of another program that was imported.
type ImportOrigin struct {
	AgentSession string `json:"agentSession"` // the program's id of it
	Point        string `json:"point"`        // the last one that was imported
	Sum          string `json:"sum"`          // State.History
	// Host is a hash of the source and the other fields with a secret key of the home and the machine, as
	// AgentAttached.Host.
	Host string `json:"host"`
}

// TaskSet sets the task of the team; nil removes it.
type TaskSet struct {
	Task *string `json:"task"`
}

// MessageAppended is a message of the conversation. If its text is not valid UTF-8,
// Message.Content has U+FFFD in place of the invalid bytes, and Raw is the exact text.
//
// Without a TurnID it is of the newest open turn of its speaker that has no message, if
// there is one: earlier versions of the program did not record it.
type MessageAppended struct {
	Message Message `json:"message"`
	Raw     []byte  `json:"raw,omitempty"`
	TurnID  string  `json:"turnId,omitempty"` // the turn whose reply it is; "": none, or not recorded
	// Attachments are the files of the message.
	Attachments []File `json:"attachments,omitempty"`
}

// QueueChanged records decisions about who speaks next that follow neither from the
// routing of a message nor from the start of a turn. The queue does not survive a
// restart.
type QueueChanged struct {
	MessageID string        `json:"messageId,omitempty"` // the newest message at that time
	Changes   []QueueChange `json:"changes"`
	More      int           `json:"more,omitempty"` // number of changes omitted because there were too many
	Waiting   []string      `json:"waiting"`        // ids of the queued members, the next one first
}

// QueueChange is a decision about a queued member.
type QueueChange struct {
	Action   QueueAction `json:"action"`
	MemberID string      `json:"memberId"`
	Intent   string      `json:"intent,omitempty"` // the requested priority: P1, P2 or P3
	Reason   string      `json:"reason"`           // for people
}

// QueueAction is a kind of decision.
type QueueAction string

// The actions.
const (
	QueueRepeated  QueueAction = "repeated"  // already queued: no entry was added
	QueueSkipped   QueueAction = "skipped"   // the queue is full
	QueueDemoted   QueueAction = "demoted"   // the message has too many entries: the priority became P3
	QueueDropped   QueueAction = "dropped"   // removed from the queue
	QueuePreferred QueueAction = "preferred" // speaks before a member that was queued earlier
)

// TurnStarted records that an agent was prompted.
type TurnStarted struct {
	TurnID           string `json:"turnId"`
	MemberID         string `json:"memberId"`
	AgentType        string `json:"agentType"`
	Model            string `json:"model,omitempty"`
	TriggerMessageID string `json:"triggerMessageId"`
	Round            int    `json:"round,omitempty"` // number of the turn since the last human message; 0: unknown
	Panel            *Panel `json:"panel,omitempty"` // nil: the turn is of no panel
}

// A Panel is what turns have in common that one message started at the same time.
type Panel struct {
	ID    string `json:"id"`
	Index int    `json:"index"` // of the turn in the order of the message, from 1
	Of    int    `json:"of"`    // the number of turns
}

// TurnText is the part of a reply that was streamed since the previous TurnText.
type TurnText struct {
	TurnID string `json:"turnId"`
	Text   string `json:"text"`
}

// ToolStarted is a tool call of an agent.
type ToolStarted struct {
	TurnID string          `json:"turnId"`
	ToolID string          `json:"toolId"`
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input,omitempty"`
}

// ToolCompleted is the result of a tool call. Output may be truncated.
type ToolCompleted struct {
	TurnID      string `json:"turnId"`
	ToolID      string `json:"toolId"`
	Name        string `json:"name,omitempty"`
	Output      string `json:"output,omitempty"`
	OutputBytes int64  `json:"outputBytes,omitempty"` // length of the complete output; 0: Output is complete
	Error       string `json:"error,omitempty"`
}

// PermissionAnswered is the answer to an agent that requested permission to use a tool.
type PermissionAnswered struct {
	TurnID  string  `json:"turnId"`
	ToolID  string  `json:"toolId"`
	Name    string  `json:"name"`            // of the tool
	Title   string  `json:"title,omitempty"` // the agent's description of the call
	Allowed bool    `json:"allowed"`
	By      Decider `json:"by"`
	// Device is the name of the device on which the person answered; "": the terminal of the conversation.
	Device string `json:"device,omitempty"`
	// WaitedMS is how long the request waited for the answer of a person; 0: it did not, or an
	// earlier version of the program recorded it.
	WaitedMS int64 `json:"waitedMs,omitempty"`
	// Reason is why a person refused, as the agent was told; "": no reason, or it was sent as a message.
	Reason string `json:"reason,omitempty"`
	// Questions are what the agent asked the person; none: it asked only for permission.
	Questions []Question `json:"questions,omitempty"`
	// Answers has one answer for each question if Allowed: the labels of the chosen options, and the person's own
	// text. That of a secret question is empty: it is not recorded.
	Answers [][]string `json:"answers,omitempty"`
}

// Question is what an agent asked a person.
type Question struct {
	Header  string           `json:"header,omitempty"`
	Text    string           `json:"text"`
	Options []QuestionOption `json:"options,omitempty"`
	Several bool             `json:"several,omitempty"` // several options may be chosen
	Free    bool             `json:"free,omitempty"`    // a text of the person's own is an answer
	Secret  bool             `json:"secret,omitempty"`
}

// QuestionOption is an answer that an agent offered.
type QuestionOption struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Decider is who answered a request for permission.
type Decider string

// The deciders.
const (
	ByPerson  Decider = "person" // the user of the chat
	ByPolicy  Decider = "policy" // the permissions of the member
	ByDefault Decider = "nobody" // no person was available, or none answered during the turn
)

// PermissionBypassed records that an agent used a tool without the permission that it needs: it did not request it, did
// not wait for the answer, or did not follow it. It precedes the tool.completed, and the turn fails.
type PermissionBypassed struct {
	TurnID string `json:"turnId"`
	ToolID string `json:"toolId"`
	Name   string `json:"name"`            // of the tool
	Title  string `json:"title,omitempty"` // the agent's description of the call
}

// PlanUpdated is the list of things to do that an agent keeps for its turn, as it is now.
// It is shown, and not part of the conversation.
type PlanUpdated struct {
	TurnID  string      `json:"turnId"`
	Entries []PlanEntry `json:"entries"`
	More    int         `json:"more,omitempty"` // number of entries omitted because there were too many
}

// PlanEntry is one thing to do.
type PlanEntry struct {
	Content  string     `json:"content"` // may be truncated
	Status   PlanStatus `json:"status"`
	Priority string     `json:"priority,omitempty"` // high, medium or low
}

// PlanStatus says how far a thing to do is.
type PlanStatus string

// The statuses.
const (
	Pending    PlanStatus = "pending"
	InProgress PlanStatus = "in_progress"
	Completed  PlanStatus = "completed"
)

// TurnEnded ends a turn, successful or not. Its payload has version 2.
type TurnEnded struct {
	TurnID       string       `json:"turnId"`
	MemberID     string       `json:"memberId"`
	FinishReason FinishReason `json:"finishReason"`
	DurationMS   int64        `json:"durationMs"` // without the waits for answers of a person
	Usage        *Usage       `json:"usage,omitempty"`
	PromptSHA256 string       `json:"promptSha256,omitempty"`       // of the prompt's bytes, in hex
	Instructions string       `json:"instructionsSha256,omitempty"` // of the instructions in the prompt, in hex
	Error        string       `json:"error,omitempty"`
	Partial      string       `json:"partial,omitempty"`      // text of an unfinished reply; may be truncated
	PartialBytes int64        `json:"partialBytes,omitempty"` // length of the complete text; 0: Partial is complete
	AgentSession string       `json:"agentSession,omitempty"` // the agent's id of its own session
	Point        string       `json:"point,omitempty"`        // the end of the turn in that session; "": not reported
}

// FinishReason is why a turn ended.
type FinishReason string

// The reasons.
const (
	Done        FinishReason = "done"
	Failed      FinishReason = "error"
	Cancelled   FinishReason = "cancelled"
	TimedOut    FinishReason = "timeout"
	Interrupted FinishReason = "interrupted" // the program ended before the turn did
)

func (SessionCreated) eventType() string  { return "session.created" }
func (SessionResumed) eventType() string  { return "session.resumed" }
func (SessionRenamed) eventType() string  { return "session.renamed" }
func (SessionPinned) eventType() string   { return "session.pinned" }
func (SessionEnded) eventType() string    { return "session.ended" }
func (SessionImported) eventType() string { return "session.imported" }
func (TaskSet) eventType() string         { return "task.set" }
func (MessageAppended) eventType() string { return "message.appended" }
func (QueueChanged) eventType() string    { return "queue.changed" }
func (TurnStarted) eventType() string     { return "turn.started" }
func (TurnText) eventType() string        { return "turn.text" }
func (ToolStarted) eventType() string     { return "tool.started" }
func (ToolCompleted) eventType() string   { return "tool.completed" }
func (PlanUpdated) eventType() string     { return "plan.updated" }
func (TurnEnded) eventType() string       { return "turn.ended" }

func (PermissionAnswered) eventType() string { return "permission.answered" }
func (PermissionBypassed) eventType() string { return "permission.bypassed" }

// JournalRecovered is the payload of the event that package journal appends after a
// recovery.
type JournalRecovered struct{ journal.Recovered }

func (JournalRecovered) eventType() string { return journal.TypeRecovered }

// JournalSealed says nothing: the sync mark of its line covers all lines before it.
type JournalSealed struct{}

func (JournalSealed) eventType() string { return journal.TypeSealed }

// TypeOf returns the type of the events that have a payload like p.
func TypeOf(p Payload) string { return p.eventType() }
