package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// demoPace is how fast the demo team speaks to somebody who watches.
const demoPace = 60 * time.Millisecond

type chatCommand struct {
	Team        string     `short:"t" help:"The team: a file, or the name of a configuration." placeholder:"TEAM"`
	Message     texts      `short:"m" help:"Say this and end; may be repeated. Standard input is not read." placeholder:"TEXT"`
	Resume      optionalID `short:"r" help:"Go on with a session, or with the latest." placeholder:"[ID]"`
	Continue    bool       `short:"c" help:"Go on with the latest session."`
	Session     string     `help:"Go on with this session." placeholder:"ID"`
	SessionFile string     `help:"Go on with the journal in this file, where it is; or import this snapshot and go on with it." placeholder:"PATH"`
	NoSave      bool       `help:"Keep nothing on the disk."`
	MaxRounds   int        `help:"End after that many turns of agents; 0 is no limit." placeholder:"N"`
	Output      string     `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (chatCommand) Help() string {
	return `Examples:
  agent-chatter chat
  agent-chatter chat -t team.json -m "hello [NEXT: planner]"
  agent-chatter chat --resume
  printf 'hello\nand again\n' | agent-chatter chat --output json`
}

// texts is a flag whose value may begin with a dash and hold commas.
type texts []string

// Decode implements kong.MapperValue.
func (t *texts) Decode(ctx *kong.DecodeContext) error {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return errors.New("expected a text")
	}
	*t = append(*t, token.String())
	return nil
}

// optionalID is a flag with a value that may be left out.
type optionalID struct {
	set bool
	id  string
}

// Decode implements kong.MapperValue.
func (o *optionalID) Decode(ctx *kong.DecodeContext) error {
	*o = optionalID{set: true}
	token := ctx.Scan.Peek()
	if token.IsEOL() || token.Type != kong.FlagValueToken && strings.HasPrefix(token.String(), "-") {
		return nil
	}
	o.id = ctx.Scan.Pop().String()
	return nil
}

// Run implements the command.
func (cmd *chatCommand) Run(a *app) error {
	plan, err := cmd.plan(a)
	if err != nil {
		return err
	}
	if plan.config, err = a.config(); err != nil {
		return err
	}
	if cmd.NoSave {
		plan.config.Retention.Auto = new(bool) // nothing on the disk, so nothing to tidy
	}
	t, closeInput, err := cmd.open(a, plan)
	if err != nil {
		return err
	}
	defer closeInput()
	if err := t.begin(plan); err != nil {
		return err
	}
	return t.run()
}

// open connects the conversation with where its lines come from and go to.
func (cmd *chatCommand) open(a *app, p plan) (t *talk, closeInput func(), err error) {
	t = &talk{app: a, scripted: true, config: p.config}
	closeInput = func() {}
	switch {
	case len(cmd.Message) > 0:
		t.input = &messages{cmd.Message}
	case a.isTerminal():
		c, err := openConsole(a.stdin, a.stdout)
		if err != nil {
			return nil, nil, err
		}
		t.input, t.scripted, closeInput = c, false, a.enter(c)
	default:
		t.input = newPipe(a.stdin)
	}
	t.screen = &screen{
		app: a, team: p.team, json: cmd.Output == "json",
		terminal: !t.scripted, spinner: &spinner{out: a.stdout},
	}
	demo := agent.Demo{}
	if !t.scripted {
		demo.Pace = demoPace
	}
	t.connect = func(store coordinator.Store) *coordinator.Coordinator {
		return coordinator.New(coordinator.Options{
			Store: store, Events: t.screen, App: a.identity(), CWD: a.cwd, MaxRounds: cmd.MaxRounds,
			Engines: map[string]agent.Engine{coordinator.EngineDemo: demo, coordinator.EngineCommand: agent.Command{}},
		})
	}
	return t, closeInput, nil
}

// enter makes everything that is printed fit a terminal in raw mode, until the
// returned function is called.
func (a *app) enter(c *console) (leave func()) {
	stdout, stderr := a.stdout, a.stderr
	a.stdout = c
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		a.stderr = c
	}
	return func() {
		c.Close()
		a.stdout, a.stderr = stdout, stderr
	}
}

// isTerminal reports whether a person sits in front of both ends.
func (a *app) isTerminal() bool {
	out, ok := a.stdout.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(a.stdin.Fd())) && term.IsTerminal(int(out.Fd()))
}

// plan is what a chat begins with.
type plan struct {
	team   *coordinator.Team
	config config
	store  coordinator.Store
	resume string // the session to go on with; "": a new one
}

func (cmd *chatCommand) plan(a *app) (plan, error) {
	if err := cmd.check(); err != nil {
		return plan{}, err
	}
	var team *coordinator.Team
	if cmd.Team != "" {
		var err error
		if team, err = a.loadTeam(cmd.Team); err != nil {
			return plan{}, err
		}
	}
	switch {
	case cmd.SessionFile != "":
		return a.planFile(team, cmd.SessionFile)
	case cmd.resumes():
		return a.planResume(team, cmd.Resume.id+cmd.Session)
	}
	if team == nil {
		team = coordinator.DemoTeam()
	}
	p := plan{team: team, store: coordinator.NewFileStore(a.catalog())}
	if cmd.NoSave {
		p.store = &coordinator.MemoryStore{}
	}
	return p, nil
}

func (cmd *chatCommand) resumes() bool {
	return cmd.Resume.set || cmd.Continue || cmd.Session != ""
}

// check refuses flags that contradict each other.
func (cmd *chatCommand) check() error {
	named := 0
	for _, set := range []bool{cmd.Resume.id != "", cmd.Session != "", cmd.SessionFile != ""} {
		if set {
			named++
		}
	}
	switch {
	case named > 1 || named == 1 && cmd.Continue:
		return usageError("Only one session can be gone on with: name it once.")
	case cmd.NoSave && (cmd.resumes() || cmd.SessionFile != ""):
		return usageError("--no-save keeps nothing, so it does not go with --resume.")
	case cmd.MaxRounds < 0:
		return usageError("--max-rounds takes a number of turns, 0 for no limit.")
	}
	return nil
}

func (a *app) loadTeam(name string) (*coordinator.Team, error) {
	path, err := coordinator.FindTeam(name, a.cwd, a.home)
	var notFound *coordinator.TeamNotFoundError
	if errors.As(err, &notFound) && name == coordinator.DemoTeam().Name {
		return coordinator.DemoTeam(), nil
	}
	if err != nil {
		return nil, err
	}
	return coordinator.LoadTeam(path, a.home)
}

// planResume goes on with the session of that name, or the latest.
func (a *app) planResume(team *coordinator.Team, name string) (plan, error) {
	c := a.catalog()
	session, err := a.findToResume(c, team, name)
	if err != nil {
		return plan{}, err
	}
	if team == nil {
		if team, err = a.teamOf(c.At(session.Dir()), session.ID); err != nil {
			return plan{}, err
		}
	}
	return plan{team: team, store: coordinator.NewFileStore(c), resume: session.ID}, nil
}

func (a *app) findToResume(c *catalog.Catalog, team *coordinator.Team, name string) (catalog.Session, error) {
	if name == "" || team != nil && name == catalog.LatestName {
		return a.latest(c, team)
	}
	session, skipped, err := c.Find(name)
	a.sayPassedOver(skipped)
	var notFound *catalog.NotFoundError
	if team != nil && errors.As(err, &notFound) {
		return session, &exitError{exitNotFound, notFoundForTeam(name, team.ID)}
	}
	return session, err
}

// latest is the latest session of a team, or of all when team is nil.
func (a *app) latest(c *catalog.Catalog, team *coordinator.Team) (catalog.Session, error) {
	list := c.List
	if team != nil {
		list = c.Team(team.ID).List
	}
	sessions, err := list()
	if err != nil {
		return catalog.Session{}, err
	}
	session, skipped, err := catalog.Latest(a.compatible(sessions))
	a.sayPassedOver(skipped)
	switch {
	case err == nil:
		return session, nil
	case team != nil:
		return session, &exitError{exitNotFound, nothingForTeam(team.ID)}
	}
	return session, &exitError{exitNotFound, textNothingToResume}
}

// compatible leaves out what a newer version wrote: it can be read, not gone
// on with.
func (a *app) compatible(sessions []catalog.Session) []catalog.Session {
	return slices.DeleteFunc(sessions, func(s catalog.Session) bool {
		if s.Newer != "" {
			a.notice(incompatibleText(s))
		}
		return s.Newer != ""
	})
}

func (a *app) sayPassedOver(skipped []catalog.Session) {
	for _, s := range skipped {
		a.notice(damagedSkippedText(s))
	}
}

// teamOf finds the team of a session again: from the configuration that its
// journal names.
func (a *app) teamOf(t *catalog.Team, id string) (*coordinator.Team, error) {
	state, _, err := t.Load(id)
	if err != nil {
		return nil, err
	}
	source := state.Team.Source
	if source == nil {
		if demo := coordinator.DemoTeam(); state.Team.ID == demo.ID {
			return demo, nil
		}
		return nil, &exitError{exitNotFound, fmt.Sprintf("Session %s does not say where the configuration of its team '%s' is.\nName it: agent-chatter chat --resume %[1]s -t TEAM", id, safeLine(state.Team.ID))}
	}
	team, err := coordinator.LoadTeam(source.Path, a.home)
	if err != nil {
		return nil, &exitError{exitNotFound, fmt.Sprintf("The configuration of the team '%s' cannot be loaded any more: %s\nName another: agent-chatter chat --resume %s -t TEAM", safeLine(state.Team.ID), safe(err.Error()), id)}
	}
	if team.Source.SHA256 != source.SHA256 {
		a.notice(fmt.Sprintf("The team's configuration %s has changed since this session.", safeLine(source.Path)))
	}
	return team, nil
}

// planFile goes on with a journal that lies anywhere.
func (a *app) planFile(team *coordinator.Team, path string) (plan, error) {
	id, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
	if !ok {
		return a.planSnapshot(team, path)
	}
	t := a.catalog().At(filepath.Dir(path))
	if _, err := t.Journals().Stat(id); err != nil {
		if errors.Is(err, journal.ErrNotFound) {
			return plan{}, &exitError{exitNotFound, fmt.Sprintf("There is no journal %s.", safeLine(path))}
		}
		return plan{}, err
	}
	if team == nil {
		var err error
		if team, err = a.teamOf(t, id); err != nil {
			return plan{}, err
		}
	}
	return plan{team: team, store: coordinator.NewDirStore(t), resume: id}, nil
}

// planSnapshot imports a snapshot and goes on with what became of it.
func (a *app) planSnapshot(team *coordinator.Team, path string) (plan, error) {
	s, err := a.readSnapshot(path)
	if errors.Is(err, fs.ErrNotExist) {
		return plan{}, &exitError{exitNotFound, fmt.Sprintf("There is no file %s.", safeLine(path))}
	}
	if err != nil {
		return plan{}, err
	}
	done := a.take(s)
	if done.Action == "failed" {
		return plan{}, errors.New(done.Error)
	}
	a.notice(fmt.Sprintf("Session %s: %s, %d of %d messages from %s", done.ID, done.Action, done.Taken, done.Total, safeLine(path)))
	return a.planResume(team, s.ID)
}

// lastMessages is how many messages a resumed chat shows.
const lastMessages = 6

// history is what a person sees again of a resumed session.
func history(s *coordinator.Session) []projection.Entry {
	recent := s.Recent
	return recent[max(0, len(recent)-lastMessages):]
}
