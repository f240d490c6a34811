package projection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// Format is the version of the session journal that this program writes.
const Format = 1

// Payload is the data of one type of event.
type Payload interface{ eventType() string }

// SessionCreated is always the first event of a session.
type SessionCreated struct {
	Format    int     `json:"format"`
	SessionID string  `json:"sessionId"`
	Team      Team    `json:"team"`
	CWD       string  `json:"cwd"`
	App       App     `json:"app"`
	Parent    *Parent `json:"parent,omitempty"`
}

// Team is what a session remembers of the team that it was made with.
type Team struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Members []Member `json:"members"`
	Source  *Source  `json:"source,omitempty"` // nil: the team is built in
}

// Member is one of a Team. What a member's processes get as environment is
// never part of it.
type Member struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	Type        string `json:"type"` // TypeAI or TypeHuman
	AgentType   string `json:"agentType,omitempty"`
	Model       string `json:"model,omitempty"`
}

// Source is the configuration file that a team came from.
type Source struct {
	Path   string `json:"path"`   // absolute
	SHA256 string `json:"sha256"` // of its bytes, in hex
}

// App is the program that wrote.
type App struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Parent is where a forked session parts from another.
type Parent struct {
	SessionID string `json:"sessionId"`
	Seq       uint64 `json:"seq"`
}

// SessionResumed comes with the first message after a restart.
type SessionResumed struct {
	App     App            `json:"app"`
	CWD     string         `json:"cwd"`
	Source  *Source        `json:"source,omitempty"`  // when it changed
	Missing []MemberRef    `json:"missing,omitempty"` // speakers that the team has no more
	Changed []MemberChange `json:"changed,omitempty"` // members with another agent or model
}

// MemberChange says what is different of a member.
type MemberChange struct {
	MemberRef
	AgentType *Change `json:"agentType,omitempty"` // nil: it is the same
	Model     *Change `json:"model,omitempty"`     // the same
}

// Change is what something was and what it is now; "" stands for nothing.
type Change struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// MemberRef names a member in a list of them.
type MemberRef struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// SessionRenamed gives the session a title of somebody's choice.
type SessionRenamed struct {
	Title string `json:"title"`
}

// SessionPinned keeps the session from being archived or deleted, or not.
type SessionPinned struct {
	Pinned bool `json:"pinned"`
}

// SessionEnded says that the program ended in order.
type SessionEnded struct {
	Reason string `json:"reason"`
}

// SessionImported says where the events before it come from.
type SessionImported struct {
	Source  string `json:"source"` // the format
	Path    string `json:"path"`
	Taken   int    `json:"taken"` // messages
	Skipped int    `json:"skipped"`
}

// TaskSet changes the team's task; nil removes it.
type TaskSet struct {
	Task *string `json:"task"`
}

// MessageAppended is one message of the conversation. When its text was not
// valid UTF-8, Message.Content has U+FFFD in those places and Raw the exact
// bytes.
type MessageAppended struct {
	Message Message `json:"message"`
	Raw     []byte  `json:"raw,omitempty"`
}

// QueueChanged is what was decided about who speaks next, where neither the
// routing of a message nor the start of a turn tells it. The queue itself is in
// no journal: nobody waits after a restart.
type QueueChanged struct {
	MessageID string        `json:"messageId,omitempty"` // the last message at that time
	Changes   []QueueChange `json:"changes"`
	More      int           `json:"more,omitempty"` // changes that are left out, because there are so many
	Waiting   []string      `json:"waiting"`        // the ids of who waits now, the next one first
}

// QueueChange is one decision about one member.
type QueueChange struct {
	Action   QueueAction `json:"action"`
	MemberID string      `json:"memberId"`
	Intent   string      `json:"intent,omitempty"` // P1, P2 or P3, of what was asked for
	Reason   string      `json:"reason"`           // in words
}

// QueueAction is what was decided.
type QueueAction string

// The decisions there are.
const (
	QueueRepeated  QueueAction = "repeated"  // waits already, and is asked once
	QueueSkipped   QueueAction = "skipped"   // too many wait
	QueueDemoted   QueueAction = "demoted"   // too many wait for an answer to the same message: the intent became P3
	QueueDropped   QueueAction = "dropped"   // does not wait any more
	QueuePreferred QueueAction = "preferred" // is asked before somebody who has waited longer
)

// TurnStarted says that an agent was asked.
type TurnStarted struct {
	TurnID           string `json:"turnId"`
	MemberID         string `json:"memberId"`
	AgentType        string `json:"agentType"`
	Model            string `json:"model,omitempty"`
	TriggerMessageID string `json:"triggerMessageId"`
}

// TurnText is what an agent said since the last one, while it still speaks.
type TurnText struct {
	TurnID string `json:"turnId"`
	Text   string `json:"text"`
}

// ToolStarted says that an agent uses a tool.
type ToolStarted struct {
	TurnID string          `json:"turnId"`
	ToolID string          `json:"toolId"`
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input,omitempty"`
}

// ToolCompleted is the tool's result. Output is bounded.
type ToolCompleted struct {
	TurnID      string `json:"turnId"`
	ToolID      string `json:"toolId"`
	Name        string `json:"name,omitempty"`
	Output      string `json:"output,omitempty"`
	OutputBytes int64  `json:"outputBytes,omitempty"` // of the whole output, when Output is not all of it
	Error       string `json:"error,omitempty"`
}

// PermissionAnswered says that an agent asked leave to do something, and what it
// was told.
type PermissionAnswered struct {
	TurnID  string  `json:"turnId"`
	ToolID  string  `json:"toolId"`
	Name    string  `json:"name"`            // the tool's
	Title   string  `json:"title,omitempty"` // what the agent would do with it, in its words
	Allowed bool    `json:"allowed"`
	By      Decider `json:"by"`
}

// Decider is who decided.
type Decider string

// Those who decide.
const (
	ByPerson  Decider = "person" // who sits in front of the chat
	ByPolicy  Decider = "policy" // the member's permissions
	ByDefault Decider = "nobody" // nobody was there to be asked, or nobody answered while the turn lasted
)

// TurnEnded closes a turn, whatever became of it.
type TurnEnded struct {
	TurnID       string       `json:"turnId"`
	MemberID     string       `json:"memberId"`
	FinishReason FinishReason `json:"finishReason"`
	DurationMS   int64        `json:"durationMs"`
	Usage        *Usage       `json:"usage,omitempty"`
	Error        string       `json:"error,omitempty"`
	Partial      string       `json:"partial,omitempty"`      // what was said of an unfinished reply
	PartialBytes int64        `json:"partialBytes,omitempty"` // of all that was said, when Partial is not all of it
	AgentSession string       `json:"agentSession,omitempty"` // the agent's own name of its session
}

// FinishReason is why a turn ended.
type FinishReason string

// The reasons there are.
const (
	Done        FinishReason = "done"
	Failed      FinishReason = "error"
	Cancelled   FinishReason = "cancelled"
	TimedOut    FinishReason = "timeout"
	Interrupted FinishReason = "interrupted" // the program died
)

// Usage is what a turn cost, as far as the agent tells.
type Usage struct {
	InputTokens  int64 `json:"inputTokens"`
	OutputTokens int64 `json:"outputTokens"`
}

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
func (TurnEnded) eventType() string       { return "turn.ended" }

func (PermissionAnswered) eventType() string { return "permission.answered" }

// JournalRecovered is the payload of the event that package journal appends.
type JournalRecovered struct{ journal.Recovered }

func (JournalRecovered) eventType() string { return journal.TypeRecovered }

// Record makes an event of a payload. The zero time is the time of appending.
func Record(at time.Time, p Payload) journal.Record {
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		panic(fmt.Sprintf("payload of %s: %v", p.eventType(), err)) // structs of plain fields
	}
	return journal.Record{Type: p.eventType(), Data: bytes.TrimSuffix(data.Bytes(), []byte("\n")), Time: at, Compact: true}
}

var (
	// ErrUnknownType: this version of the program does not know the event.
	ErrUnknownType = errors.New("unknown type of event")
	// ErrNewer: a newer version of the program wrote the payload.
	ErrNewer = errors.New("newer version of the payload")
)

// Decode decodes the payload of an event, of any version up to the newest, into the
// struct of its type. It returns ErrUnknownType, ErrNewer, or an error of
// encoding/json.
func Decode(e journal.Event) (Payload, error) {
	return decode(e, len(upcasters[e.Type]) == 0)
}

// decode is Decode. With fast it tries the layout in which Record writes a payload
// first, which takes a tenth of the time. That is right only for types with a single
// version: a payload without a "v" has the first version.
func decode(e journal.Event, fast bool) (Payload, error) {
	decoder, ok := decoders[e.Type]
	if !ok {
		return nil, fmt.Errorf("event %d, %s: %w", e.Seq, e.Type, ErrUnknownType)
	}
	p, err := decoder(e, fast)
	if err != nil {
		return nil, fmt.Errorf("event %d, %s: %w", e.Seq, e.Type, err)
	}
	return p, nil
}

var decoders = map[string]func(e journal.Event, fast bool) (Payload, error){
	SessionCreated{}.eventType():  decodeAs[SessionCreated],
	SessionResumed{}.eventType():  decodeAs[SessionResumed],
	SessionRenamed{}.eventType():  decodeAs[SessionRenamed],
	SessionPinned{}.eventType():   decodeAs[SessionPinned],
	SessionEnded{}.eventType():    decodeAs[SessionEnded],
	SessionImported{}.eventType(): decodeAs[SessionImported],
	TaskSet{}.eventType():         decodeAs[TaskSet],
	MessageAppended{}.eventType(): decodeAs[MessageAppended],
	QueueChanged{}.eventType():    decodeAs[QueueChanged],
	TurnStarted{}.eventType():     decodeAs[TurnStarted],
	TurnText{}.eventType():        decodeAs[TurnText],
	ToolStarted{}.eventType():     decodeAs[ToolStarted],
	ToolCompleted{}.eventType():   decodeAs[ToolCompleted],
	TurnEnded{}.eventType():       decodeAs[TurnEnded],

	PermissionAnswered{}.eventType(): decodeAs[PermissionAnswered],

	JournalRecovered{}.eventType(): decodeAs[JournalRecovered],
	SessionArchived{}.eventType():  decodeAs[SessionArchived],
	SessionTrashed{}.eventType():   decodeAs[SessionTrashed],
	SessionPurged{}.eventType():    decodeAs[SessionPurged],
}

func decodeAs[P Payload](e journal.Event, fast bool) (Payload, error) {
	if fast {
		var p P
		if layout.Decode(e.Data, &p) {
			return p, nil
		}
	}
	data, err := upcast(e.Type, e.Data)
	if err != nil {
		return nil, err
	}
	var p P
	err = json.Unmarshal(data, &p)
	return p, err
}
