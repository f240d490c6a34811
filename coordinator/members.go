package coordinator

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Chosen are settings of members, by id, that the caller has chosen for a run. They are not recorded.
type Chosen struct{ Models, Permissions map[string]string }

func (c Chosen) clone() Chosen { return Chosen{maps.Clone(c.Models), maps.Clone(c.Permissions)} }

var (
	errOnlyAgent   = errors.New("it is the only agent of the team; add another one first")
	errNameTaken   = errors.New("the team has a member of this name")
	errManyChanges = errors.New("too many members of the session were changed")
	errSecret      = errors.New("it contains a secret")
)

// SetModel gives a member's agent another model for this session, from its next turn on; "" is the agent's default.
// Like the other methods that change a member, it records that, is not to be called while a turn runs, and may begin
// the session. Errors are those of team.Member.CheckModel, of an unknown member, and of appending.
func (c *Coordinator) SetModel(memberID, model string) error {
	m, err := c.agent(memberID)
	if err == nil {
		err = m.CheckModel(model)
	}
	switch {
	case err != nil:
		return err
	case c.secrets.Text(model) != model:
		return errSecret
	}
	return c.changeMember(projection.MemberChanged{MemberID: m.ID, Model: &model})
}

// SetPermissions gives a member's agent other permissions for this session; "" is unset. A program of the agent that
// waits is ended. Errors are those of team.Member.CheckPermissions, and as of SetModel.
func (c *Coordinator) SetPermissions(memberID, permissions string) error {
	m, err := c.agent(memberID)
	if err == nil {
		err = m.CheckPermissions(permissions)
	}
	if err != nil {
		return err
	}
	return c.changeMember(projection.MemberChanged{MemberID: m.ID, Permissions: &permissions})
}

// AddMember adds an agent to the team for this session. agentName is what Options.NewMember gets to make the member
// again; "" is for one of the configuration that was removed. No other member may match its name.
func (c *Coordinator) AddMember(agentName string, m team.Member) error {
	if agentName == "" {
		configured, ok := c.configured.Member(m.ID)
		if !ok {
			return fmt.Errorf("%w: %q", errNoSuchAgent, m.Name)
		}
		m = configured
	}
	if _, taken := c.team.Match(m.Name); taken || m.Type != team.AI {
		return fmt.Errorf("%w: %q", errNameTaken, m.Name)
	}
	added := recordedMember(m)
	return c.changeMember(projection.MemberChanged{MemberID: m.ID, Added: &added, Agent: agentName})
}

// RemoveMember removes an agent from the team for this session, and what the queue has for it.
func (c *Coordinator) RemoveMember(memberID string) error {
	m, err := c.agent(memberID)
	switch {
	case err != nil:
		return err
	case agents(c.team.Members) == 1:
		return fmt.Errorf("%s: %w", m.Name, errOnlyAgent)
	}
	return c.changeMember(projection.MemberChanged{MemberID: m.ID, Removed: true})
}

// Adopt changes the members as another session has changed them, as far as those changes count here.
func (c *Coordinator) Adopt(changes []projection.ChangedMember) error {
	t, ignored := c.overlay(changes)
	c.notifyChanges(changes, ignored)
	for _, p := range c.differences(t, changes) {
		if err := c.changeMember(p); err != nil {
			return err
		}
	}
	return nil
}

// differences returns the changes that make t of the team: those who are added before those who are removed.
func (c *Coordinator) differences(t *team.Team, changes []projection.ChangedMember) (all []projection.MemberChanged) {
	for _, m := range t.Members {
		before, ok := c.team.Member(m.ID)
		p := projection.MemberChanged{MemberID: m.ID}
		if !ok {
			added := recordedMember(m)
			p.Added = &added
			i := slices.IndexFunc(changes, func(of projection.ChangedMember) bool { return of.MemberID == m.ID })
			p.Agent = changes[i].Added[0].Agent
			before.Model = ""
		}
		if m.Model != before.Model {
			p.Model = &m.Model
		}
		if m.Permissions != before.Permissions {
			p.Permissions = &m.Permissions
		}
		if p.Added != nil || p.Model != nil || p.Permissions != nil {
			all = append(all, p)
		}
	}
	for _, m := range c.team.Members {
		if _, ok := t.Member(m.ID); !ok {
			all = append(all, projection.MemberChanged{MemberID: m.ID, Removed: true})
		}
	}
	return all
}

// Configured returns the team as its configuration has it; nil before SetTeam.
func (c *Coordinator) Configured() *team.Team { return c.configured }

// Chosen returns what the caller has chosen for the run and nothing has replaced since.
func (c *Coordinator) Chosen() Chosen { return c.chosen.clone() }

// The bounds of what is kept of the models that an agent reports.
const (
	maxModels    = 200
	maxModelName = 200 // bytes
)

// noteModels keeps the models that a member's agent has reported.
func (c *Coordinator) noteModels(r *resident) {
	l, ok := r.session.(agent.ModelLister)
	if !ok {
		return
	}
	var kept []string
	for _, model := range l.Models() {
		if model != "" && len(model) <= maxModelName && len(kept) < maxModels && !slices.Contains(kept, model) {
			kept = append(kept, model)
		}
	}
	if len(kept) > 0 {
		c.models.Store(r.memberID, kept)
	}
}

// Models returns the models that a member's agent has reported since SetTeam; none: it has not. It may be called from
// any goroutine.
func (c *Coordinator) Models(memberID string) []string {
	models, _ := c.models.Load(memberID)
	names, _ := models.([]string)
	return names
}

// agent returns the agent with an id.
func (c *Coordinator) agent(id string) (team.Member, error) {
	if c.team == nil {
		return team.Member{}, ErrNoTeam
	}
	m, ok := c.team.Member(id)
	if !ok || m.Type != team.AI {
		return m, fmt.Errorf("%w: %q", errNoSuchAgent, id)
	}
	return m, nil
}

// changeMember records a change of a member, and puts it into force.
func (c *Coordinator) changeMember(p projection.MemberChanged) error {
	if c.conv != nil && !c.conv.state.TakesChange(p.MemberID) {
		return errManyChanges
	}
	if err := c.beginSession(); err != nil { // which makes the home
		return err
	}
	c.loadHomeKey()
	p.Host = c.memberHost(p) // without a key of the home, it counts until the end of the conversation
	if err := c.change(p); err != nil {
		return err
	}
	if p.Model != nil {
		delete(c.chosen.Models, p.MemberID)
	}
	if p.Permissions != nil {
		delete(c.chosen.Permissions, p.MemberID)
	}
	if p.Permissions != nil || p.Removed {
		maps.DeleteFunc(c.allowed, func(_ requestHash, memberID string) bool { return memberID == p.MemberID })
	}
	if w := c.residents.take(c, p.MemberID); w != nil { // it runs with the earlier settings
		c.residents.end(w)
	}
	before := c.team
	c.team, _ = c.overlay(c.conv.state.Changes)
	c.requeueChanged(before)
	c.notify(TeamChanged{c.team})
	return nil
}

// requeueChanged replaces the queued members by those of the team now, and drops those that it does not have.
func (c *Coordinator) requeueChanged(before *team.Team) {
	removed := func(i item) bool {
		_, ok := c.team.Member(i.member.ID)
		return !ok
	}
	dropped := c.queue.drop(removed, "it was removed from the team")
	for i := range c.queue.items {
		c.queue.items[i].member, _ = c.team.Member(c.queue.items[i].member.ID)
	}
	if len(dropped) == 0 {
		return
	}
	c.noteChanges(dropped...)
	c.reportFailure(c.conv.record(c.records(c.queueChanges()...)...))
	c.save()
	m, _ := before.Member(dropped[0].MemberID)
	c.notify(QueueCleared{[]team.Member{m}})
}

// overlay returns the configured team with the changes of a session and what the caller has chosen, and the changes
// that do not count.
func (c *Coordinator) overlay(changes []projection.ChangedMember) (*team.Team, []ChangeIgnored) {
	if len(changes) == 0 && len(c.chosen.Models) == 0 && len(c.chosen.Permissions) == 0 {
		return c.configured, nil
	}
	t := *c.configured
	t.Members = slices.Clone(t.Members)
	var ignored []ChangeIgnored
	ignore := func(what projection.MemberChanged, why string) {
		ignored = append(ignored, ChangeIgnored{what, why})
	}
	for _, of := range changes {
		if of.Removed {
			continue
		}
		i := slices.IndexFunc(t.Members, func(m team.Member) bool { return m.ID == of.MemberID })
		if i < 0 {
			m, why := c.added(&t, of)
			if why != "" {
				ignore(of.Whole(), why)
				continue
			}
			i = afterAgents(t.Members)
			t.Members = slices.Insert(t.Members, i, m)
		}
		m := &t.Members[i]
		if why := c.useModel(m, of.Model); why != "" {
			ignore(projection.MemberChanged{MemberID: of.MemberID, Model: of.Model[0].Model}, why)
		}
		if why := c.permit(m, of.Permissions); why != "" {
			ignore(projection.MemberChanged{MemberID: of.MemberID, Permissions: of.Permissions[0].Permissions}, why)
		}
	}
	for _, of := range changes {
		i := slices.IndexFunc(t.Members, func(m team.Member) bool { return m.ID == of.MemberID && m.Type == team.AI })
		switch {
		case !of.Removed || i < 0:
		case agents(t.Members) == 1:
			ignore(of.Whole(), errOnlyAgent.Error())
		default:
			t.Members = slices.Delete(t.Members, i, i+1)
		}
	}
	for i := range t.Members {
		m := &t.Members[i]
		if model, ok := c.chosen.Models[m.ID]; ok {
			m.Model = model
		}
		if permissions, ok := c.chosen.Permissions[m.ID]; ok {
			m.Permissions = permissions
		}
	}
	return &t, ignored
}

// added returns a member that a session has and the configured team lacks, or why it does not count.
func (c *Coordinator) added(t *team.Team, of projection.ChangedMember) (m team.Member, why string) {
	if len(of.Added) == 0 || of.Added[0].Agent == "" {
		return m, "the configuration of the team does not have it any more"
	}
	recorded, name := *of.Added[0].Added, of.Added[0].Agent
	_, taken := t.Match(recorded.Name)
	switch {
	case taken || recorded.ID != of.MemberID || recorded.Name != of.MemberID:
		return m, errNameTaken.Error()
	case !c.isOwn(of.Added):
		return m, errElsewhere.Error()
	case c.o.NewMember == nil:
		return m, "no agents can be added here"
	}
	m, err := c.o.NewMember(name, recorded.Name)
	if err != nil {
		return m, err.Error()
	}
	return m, ""
}

// errElsewhere is why a change does not count that only the person here may make.
var errElsewhere = errors.New("it was made in another home or on another machine")

// useModel gives a member the model of a session, or returns why it does not count. Of an agent that speaks a protocol,
// the model may name the provider that gets the prompts.
func (c *Coordinator) useModel(m *team.Member, events []projection.MemberChanged) (why string) {
	if len(events) == 0 {
		return ""
	}
	model := *events[0].Model
	if err := m.CheckModel(model); err != nil {
		return err.Error()
	}
	if m.EngineInfo().Protocol && model != m.Model && !c.isOwn(events) {
		return errElsewhere.Error()
	}
	m.Model = model
	return ""
}

// permit gives a member the permissions of a session, or returns why they do not count. What a session from elsewhere
// says only restricts.
func (c *Coordinator) permit(m *team.Member, events []projection.MemberChanged) (why string) {
	if len(events) == 0 {
		return ""
	}
	permissions := *events[0].Permissions
	if err := m.CheckPermissions(permissions); err != nil {
		return err.Error()
	}
	more := agent.Permits(permissions) > agent.Permits(m.Permissions) || permissions == "" && m.Permissions != ""
	if more && !c.isOwn(events) {
		return errElsewhere.Error()
	}
	m.Permissions = permissions
	return ""
}

// isOwn reports whether this home has recorded one of the events.
func (c *Coordinator) isOwn(events []projection.MemberChanged) bool {
	return slices.ContainsFunc(events, func(p projection.MemberChanged) bool {
		if p.Host == "" {
			return false
		}
		c.loadHomeKey()
		return p.Host == c.memberHost(p)
	})
}

// memberHost returns projection.MemberChanged.Host.
func (c *Coordinator) memberHost(p projection.MemberChanged) string {
	return c.hash("member", c.configured.ID, p.MemberID, p.Model, p.Permissions, p.Added, p.Agent)
}

// notifyChanges reports which changes of a session count, and which do not.
func (c *Coordinator) notifyChanges(changes []projection.ChangedMember, ignored []ChangeIgnored) {
	var inForce []projection.ChangedMember
	for _, of := range changes {
		for _, i := range ignored {
			of = of.Without(i.Change)
		}
		if of.Model != nil || of.Permissions != nil || of.Added != nil || of.Removed {
			inForce = append(inForce, of)
		}
	}
	if len(inForce) > 0 {
		c.notify(ChangesInForce{inForce})
	}
	for _, i := range ignored {
		c.notify(i)
	}
}

// afterAgents returns the index after the last agent.
func afterAgents(members []team.Member) int {
	for i, m := range slices.Backward(members) {
		if m.Type == team.AI {
			return i + 1
		}
	}
	return 0
}

func agents(members []team.Member) (n int) {
	for _, m := range members {
		if m.Type == team.AI {
			n++
		}
	}
	return n
}
