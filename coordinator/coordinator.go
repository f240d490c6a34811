package coordinator

import (
	"context"
	"errors"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/oklog/ulid/v2"
)

// Options are what a Coordinator works with.
type Options struct {
	Store   store.Store
	Engines map[string]agent.Engine // by the name that Member.EngineName gives
	Events  Events                  // nil: nobody listens
	App     projection.App          // recorded in sessions
	CWD     string                  // recorded in sessions; where agents without a base directory work
	// MaxRounds ends the conversation's queue after that many turns of agents
	// in this run; 0 is no limit.
	MaxRounds int
	Window    Window // of the prompts
	// KeepSecrets keeps secrets in what is said, and so on the disk; otherwise they are
	// replaced as package redact says.
	KeepSecrets bool
	// Ask asks the person in front of the chat whether a member may do what it asks leave for.
	// It blocks until there is an answer, or ctx is done: then the answer is not heard. nil:
	// there is nobody to be asked.
	Ask func(ctx context.Context, member team.Member, asked agent.Permission) (allowed bool)
	Now func() time.Time // nil: time.Now
}

// Coordinator runs one conversation at a time. It is not safe for use from
// several goroutines; cancelling the context of a call is.
type Coordinator struct {
	o       Options
	team    *team.Team
	conv    *conversation // nil: nothing was said yet
	resumed bool          // conv was restored, and nothing was appended since
	title   string        // of a restored session
	status  Status
	waiting string // the id of the human who is next; "" when it may be any
	queue   queue
	last    string // the id of the last message of this run
	rounds  int    // turns of agents in this run

	undecided []projection.QueueChange // decisions that no event has yet
	decided   []projection.QueueChange // the newest since the last human message
	missing   []projection.MemberRef
	told      bool // that saving failed, since a human was asked
	secrets   *redact.Redactor
}

// New returns a Coordinator without a team.
func New(o Options) *Coordinator {
	if o.Events == nil {
		o.Events = NoEvents{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Coordinator{o: o, status: Idle}
}

// ErrNoTeam: SetTeam comes first.
var ErrNoTeam = errors.New("team must be set before restoring session")

// SetTeamOptions are the choices of SetTeam.
type SetTeamOptions struct {
	ResumeSessionID string // the session to go on with; "": a new one
}

// SetTeam starts with a team, and forgets whatever there was before: call Stop
// first to keep it. With a session to resume, that session is restored; when
// that fails, the team is set, there is no session, and the error says why.
func (c *Coordinator) SetTeam(ctx context.Context, team *team.Team, o SetTeamOptions) error {
	c.reset(team)
	if o.ResumeSessionID != "" {
		if err := c.restore(ctx, o.ResumeSessionID); err != nil {
			c.reset(team)
			return err
		}
	}
	c.o.Events.TeamReady(team, o.ResumeSessionID != "")
	return nil
}

func (c *Coordinator) reset(team *team.Team) {
	if c.conv != nil {
		c.conv.log.Close(c.conv.state)
	}
	c.endAgents()
	*c = Coordinator{o: c.o, team: team, status: Idle}
	if !c.o.KeepSecrets {
		c.secrets = redact.New(team.Secrets())
	}
}

// Session describes the conversation as it stands; nil before the first word.
func (c *Coordinator) Session() *Session {
	if c.conv == nil {
		return nil
	}
	s := c.conv.state
	title := s.Row.Title
	if c.title != "" {
		title = c.title
	}
	interrupted, _ := unfinished(s)
	if _, ok := c.team.Member(interrupted); !ok {
		interrupted = ""
	}
	return &Session{
		ID: c.conv.log.SessionID(), TeamID: c.team.ID, TeamName: c.team.Name, Title: title,
		CreatedAt: s.Row.CreatedAt, UpdatedAt: s.Row.UpdatedAt, Status: c.status, TeamTask: s.Task,
		Stats: s.Stats, Duration: c.o.Now().Sub(s.Row.CreatedAt), Recent: s.Recent,
		Interrupted: interrupted, Unsaved: c.conv.unsaved(), Written: s.Seq > 0 && !c.resumed,
	}
}

// Session is a conversation as people see it.
type Session struct {
	ID                   string
	TeamID, TeamName     string
	Title                string
	CreatedAt, UpdatedAt time.Time
	Status               Status
	TeamTask             *string
	Stats                projection.Stats
	Duration             time.Duration // since CreatedAt
	Recent               []projection.Entry
	Interrupted          string // the id of the member whose last turn did not end well and whom Retry can ask again
	Unsaved              bool   // something is only in memory
	Written              bool   // something was said in this run
}

// Snapshot is the whole session as it is saved. Before the first word it
// returns ErrNoSession.
func (c *Coordinator) Snapshot(ctx context.Context) (*projection.Snapshot, error) {
	if c.conv == nil {
		return nil, ErrNoSession
	}
	return c.o.Store.Load(ctx, c.team.ID, c.conv.log.SessionID())
}

// Status is what the conversation is doing.
func (c *Coordinator) Status() Status { return c.status }

// Team is the team that was set; nil when none is.
func (c *Coordinator) Team() *team.Team { return c.team }

// Waiting is the id of the human who is next; "" when it may be any, because
// nothing was said yet.
func (c *Coordinator) Waiting() string { return c.waiting }

func (c *Coordinator) setStatus(s Status) {
	if c.status != s {
		c.status = s
		c.o.Events.StatusChanged(s)
	}
}

// Stop ends the conversation: it is saved, and the session given up. The reason
// is recorded, unless nothing was said in this run. An error says that not
// everything could be saved; the conversation is over all the same.
func (c *Coordinator) Stop(reason string) error {
	c.endAgents()
	if c.conv == nil {
		return nil
	}
	conv, wrote := c.conv, !c.resumed
	c.told = false
	if wrote {
		c.empty("the conversation has ended")
		conv.record(c.records(append(c.decisions(), projection.SessionEnded{Reason: reason})...)...)
	}
	err := conv.close()
	if wrote {
		c.report(err)
	}
	c.conv, c.queue, c.waiting, c.title, c.last = nil, queue{}, "", "", ""
	c.setStatus(Idle)
	return err
}

// endAgents ends what engines keep running between turns.
func (c *Coordinator) endAgents() {
	for _, engine := range c.o.Engines {
		if e, ok := engine.(agent.Resident); ok {
			e.Close()
		}
	}
}

// savePoint brings everything to the disk and says how that went.
func (c *Coordinator) savePoint() { c.report(c.conv.save()) }

// report says how saving went. A failure is said once before a human is asked
// again, however often it happens.
func (c *Coordinator) report(err error) {
	if err == nil {
		c.o.Events.SessionSaved(c.conv.log.SessionID())
		return
	}
	c.reportFailure(err)
}

func (c *Coordinator) reportFailure(err error) {
	if err != nil && !c.told {
		c.told = true
		c.o.Events.SaveFailed(err)
	}
}

func (c *Coordinator) newID() string { return ulid.Make().String() }

func (c *Coordinator) records(payloads ...projection.Payload) []journal.Record {
	now := c.o.Now()
	records := make([]journal.Record, len(payloads))
	for i, p := range payloads {
		records[i] = projection.Record(now, c.withoutSecrets(p))
	}
	return records
}
