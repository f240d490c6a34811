package coordinator

import (
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Status is what a conversation is doing.
type Status string

// The statuses there are.
const (
	Idle   Status = "idle"   // there is a team and no session yet
	Active Status = "active" // an agent works
	Paused Status = "paused" // a human is next
)

// Events is told what happens in a conversation, in order, on the goroutine
// that made it happen. Its methods should return soon: the conversation waits.
type Events interface {
	// TeamReady: SetTeam is done; restored when it took up an earlier session.
	TeamReady(team *team.Team, restored bool)
	// SessionRestored: an earlier session was taken up.
	SessionRestored(sessionID string, messages int)
	// SessionSaved: a save point was reached and everything is on the disk.
	SessionSaved(sessionID string)
	// SaveFailed: something could not be written. It is kept in memory, and
	// the next save point tries again.
	SaveFailed(err error)
	// StatusChanged: the status is another one now.
	StatusChanged(status Status)
	// MembersMissing: these spoke in the restored session and are not in the
	// team, in the order of their first message.
	MembersMissing(missing []projection.MemberRef)
	// Appended: the event stands in the journal now.
	Appended(e journal.Event)
	// TurnStarted: an agent was asked.
	TurnStarted(member team.Member)
	// Prompted: this is everything that the agent is told.
	Prompted(member team.Member, prompt string)
	// Text: a part of the agent's reply, as it comes.
	Text(member team.Member, text string)
	// Said: a message became part of the conversation.
	Said(message projection.Message)
	// TurnEnded: an agent is done, whatever became of its turn.
	TurnEnded(member team.Member, end projection.TurnEnded)
	// Notice: a decision that people should hear of.
	Notice(n Notice)
}

// NoEvents is an Events that ignores everything, to be embedded.
type NoEvents struct{}

func (NoEvents) TeamReady(*team.Team, bool)                  {}
func (NoEvents) SessionRestored(string, int)                 {}
func (NoEvents) SessionSaved(string)                         {}
func (NoEvents) SaveFailed(error)                            {}
func (NoEvents) StatusChanged(Status)                        {}
func (NoEvents) MembersMissing([]projection.MemberRef)       {}
func (NoEvents) Appended(journal.Event)                      {}
func (NoEvents) TurnStarted(team.Member)                     {}
func (NoEvents) Prompted(team.Member, string)                {}
func (NoEvents) Text(team.Member, string)                    {}
func (NoEvents) Said(projection.Message)                     {}
func (NoEvents) TurnEnded(team.Member, projection.TurnEnded) {}
func (NoEvents) Notice(Notice)                               {}

// Notice is a decision of the coordinator.
type Notice struct {
	Kind  NoticeKind
	Names []string // what it is about
	Limit int
	Count int
}

// NoticeKind tells the notices apart.
type NoticeKind int

// The notices there are.
const (
	UnknownNames    NoticeKind = iota // Names were addressed and are no members
	RoundLimit                        // Limit turns of agents are over; Names would have been next
	RunLimit                          // Limit turns of agents in this run are over; Names would have been next
	PromptCut                         // the agent Names takes no more: the oldest Limit messages of its window were left out
	SecretsReplaced                   // Limit secrets were replaced, of the kinds Names
	NotPermitted                      // the agent Names[0] asked leave for Names[1], which its permissions do not allow
	NobodyToAsk                       // the agent Names[0] asked leave for Names[1], and there is nobody to be asked: it was refused
	Round                             // the agent Names is asked; it is turn Count of Limit that the team allows
	RunRound                          // the agent Names is asked; it is turn Count of Limit of this run
	QueueFull                         // Names were addressed and do not wait: Limit do already
	QueueDemoted                      // Names come last: more than Limit were asked by one message
	QueueEmptied                      // Names waited and do not any more
	NotHuman                          // the agent Names said that it speaks for a human, which is ignored
	TaskRefused                       // the agent Names set the task and may not
	TaskDone                          // the agent Names has said its done word
	MessageCut                        // the agent Names takes no more: Limit bytes in the middle of the message were left out
	AgentChanged                      // the agent of Names[0] was Names[1] in the restored session and is Names[2]; "" is none
	ModelChanged                      // its model was Names[1] and is Names[2]; "" is none
	OrphansEnded                      // Limit processes that agents had left running when the program died were ended
	TaskCut                           // the task was longer than Limit bytes: the rest of it was left out
)
