package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// plan is what a chat begins with.
type plan struct {
	team   *team.Team
	config config
	store  store.Store
	resume string // the session to go on with; "": a new one
}

func (cmd *chatCommand) plan(a *app) (plan, error) {
	if err := cmd.check(); err != nil {
		return plan{}, err
	}
	named, err := cmd.team(a)
	if err != nil {
		return plan{}, err
	}
	switch {
	case cmd.SessionFile != nil:
		return a.planFile(named, *cmd.SessionFile)
	case cmd.resumes():
		return cmd.planResume(a, named)
	}
	if named == nil {
		named = team.Demo()
	}
	p := plan{team: named, store: store.NewFiles(a.catalog())}
	if cmd.NoSave {
		p.store = &store.Memory{}
	}
	return p, nil
}

// team is the one that was named; nil: none was.
func (cmd *chatCommand) team(a *app) (*team.Team, error) {
	if cmd.Team == "" {
		return nil, nil
	}
	return a.loadTeam(cmd.Team)
}

// name is what the session to go on with is called; "": the latest.
func (cmd *chatCommand) name() string {
	if cmd.Session != nil {
		return *cmd.Session
	}
	return cmd.Resume.id
}

// planResume goes on with a session, or with a copy of it.
func (cmd *chatCommand) planResume(a *app, team *team.Team) (plan, error) {
	p, err := a.planResume(team, cmd.name())
	if err != nil || !cmd.Fork {
		return p, err
	}
	p.resume, err = a.fork(a.catalog().Team(p.team.ID), p.resume, 0)
	return p, err
}

func (cmd *chatCommand) resumes() bool {
	return cmd.Resume.set || cmd.Continue || cmd.Session != nil
}

// check refuses flags that contradict each other.
func (cmd *chatCommand) check() error {
	named := 0
	for _, set := range []bool{cmd.Resume.id != "", cmd.Session != nil, cmd.SessionFile != nil} {
		if set {
			named++
		}
	}
	switch {
	case named > 1 || named == 1 && cmd.Continue:
		return usageError("Only one session can be gone on with: name it once.")
	case cmd.NoSave && (cmd.resumes() || cmd.SessionFile != nil):
		return usageError("%s", textNoSaveNoResume)
	case cmd.Fork && (!cmd.resumes() || cmd.SessionFile != nil):
		return usageError("%s", textForkWhat)
	case cmd.Session != nil && *cmd.Session == "" || cmd.SessionFile != nil && *cmd.SessionFile == "":
		return usageError("The name of the session is empty. To go on with the latest, type: --resume")
	case cmd.Follow && (len(cmd.Message) > 0 || cmd.Fork || cmd.NoSave || cmd.MaxRounds != 0 || cmd.ShowPrompt):
		return usageError("%s", textFollowOnly)
	case cmd.MaxRounds < 0:
		return usageError("--max-rounds takes a number of turns, 0 for no limit.")
	}
	return nil
}

func (a *app) loadTeam(name string) (*team.Team, error) {
	path, err := team.Find(name, a.cwd, a.home)
	var notFound *team.NotFoundError
	if errors.As(err, &notFound) && name == team.Demo().Name {
		return team.Demo(), nil
	}
	if err != nil {
		return nil, err
	}
	return team.Load(path, a.home)
}

// planResume goes on with the session of that name, or the latest.
func (a *app) planResume(team *team.Team, name string) (plan, error) {
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
	if session.Truncated {
		a.notice(shrunkText(session))
	}
	return plan{team: team, store: store.NewFiles(c), resume: session.ID}, nil
}

func (a *app) findToResume(c *catalog.Catalog, team *team.Team, name string) (catalog.Session, error) {
	if name == "" || name == catalog.LatestName {
		return a.latest(c, team)
	}
	session, err := a.find(c, name)
	var notFound *catalog.NotFoundError
	if team != nil && errors.As(err, &notFound) {
		return session, &exitError{exitNotFound, notFoundForTeam(name, team.ID)}
	}
	return session, err
}

// latest is the latest session of a team, or of all when team is nil.
func (a *app) latest(c *catalog.Catalog, team *team.Team) (catalog.Session, error) {
	list := c.List
	if team != nil {
		list = c.Team(team.ID).List
	}
	sessions, err := list()
	if err != nil {
		return catalog.Session{}, err
	}
	session, err := a.firstSound(c, a.compatible(sessions))
	switch {
	case err == nil:
		return session, nil
	case !errors.Is(err, journal.ErrNotFound):
		return session, err
	case team != nil:
		return session, &exitError{exitNotFound, nothingForTeam(team.ID)}
	}
	return session, &exitError{exitNotFound, textNothingToResume}
}

// firstSound is the latest session that is not damaged at its end either, where
// an index does not look.
func (a *app) firstSound(c *catalog.Catalog, sessions []catalog.Session) (catalog.Session, error) {
	for {
		session, skipped, err := catalog.Latest(sessions)
		a.sayPassedOver(skipped)
		if err != nil {
			return session, err
		}
		err = c.At(session.Dir()).Journals().Check(session.ID)
		if err == nil || errors.Is(err, journal.ErrNotFound) {
			return session, err
		}
		a.sayPassedOver([]catalog.Session{failed(session, err)})
		sessions = slices.DeleteFunc(sessions, func(s catalog.Session) bool { return s.Damaged != "" || s.ID == session.ID })
		if len(sessions) == 0 && catalog.IsReadError(err) {
			return session, err
		}
	}
}

// failed is a session that turned out to be damaged, or not to be readable.
func failed(s catalog.Session, err error) catalog.Session {
	s.Damaged = err.Error()
	if catalog.IsReadError(err) {
		s.ReadErr = err
	}
	return s
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
func (a *app) teamOf(t *catalog.Dir, id string) (*team.Team, error) {
	state, _, err := t.Load(context.TODO(), id)
	if err != nil {
		return nil, err
	}
	if state.SessionID == "" {
		return nil, &catalog.MissingHeaderError{ID: id, Reason: "there is no event in it"}
	}
	source := state.Team.Source
	if source == nil {
		if demo := team.Demo(); state.Team.ID == demo.ID {
			return demo, nil
		}
		return nil, &exitError{exitNotFound, fmt.Sprintf("Session %s does not say where the configuration of its team '%s' is.\nName it: agent-chatter chat --resume %[1]s -t TEAM", id, safeLine(state.Team.ID))}
	}
	team, err := team.Load(source.Path, a.home)
	if err != nil {
		return nil, &exitError{exitNotFound, fmt.Sprintf("The configuration of the team '%s' cannot be loaded any more: %s\nName another: agent-chatter chat --resume %s -t TEAM", safeLine(state.Team.ID), safe(err.Error()), id)}
	}
	if team.Source.SHA256 != source.SHA256 {
		a.notice(fmt.Sprintf("The team's configuration %s has changed since this session.", safeLine(source.Path)))
	}
	return team, nil
}

// planFile goes on with a journal that lies anywhere.
func (a *app) planFile(team *team.Team, path string) (plan, error) {
	if isArchive(path) {
		return plan{}, usageError("%s", goOnWithArchiveText(path))
	}
	switch format := beginning(path); {
	case format == formatBundle:
		return a.planBundle(team, path)
	case format != "" && format != formatJournal:
		return plan{}, usageError("%s", importFirstText(path, format))
	case !isJournal(path):
		return a.planSnapshot(team, path)
	}
	t, id, err := a.journalAt(path)
	if err != nil {
		return plan{}, err
	}
	if team == nil {
		if team, err = a.teamOf(t, id); err != nil {
			return plan{}, err
		}
	}
	return plan{team: team, store: store.NewDir(t), resume: id}, nil
}

// journalAt is the journal in a file, wherever that is. An archived one, which
// may be read and not gone on with there, is in a directory that is called so.
func (a *app) journalAt(path string) (*catalog.Dir, string, error) {
	dir, id := filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), ".jsonl")
	if isArchive(path) {
		whole, err := filepath.Abs(path)
		if err != nil {
			return nil, "", err
		}
		if _, err := os.Stat(path); err == nil && !inArchive(path) {
			return nil, "", &exitError{exitFailed, archiveElsewhereText(path)}
		}
		dir, id = filepath.Dir(filepath.Dir(whole)), strings.TrimSuffix(filepath.Base(path), archiveSuffix)
	}
	t := a.catalog().At(dir)
	_, err := t.Journals().Stat(id)
	if errors.Is(err, journal.ErrNotFound) {
		err = &exitError{exitNotFound, missingFileText("journal", path)}
	}
	return t, id, err
}

// planBundle imports the session of a bundle and goes on with it.
func (a *app) planBundle(team *team.Team, path string) (plan, error) {
	all := a.takeBundle(path)
	switch last := all[len(all)-1]; {
	case last.Action == "failed":
		return plan{}, errors.New(last.Error)
	case len(all) > 1:
		return plan{}, usageError("%s", severalInBundleText(path, len(all)))
	default:
		a.notice(importedText(last))
		return a.planResume(team, last.ID)
	}
}

// planSnapshot imports a snapshot and goes on with what became of it.
func (a *app) planSnapshot(team *team.Team, path string) (plan, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return plan{}, &exitError{exitFailed, directoryText(path)}
	}
	s, err := a.readSnapshot(path)
	if errors.Is(err, fs.ErrNotExist) {
		return plan{}, &exitError{exitNotFound, missingFileText("file", path)}
	}
	if err != nil {
		return plan{}, err
	}
	done := a.take(s)
	if done.Action == "failed" {
		return plan{}, errors.New(done.Error)
	}
	done.Path = path
	a.notice(importedText(done))
	return a.planResume(team, s.ID)
}
