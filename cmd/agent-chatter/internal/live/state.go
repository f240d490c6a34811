package live

import (
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A State is what a conversation does now.
type State struct {
	Session   string     `json:"session,omitempty"` // TEAM/ID; another one than before after a fork; "": none yet
	Speaking  []Speaking `json:"speaking,omitempty"`
	Next      []string   `json:"next,omitempty"`    // the names of the members that are queued
	Waiting   []string   `json:"waiting,omitempty"` // the names of the people of whom one is next; none: agents speak
	Queue     []Queued   `json:"queue,omitempty"`
	Questions []Question `json:"questions,omitempty"`
	Sent      []string   `json:"sent,omitempty"`    // the ids of the inputs that were sent last
	Unsaved   bool       `json:"unsaved,omitempty"` // events are only in memory
}

// A Speaking is a turn that runs.
type Speaking struct {
	Turn   string    `json:"turn"`
	Member string    `json:"member"`
	Name   string    `json:"name"`
	Since  time.Time `json:"since"`
}

// A Queued line was entered and is not sent yet.
type Queued struct {
	ID   string `json:"id,omitempty"` // "": it was entered on a terminal, which takes it back
	Text string `json:"text"`
	From string `json:"from,omitempty"` // the device; "": the terminal
}

// A Question is a question of a member that is open.
type Question struct {
	ID         string           `json:"id"`
	Turn       string           `json:"turn"`
	Member     string           `json:"member"`
	Name       string           `json:"name"` // of the member
	Permission agent.Permission `json:"permission"`
}

// An Update is what is new since the last one.
type Update struct {
	State    *State   `json:"state,omitempty"`    // nil: it did not change
	Replies  []Reply  `json:"replies,omitempty"`  // that are streamed
	Notices  []string `json:"notices,omitempty"`  // what the program says
	Returned []Queued `json:"returned,omitempty"` // were queued for a turn that was cancelled: they are not sent
	Ended    bool     `json:"ended,omitempty"`    // the process hosts the conversation no more
}

// A Reply is a part of what a turn has said. The journal has it later, in larger parts.
type Reply struct {
	Turn  string `json:"turn"`
	At    int    `json:"at"`    // how many bytes of the reply precede Text
	After uint64 `json:"after"` // the last event of the session when Text was said
	Text  string `json:"text"`
}

// An Input is what a front end enters: a message or a command.
type Input struct {
	ID    string   `json:"id"` // chosen by the front end: an input with an ID that was entered before is ignored
	Text  string   `json:"text"`
	From  string   `json:"from"` // the device; "": the terminal of the host
	Role  web.Role `json:"role"` // what the device may do
	Files []File   `json:"files,omitempty"`
}

// A File is a picture that is attached to an input.
type File struct {
	Name string `json:"name"`
	Data []byte `json:"data"`
}

// A Completion is how the end of a text can be replaced.
type Completion struct {
	From    int      `json:"from"` // bytes of the text that stay
	Choices []Choice `json:"choices"`
}

// A Choice is a word that completes a text.
type Choice struct {
	Insert string `json:"insert"`
	Help   string `json:"help,omitempty"`
}

// A Team is a team with which a conversation can begin.
type Team struct {
	Name    string
	Title   string
	Members []projection.Member // people too, as a session would record them
	Trusted bool
}
