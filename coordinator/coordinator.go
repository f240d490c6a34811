package coordinator

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Options configure a Coordinator.
type Options struct {
	Store    store.Store
	Engines  map[string]agent.Engine // by Member.EngineName
	Listener Listener                // nil: none
	App      projection.App          // recorded in sessions
	CWD      string                  // recorded in sessions; the directory of agents without BaseDir
	// MaxRounds is the maximum number of agent turns of the Coordinator; 0 is no limit.
	MaxRounds int
	// ManualSave keeps events in memory until Save or Stop.
	ManualSave bool
	Budget     Budget
	Window     Window // of the prompts
	// Guard ends the agents when this process dies; nil is none.
	Guard *process.Guard
	// HomeKey returns a secret of the home and the machine, by which sessions of agents are known to be theirs. It is
	// called before the first turn that needs it. nil, or without a key, the agents keep no session after Stop.
	HomeKey func() []byte
	// Residents are the agents' programs that wait for their next turn, which conversations share; nil: its own.
	Residents *Residents
	// Asks is whether Listener.Ask can reach a person: members without permissions then ask.
	Asks bool
	// KeepSecrets disables the replacement of secrets.
	KeepSecrets bool
	// MCPServers are passed on to every agent that takes them. Their names may be any.
	MCPServers []agent.MCPServer
	// Recall returns the server that reads the sessions of a team, or of all teams if teamID is "", for
	// members with team.Member.Recall; nil: there is none.
	Recall func(teamID string) agent.MCPServer
	// NewMember makes a member that a session has added: an agent of this home, by its name, with the name of the
	// member; nil: none can be made.
	NewMember func(agentName, name string) (team.Member, error)
	// Workspace returns the directory whose files are captured around the turns in dir; nil, or nil without an error:
	// none are.
	Workspace func(dir string) (*workspace.Workspace, error)
	// Home is the directory of the program, in which members get worktrees; "": they get none.
	Home string
	// Editor serves the agents that can use one; nil is none.
	Editor agent.Editor

	maxHeld int // in bytes; 0 is the constant
}

// Coordinator runs one conversation at a time. It is not safe for concurrent use, but for Steer, CancelTurn and
// SkipFiles; contexts may be canceled from other goroutines.
type Coordinator struct {
	o           Options
	configured  *team.Team
	chosen      Chosen
	team        *team.Team // configured, with the changes of the session and what is chosen
	secrets     *redact.Redactor
	homeKey     []byte // nil: not known yet
	ephemeral   bool   // the home has no key
	residents   *Residents
	models      sync.Map // the names of the models that agents have reported, by the id of the member
	phase       Phase
	notified    Status                  // the last one
	running     atomic.Pointer[[]*turn] // those that were started last; nil: none runs
	directories map[string]*directory   // of turns, by their path
	capturing   int                     // as Status has it
	skipFiles   atomic.Pointer[context.CancelCauseFunc]
	run
}

// run is the state of one conversation since it was begun or restored.
type run struct {
	conv    *openSession // nil before the first message
	resumed bool         // conv was restored, and nothing was appended since
	parent  *projection.Parent
	waiting string // the ID of the human who is next; "" if any

	sessionID string // of the session to come; "" is any
	queue     queue
	last      string  // the ID of the last message
	rounds    int     // agent turns
	turns     []*turn // that run

	unrecorded  []projection.QueueChange // changes of the queue without an event
	changes     []projection.QueueChange // the newest since the last human message
	missing     []projection.MemberRef
	interrupted []projection.TurnEnded // turns that were open when the session was resumed, until files are captured
	reported    bool                   // SaveFailed was notified in this call

	unsupported []SettingUnsupported // notified
	notSent     []FileNotSent        // notified

	before        spent           // the newest turn
	day           string          // of it; "" if no day is counted
	budgetNotices map[string]bool // notified, by notifyBudget

	agentNotices map[string]bool        // notified, by notifyOfAgent
	windowsCut   map[string]bool        // notified, by notifyWindow
	allowed      map[requestHash]string // requests that were allowed for the session, with the member's id
}

// New returns a Coordinator without a team.
func New(o Options) *Coordinator {
	if o.Listener == nil {
		o.Listener = silent{}
	}
	c := &Coordinator{o: o, phase: Idle, notified: Status{Phase: Idle}, residents: o.Residents}
	c.directories = map[string]*directory{}
	if c.residents == nil {
		c.residents = new(Residents)
	}
	return c
}

// ErrNoTeam is the error of methods that need SetTeam first.
var ErrNoTeam = errors.New("team must be set before restoring session")

// SetTeamOptions are the options of SetTeam.
type SetTeamOptions struct {
	ResumeSessionID string             // "": a new session
	SessionID       string             // of a new session, as store.Store.Create takes it; "": any
	Parent          *projection.Parent // recorded in a new session; nil: none
	Chosen          Chosen             // precedes the configuration, and what the session has recorded
}

// SetTeam begins a conversation of a team. An earlier conversation is closed without recording its
// end; call Stop first. With ResumeSessionID it restores that session. If this fails, the error
// says why, and the Coordinator has the team and no session.
func (c *Coordinator) SetTeam(ctx context.Context, t *team.Team, o SetTeamOptions) error {
	c.reset(t, o.Chosen)
	if err := store.CheckNewID(o.SessionID); err != nil {
		return err
	}
	c.parent, c.sessionID = o.Parent, o.SessionID
	if o.ResumeSessionID != "" {
		if err := c.restore(ctx, o.ResumeSessionID); err != nil {
			c.reset(t, o.Chosen)
			return err
		}
	}
	c.notify(TeamReady{c.team, o.ResumeSessionID != ""})
	return nil
}

func (c *Coordinator) reset(t *team.Team, chosen Chosen) {
	if c.conv != nil {
		c.conv.log.Close(c.conv.state)
	}
	c.closeEngines()
	c.configured, c.chosen, c.team = t, chosen.clone(), t
	c.models.Clear()
	if t != nil {
		c.team, _ = c.overlay(nil)
	}
	c.run, c.secrets = run{allowed: map[requestHash]string{}}, nil
	c.phase, c.notified = Idle, Status{Phase: Idle}
	if !c.o.KeepSecrets {
		c.secrets = redact.New(append(t.Secrets(), serverSecrets(c.o.MCPServers)...))
	}
}

// Session describes the session; nil before the first message.
func (c *Coordinator) Session() *Session {
	if c.conv == nil {
		return nil
	}
	s := c.conv.state
	var interrupted []string
	for _, t := range s.WithoutReply() {
		if _, ok := c.team.Member(t.MemberID); ok {
			interrupted = append(interrupted, t.MemberID)
		}
	}
	var speaking []string
	for _, t := range s.OpenTurns {
		speaking = append(speaking, t.MemberID)
	}
	return &Session{
		ID: c.conv.log.SessionID(), TeamID: c.team.ID, TeamName: c.team.Name, Title: s.Row.Title,
		CreatedAt: s.Row.CreatedAt, UpdatedAt: s.Row.UpdatedAt, TeamTask: s.Task, Stats: s.Stats,
		Usage:    slices.Clone(s.Tallies),
		Duration: time.Since(s.Row.CreatedAt), Interrupted: interrupted, Speaking: speaking,
		Contexts: contextsOf(s), Inputs: slices.Clone(s.Inputs),
	}
}

// contextsOf returns what the agents reported of their contexts in the last turns of their sessions.
func contextsOf(s *projection.State) map[string]Context {
	contexts := map[string]Context{}
	for id, sessions := range s.Attached {
		for _, session := range sessions {
			if last := session.Last; session.Done != nil {
				last = *session.Done
				contexts[id] = Context{Used: last.Context, Window: last.Window}
			}
		}
	}
	return contexts
}

// Context is how full the context window of an agent is, in tokens; 0 is unknown.
type Context struct{ Used, Window int64 }

// Session describes a session.
type Session struct {
	ID                   string
	TeamID, TeamName     string
	Title                string
	CreatedAt, UpdatedAt time.Time
	TeamTask             *string
	Stats                projection.Stats
	Usage                []projection.Tally // of its own turns
	Duration             time.Duration      // since CreatedAt
	Interrupted          []string           // the IDs of the members whose turns Retry reruns
	Speaking             []string           // the IDs of the members whose turns have no end, the oldest first
	Inputs               []string           // the newest Device.InputID, the newest last
	Contexts             map[string]Context // by the ID of the member; only of agents that report it
}

// Snapshot returns the whole session as it is stored, or ErrNoSession.
func (c *Coordinator) Snapshot(ctx context.Context) (*projection.Snapshot, error) {
	if c.conv == nil {
		return nil, ErrNoSession
	}
	return c.o.Store.Load(ctx, c.team.ID, c.conv.log.SessionID())
}

// Backward yields the events of the session, the newest one first; without a session, none.
func (c *Coordinator) Backward() iter.Seq2[journal.Event, error] {
	if c.conv == nil {
		return func(func(journal.Event, error) bool) {}
	}
	return c.conv.log.Backward()
}

// Status returns the status of the conversation.
func (c *Coordinator) Status() Status {
	s := Status{Phase: c.phase, Waiting: c.waiting, Capturing: c.capturing}
	if c.conv != nil {
		s.SessionID, s.Unsaved = c.conv.log.SessionID(), c.conv.unsaved()
	}
	return s
}

// Team returns the team; nil before SetTeam.
func (c *Coordinator) Team() *team.Team { return c.team }

func (c *Coordinator) setPhase(p Phase) {
	c.phase = p
	c.notifyStatus(c.Status())
}

func (c *Coordinator) notifyStatus(s Status) {
	if s != c.notified {
		c.notified = s
		c.o.Listener.Status(s)
	}
}

func (c *Coordinator) notify(n Notice) { c.o.Listener.Notice(n) }

// Stop ends the conversation: it records the reason if this run appended events, saves and closes
// the session. An error says that not everything could be saved; the session is closed anyway, and a NotSaved notice
// says where the rest is. It blocks until the agents that engines keep between turns have ended.
func (c *Coordinator) Stop(reason string) error {
	c.closeEngines()
	if c.conv == nil {
		return nil
	}
	conv, status := c.conv, Status{Phase: Idle, SessionID: c.conv.log.SessionID()}
	c.reported = false
	if !c.resumed {
		c.clearQueue("the conversation ended")
		conv.record(c.records(c.queueChanges()...)...)
		// The line of session.ended gets a sync mark that covers what is saved here. If that fails,
		// close tries again and returns the error.
		conv.save()
		conv.record(c.records(projection.SessionEnded{Reason: reason})...)
	}
	lost, err := conv.close()
	if !c.resumed {
		c.reportFailure(err)
		status.Unsaved = err != nil
	}
	if lost != nil {
		c.notify(*lost)
	}
	restored := c.resumed
	c.phase, c.run = Idle, run{rounds: c.rounds}
	c.notifyStatus(status)
	if err == nil && !restored {
		c.notify(Saved{status.SessionID})
	}
	return err
}

// closeEngines ends the processes that engines keep between turns.
func (c *Coordinator) closeEngines() {
	c.residents.endAll(c)
	for _, engine := range c.o.Engines {
		if e, ok := engine.(agent.Resident); ok {
			e.Close()
		}
	}
}

// Save makes all events durable, also with Options.ManualSave. Without a session it does nothing.
func (c *Coordinator) Save() error {
	if c.conv == nil {
		return nil
	}
	c.reported = false
	err := c.conv.flush()
	c.reportFailure(err)
	if err == nil {
		c.notify(Saved{c.conv.log.SessionID()})
	}
	return err
}

// savePoint is save for a point at which the listener is notified that everything is durable.
func (c *Coordinator) savePoint() {
	c.save()
	if !c.conv.manual && !c.conv.unsaved() {
		c.notify(Saved{c.conv.log.SessionID()})
	}
}

// save makes all events durable and notifies the listener of a failure.
func (c *Coordinator) save() {
	c.reportFailure(c.conv.save())
}

// reportFailure notifies the listener of the result of saving; of an error once per call of a method.
func (c *Coordinator) reportFailure(err error) {
	if err != nil && !c.reported {
		c.reported = true
		c.notify(SaveFailed{err})
	}
	status, now := c.notified, c.Status() // the phase changes later
	status.SessionID, status.Unsaved = now.SessionID, now.Unsaved
	c.notifyStatus(status)
}

func newID() string { return ulid.Make().String() }

// records returns events for the payloads, as recordable returns them.
func (c *Coordinator) records(payloads ...projection.Payload) []journal.Record {
	now := time.Now()
	records := make([]journal.Record, len(payloads))
	for i, p := range payloads {
		records[i] = projection.Record(now, c.recordable(p))
	}
	return records
}
