package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/schemas"
)

type verifyCommand struct {
	ID     []string `arg:"" optional:"" help:"The sessions; without any, all."`
	Chain  bool     `help:"Check the chain of sums alone, several times as fast: not what the lines say, and no caches."`
	Output string   `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (verifyCommand) Help() string {
	return `Examples:
  agent-chatter verify
  agent-chatter verify latest --output json
  agent-chatter verify --chain`
}

// verdict is what verify says of one session.
type verdict struct {
	ID      string `json:"id"`
	OK      bool   `json:"ok"`
	Events  uint64 `json:"events"`
	Problem string `json:"problem,omitempty"`
	Line    int64  `json:"line,omitempty"`
	Offset  int64  `json:"offset,omitempty"`

	unread   bool // it is not known whether it is damaged
	headless bool // all lines check, and it is no session
	help     string
}

// Run implements the command.
func (cmd *verifyCommand) Run(a *app) error {
	sessions, err := a.named(cmd.ID, a.findOrOpen)
	if err != nil {
		return err
	}
	c, teams := a.catalog(), map[string]*catalog.Dir{}
	unread := 0
	var helps []string // one for each damaged session
	for i, s := range sessions {
		if teams[s.Dir()] == nil {
			teams[s.Dir()] = c.At(s.Dir())
		}
		v := a.verify(teams[s.Dir()], s, cmd.Chain)
		switch {
		case v.unread:
			unread++
		case !v.OK:
			var file *fileError
			if len(cmd.ID) > 0 {
				file = byPath(cmd.ID[i])
			}
			helps = append(helps, cmp.Or(v.help, damageHelp(s, file)))
		}
		if err := cmd.print(a, v); err != nil {
			return err
		}
	}
	if len(cmd.ID) == 0 {
		if err := a.sayWhatIsNoSession(); err != nil {
			return err
		}
	}
	if len(helps) > 0 {
		return &exitError{exitDamaged, damagedCountText(helps, len(sessions))}
	}
	if unread+len(a.unread) > 0 {
		return &exitError{exitFailed, textNotAllRead}
	}
	return nil
}

// sayWhatIsNoSession names the files among the sessions that are none.
func (a *app) sayWhatIsNoSession() error {
	teams, err := a.catalog().Teams()
	if err != nil {
		return err
	}
	for _, t := range teams {
		if err := a.sayNoSessionsOf(t); err != nil {
			a.sayUnread(t.Journals().Path(), err)
		}
	}
	return nil
}

func (a *app) sayNoSessionsOf(t *catalog.Dir) error {
	empty, err := t.EmptyJournals()
	if err != nil {
		return err
	}
	for _, info := range empty {
		a.notice(emptyText(info))
	}
	strangers, err := t.UnknownFiles()
	for _, name := range strangers {
		a.notice(strangerText(filepath.Join(t.Journals().Path(), name)))
	}
	return err
}

// find finds a session by its name, and says which damaged ones it passed over.
func (a *app) find(c *catalog.Catalog, name string) (catalog.Session, error) {
	s, skipped, err := c.Find(name)
	a.sayPassedOver(skipped)
	return s, err
}

// named finds the sessions of these names, or all when there are none.
func (a *app) named(names []string, find func(*catalog.Catalog, string) (catalog.Session, error)) ([]catalog.Session, error) {
	c := a.catalog()
	if len(names) == 0 {
		return c.List()
	}
	var sessions []catalog.Session
	for _, name := range names {
		s, err := find(c, name)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, s)
	}
	return sessions, nil
}

// verify reads every line of a session. One that is written to meanwhile is
// read until it holds still.
func (a *app) verify(team *catalog.Dir, s catalog.Session, chain bool) verdict {
	v := verdict{ID: s.ID, OK: true}
	audit := team.Audit(s.ID)
	torn := journal.Torn{}
	for at, grown := (journal.Position{}), true; grown && v.OK; {
		reader, err := team.Journals().Reader(s.ID, at)
		if err != nil {
			v.damaged(err)
			break
		}
		if chain {
			v.chain(reader)
		} else {
			a.verifyFrom(reader, audit, &v)
		}
		torn, grown = reader.Torn(), reader.Grown()
		at = reader.Position()
		reader.Close()
	}
	if v.OK && !chain {
		a.mend(s, audit)
	}
	if headless := audit.MissingHeader(); v.OK && headless != nil {
		v.headlessBecause(headless.Reason)
	}
	if v.OK && s.Damaged != "" && s.ReadErr == nil { // what the lines alone cannot tell
		v.headlessBecause(s.Damaged)
	}
	a.remark(s, v, torn)
	return v
}

// headlessBecause says that the lines check, and make no session.
func (v *verdict) headlessBecause(reason string) {
	v.OK, v.Problem, v.Line, v.headless = false, reason, 1, true
}

func (a *app) verifyFrom(reader *journal.Reader, audit *catalog.Audit, v *verdict) {
	for e, err := range reader.Scan() {
		if err != nil {
			v.damaged(err)
			return
		}
		v.Events = e.Seq
		audit.Apply(e, reader.Position())
		if projection.Fits(e) {
			continue
		}
		if err := schemas.Check(schemas.JournalEvent, e.Line()); err != nil {
			a.notice(fmt.Sprintf("Session %s, line %d: %s", v.ID, e.Seq, safe(err.Error())))
		}
	}
}

// mend removes the caches that are wrong. That they could not be removed is no
// reason to call the session damaged.
func (a *app) mend(s catalog.Session, audit *catalog.Audit) {
	mended, err := audit.RemoveInvalid()
	for _, what := range mended {
		a.notice(mendedText(s.ID, what, err))
	}
}

// chain checks the sums alone.
func (v *verdict) chain(reader *journal.Reader) {
	if err := reader.CheckChain(); err != nil {
		v.damaged(err)
	}
	v.Events = reader.Position().Seq
}

func (v *verdict) damaged(err error) {
	v.OK, v.Problem, v.unread = false, err.Error(), catalog.IsReadError(err)
	var corrupt *journal.CorruptError
	if errors.As(err, &corrupt) {
		v.Problem, v.Line, v.Offset = corrupt.Reason, corrupt.Line, corrupt.Offset
		if corrupt.TooLong > 0 {
			v.help = allowText(corrupt.TooLong)
		}
	}
}

// remark says what is no damage.
func (a *app) remark(s catalog.Session, v verdict, torn journal.Torn) {
	if torn.Bytes > 0 {
		a.notice(tornText(s.ID, torn))
	}
	if s.Truncated && v.OK {
		a.notice(shrunkText(s))
	}
}

func shrunkText(s catalog.Session) string {
	return fmt.Sprintf("⚠️  Session %s has fewer events than the index remembers: its end may be missing.", s.ID)
}

func (cmd *verifyCommand) print(a *app, v verdict) error {
	if cmd.Output == "json" {
		return writeJSON(a.stdout, v)
	}
	if v.OK {
		_, err := fmt.Fprintf(a.stdout, "%s  ok  %s\n", v.ID, count(int(v.Events), "event"))
		return err
	}
	if v.unread {
		_, err := fmt.Fprintf(a.stdout, "%s  unreadable  %s\n", v.ID, safe(v.Problem))
		return err
	}
	if v.headless {
		text := safe(v.Problem)
		if v.Events > 0 {
			text += fmt.Sprintf("; %s check", count(int(v.Events), "event"))
		}
		_, err := fmt.Fprintf(a.stdout, "%s  damaged  %s\n", v.ID, text)
		return err
	}
	_, err := fmt.Fprintf(a.stdout, "%s  damaged  line %d (byte %d): %s; %s before it are sound\n", v.ID, v.Line, v.Offset, safe(v.Problem), count(int(v.Events), "event"))
	return err
}
