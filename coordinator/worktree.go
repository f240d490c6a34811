package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
	"github.com/agent-chatter/agent-chatter/projection"
)

// PortVariable is the environment variable with the first of the ports of a member.
const PortVariable = "AGENT_CHATTER_PORT"

// ceilingVariable makes Git look for no repository above the worktree: if a worktree has lost the file that names its
// repository, Git would work in one that the home is in.
const ceilingVariable = "GIT_CEILING_DIRECTORIES"

const (
	// setupTimeout is the limit of a set-up command.
	setupTimeout = 10 * time.Minute
	// setupGrace is how long a set-up command that was stopped has to end.
	setupGrace = 5 * time.Second
	// maxSetupOutput is how much of the end of its output an error has, in bytes.
	maxSetupOutput = 2 << 10
)

// SettingUp reports that a member gets a worktree, in which its set-up command is about to run.
type SettingUp struct {
	Member team.Member
	Dir    string
	Argv   []string // empty: there is none
}

// WorktreeError is the error of a turn whose member got no worktree. It never works in another directory instead.
type WorktreeError struct {
	Member team.Member
	Err    error
}

func (e *WorktreeError) Error() string {
	return fmt.Sprintf("no worktree for %s: %v", e.Member.DisplayName, e.Err)
}

func (e *WorktreeError) Unwrap() error { return e.Err }

// Hint returns the page of the manual with the conditions.
func (e *WorktreeError) Hint() hint.Hint {
	return hint.Hint{Kind: hint.Command, Argv: []string{"guide", "worktrees"}}
}

// errNotSaved is for a conversation without a journal.
var errNotSaved = errors.New("this conversation is not saved")

// UnknownDirError is the error of a worktree that would be made where something is that this home has not recorded for
// the session: it may have what a member did.
type UnknownDirError struct{ Dir string }

func (e *UnknownDirError) Error() string {
	return e.Dir + " exists, and is not what this session has recorded here: move it away"
}

var errNoCaptures = errors.New(`the files of its directory are not captured: set "files.capture" to "on"`)

// worktree returns the newest worktree of a member that this home has recorded; false: the member has none.
func (c *Coordinator) worktree(m team.Member) (projection.Worktree, bool) {
	if m.Worktree == nil || c.conv == nil {
		return projection.Worktree{}, false
	}
	for _, w := range slices.Backward(c.conv.state.Worktrees) {
		if w.MemberID != m.ID {
			continue
		}
		c.loadHomeKey()
		if !RecordedHere(c.homeKey, w.WorktreeCreated) {
			continue
		}
		if w.Merged != nil && !RecordedHere(c.homeKey, *w.Merged) {
			w.Merged = nil
		}
		return w, true
	}
	return projection.Worktree{}, false
}

// dirInWorktree returns the place of the member's directory in its worktree.
func dirInWorktree(w projection.Worktree, dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	below, err := filepath.Rel(w.Source, dir)
	if err != nil || !filepath.IsLocal(below) {
		return w.Dir
	}
	if info, err := os.Stat(filepath.Join(w.Dir, below)); err != nil || !info.IsDir() {
		return w.Dir // that directory has only files that were not copied
	}
	return filepath.Join(w.Dir, below)
}

// A worktreeMaker makes the worktree of a turn's member, on any goroutine.
type worktreeMaker struct {
	turn    *turn
	tree    workspace.Worktree
	last    projection.Worktree // the one that the session has recorded, perhaps of the session that was forked
	from    objects.Hash        // what it contained last; zero: it begins with the files of the directory
	created projection.WorktreeCreated
}

// makeWorktrees makes the worktrees of members who have none, or whose worktree is missing, and records them. It
// returns an error for each turn; nil: its agent can start.
func (c *Coordinator) makeWorktrees(turns []*turn) []error {
	failures := make([]error, len(turns))
	makers := make([]*worktreeMaker, len(turns))
	var group sync.WaitGroup
	taken := c.ports()
	for i, t := range turns {
		makers[i], failures[i] = c.newWorktreeMaker(t, &taken)
		if makers[i] != nil {
			c.notify(SettingUp{t.item.member, makers[i].tree.Dir, t.item.member.Worktree.Setup})
			group.Go(func() { failures[i] = makers[i].make(t.ctx) })
		}
	}
	group.Wait()
	for i, m := range makers {
		if m == nil || failures[i] != nil {
			continue
		}
		c.loadHomeKey()
		if m.last.Dir != m.created.Dir { // else it was missing
			failures[i] = c.conv.record(c.records(withHost(c.homeKey, m.created))...)
		}
		c.save() // before the agent can change a file
		if failures[i] == nil {
			failures[i] = m.tree.SetUsed()
		}
	}
	for i, err := range failures {
		if err != nil {
			failures[i] = &WorktreeError{turns[i].item.member, err}
		}
	}
	return failures
}

// newWorktreeMaker returns nil if the turn's member needs no worktree, or has it.
func (c *Coordinator) newWorktreeMaker(t *turn, taken *[]portRange) (*worktreeMaker, error) {
	member := t.item.member
	if member.Worktree == nil {
		return nil, nil
	}
	m := &worktreeMaker{turn: t}
	switch {
	case c.o.Home == "":
		return nil, errNotSaved
	case c.o.Workspace == nil || c.team.FilesOff:
		return nil, errNoCaptures
	}
	dir, err := workspace.WorktreeDir(c.o.Home, c.conv.state.SessionID, member.ID)
	if err != nil {
		return nil, err
	}
	exists, used, err := workspace.Worktree{Dir: dir}.Exists()
	last, recorded := c.worktree(member)
	switch isOwn := recorded && last.Dir == dir; {
	case err != nil || isOwn && exists && used:
		return nil, err
	case exists && used:
		return nil, &UnknownDirError{dir}
	}
	source, err := c.o.Workspace(c.baseDirOf(member))
	if err != nil || source == nil {
		return nil, cmp.Or(err, errNoCaptures)
	}
	m.tree = workspace.Worktree{Dir: dir, From: source}
	m.created = projection.WorktreeCreated{TurnID: t.id, MemberID: member.ID, Dir: dir, Source: source.Root()}
	if recorded && last.Source == source.Root() {
		m.last, m.created.Port = last, last.Port
		if m.from, err = objects.ParseHash(c.conv.state.Tree(last.Dir)); err != nil {
			m.from, err = objects.ParseHash(last.LastBase())
		}
	}
	if n := member.Worktree.Ports; n > 0 && m.created.Port == 0 && err == nil {
		m.created.Port, err = freePorts(n, taken)
	}
	return m, err
}

// make makes the directory and runs the set-up command.
func (m *worktreeMaker) make(ctx context.Context) error {
	id := m.turn.id
	running, err := m.tree.From.Begin(ctx, newID())
	if err != nil {
		return err
	}
	defer running.End()
	begin := m.from
	if begin == (objects.Hash{}) {
		captured, err := m.tree.From.Capture(ctx, newID(), nil)
		if err != nil {
			return err
		}
		begin = captured.Tree
	} else if err := m.tree.From.Store().Copy(newID(), m.lastStore(), begin); err != nil {
		return err
	}
	// Until it is recorded, other processes learn from this alone that it is in use.
	settingUp, err := m.tree.From.Stored(m.tree.Dir).BeginAlone(ctx, newID())
	if err != nil {
		return err
	}
	defer settingUp.End()
	// What is there was not set up, so no agent has worked in it.
	if err := errors.Join(m.tree.Remove(ctx), m.tree.SetUnused()); err != nil {
		return err
	}
	out, err := m.tree.LayOut(ctx, workspace.LayOut{Tree: begin, Copy: m.turn.item.member.Worktree.Copy})
	if err != nil {
		return err
	}
	m.created.Head = out.Head
	if err := m.setUp(ctx, id); err != nil {
		return errors.Join(err, m.tree.Remove(context.WithoutCancel(ctx)))
	}
	return m.captureBase(ctx)
}

// lastStore returns the store of the worktree that was recorded.
func (m *worktreeMaker) lastStore() *objects.Store { return m.tree.From.Stored(m.last.Dir).Store() }

// setUp runs the set-up command of the member.
func (m *worktreeMaker) setUp(ctx context.Context, turnID string) error {
	member := m.turn.item.member
	argv := member.Worktree.Setup
	if len(argv) == 0 {
		return nil
	}
	late := fmt.Errorf("the set-up command took over %v", setupTimeout)
	ctx, stop := context.WithTimeoutCause(ctx, setupTimeout, late)
	defer stop()
	env := member.ForEngine("").Env
	p, err := process.Start(process.Program{
		TurnID: turnID, Command: argv[0], Args: argv[1:], Guard: m.turn.c.o.Guard,
		Dir: dirInWorktree(projection.Worktree{WorktreeCreated: m.created}, m.turn.c.baseDirOf(member)),
		Env: worktreeEnv(env, m.created),
	}, process.Write(""))
	if err != nil {
		return err
	}
	defer p.Supervise(ctx, setupGrace)()
	var output string
	for text := range p.Texts() {
		output += text
		output = output[max(0, len(output)-maxSetupOutput):]
	}
	err = p.Wait(ctx)
	if exit := (*process.ExitError)(nil); errors.As(err, &exit) && exit.Stderr == "" {
		exit.Stderr = validUTF8(output)
	}
	return err
}

// captureBase captures what the worktree contains before the first turn in it.
func (m *worktreeMaker) captureBase(ctx context.Context) error {
	w, err := m.tree.Workspace()
	if err != nil {
		return err
	}
	running, err := w.Begin(ctx, newID())
	if err != nil {
		return err
	}
	defer running.End()
	captured, err := w.Capture(ctx, newID(), nil)
	if err != nil {
		return err
	}
	if m.from == (objects.Hash{}) {
		m.created.Base = captured.Tree.String()
		return nil
	}
	m.created.Base = m.last.LastBase()
	base, err := objects.ParseHash(m.created.Base)
	if err != nil || m.last.Dir == m.tree.Dir {
		return err
	}
	return w.Store().Copy(newID(), m.lastStore(), base)
}

// worktreeEnv returns variables with those of a worktree.
func worktreeEnv(env map[string]string, w projection.WorktreeCreated) map[string]string {
	all := map[string]string{}
	maps.Copy(all, env)
	all[ceilingVariable] = filepath.Dir(w.Dir)
	if w.Port > 0 {
		all[PortVariable] = strconv.Itoa(w.Port)
	}
	return all
}

// portRange is a number of ports, from the first one.
type portRange struct{ first, n int }

func (r portRange) overlaps(other portRange) bool {
	return r.first < other.first+other.n && other.first < r.first+r.n
}

// ports returns the ports of the session's worktrees.
func (c *Coordinator) ports() (taken []portRange) {
	for _, w := range c.conv.state.Worktrees {
		if m, ok := c.team.Member(w.MemberID); ok && m.Worktree != nil && w.Port > 0 {
			taken = append(taken, portRange{w.Port, m.Worktree.Ports})
		}
	}
	return taken
}

const (
	firstPort, lastPort = 20_000, 32_000 // below those that systems give to clients
	portTries           = 100
)

var errNoPorts = errors.New("no ports are free")

// freePorts returns the first of n ports on which no program listens now, and which are not taken, and adds them to
// those.
func freePorts(n int, taken *[]portRange) (first int, err error) {
	for range portTries {
		r := portRange{firstPort + rand.IntN(lastPort-firstPort), n}
		if isFree(r, *taken) {
			*taken = append(*taken, r)
			return r.first, nil
		}
	}
	return 0, errNoPorts
}

func isFree(r portRange, taken []portRange) bool {
	for _, other := range taken {
		if r.overlaps(other) {
			return false
		}
	}
	for port := r.first; port < r.first+r.n; port++ {
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return false
		}
		listener.Close()
	}
	return true
}
