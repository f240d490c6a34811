package maintain

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// mendedText says that a cache was wrong, and what became of it.
func mendedText(id, what string, err error) string {
	if err != nil {
		return fmt.Sprintf("Session %s: %s, and could not be removed: %s. It is only a cache: remove it, and it is made anew.", id, what, tty.SafeLine(err.Error()))
	}
	return fmt.Sprintf("Session %s: %s. It was removed; it is only a cache, and made anew when it is needed.", id, what)
}

// emptyText says that a file has a journal's name and nothing that could be read.
func emptyText(info journal.Info) string {
	return fmt.Sprintf("%s is no session: none of its %d bytes can be read. A power cut leaves this of a session that was just begun, or it is somebody else's file. It was left alone.", info.Path(), info.Size)
}

// strangerText says that a file is none of ours.
func strangerText(path string) string {
	return fmt.Sprintf("%s is none of our files, and was left alone.", tty.SafeLine(path))
}

type Verify struct {
	ID     []string `arg:"" optional:"" help:"The sessions; without any, all."`
	Chain  bool     `help:"Check the chain of sums alone, several times as fast: not what the lines say, and no caches."`
	Output string   `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (Verify) Help() string {
	return `Examples:
  agent-chatter verify
  agent-chatter verify latest --output json
  agent-chatter verify --chain`
}

// verdict is what verify says of one session.
type Verdict struct {
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
func (cmd *Verify) Run(a *app.App) error {
	sessions, err := a.Named(context.Background(), cmd.ID, a.FindOrOpen)
	if err != nil {
		return err
	}
	c, teams := a.Catalog, map[string]*catalog.Dir{}
	unread := 0
	var helps []app.Message // one for each damaged session
	for i, s := range sessions {
		if teams[s.Dir()] == nil {
			teams[s.Dir()] = c.At(s.Dir())
		}
		v := verifySession(a, teams[s.Dir()], s, cmd.Chain)
		switch {
		case v.unread:
			unread++
		case !v.OK:
			var file *app.FileError
			if len(cmd.ID) > 0 {
				file = app.ByPath(cmd.ID[i])
			}
			help := app.DamageHelp(s, file)
			if v.help != "" {
				help = app.Message{Text: v.help}
			}
			helps = append(helps, help)
		}
		if err := cmd.print(a, v); err != nil {
			return err
		}
	}
	if len(cmd.ID) == 0 {
		if err := sayWhatIsNoSession(a); err != nil {
			return err
		}
	}
	if len(helps) > 0 {
		return app.Exit(app.ExitDamaged, app.DamagedCountText(helps, len(sessions)))
	}
	if unread > 0 || a.HasUnreadable() {
		return app.Exit(app.ExitFailed, app.NotAllReadText())
	}
	return nil
}

// sayWhatIsNoSession names the files among the sessions that are none.
func sayWhatIsNoSession(a *app.App) error {
	teams, err := a.Catalog.Teams()
	if err != nil {
		return err
	}
	for _, t := range teams {
		if err := sayNoSessionsOf(a, t); err != nil {
			a.ReportUnreadable(t.Journals().Path(), err)
		}
	}
	return nil
}

func sayNoSessionsOf(a *app.App, t *catalog.Dir) error {
	empty, err := t.EmptyJournals(context.Background())
	if err != nil {
		return err
	}
	for _, info := range empty {
		a.Notice(emptyText(info))
	}
	unknown, err := t.UnknownFiles()
	for _, name := range unknown {
		a.Notice(strangerText(filepath.Join(t.Journals().Path(), name)))
	}
	return err
}

// verify reads every line of a session. One that is written to meanwhile is
// read until it holds still.
func verifySession(a *app.App, team *catalog.Dir, s catalog.Session, chain bool) Verdict {
	v := Verdict{ID: s.ID, OK: true}
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
			verifyFrom(a, reader, audit, &v)
		}
		torn, grown = reader.Torn(), reader.Grown()
		at = reader.Position()
		reader.Close()
	}
	if v.OK && !chain {
		mend(a, s, audit)
	}
	if headless := audit.MissingHeader(); v.OK && headless != nil {
		v.headlessBecause(headless.Reason)
	}
	if v.OK && s.Damaged != "" && s.ReadErr == nil { // what the lines alone cannot tell
		v.headlessBecause(s.Damaged)
	}
	remark(a, s, v, torn)
	return v
}

// headlessBecause says that the lines check, and make no session.
func (v *Verdict) headlessBecause(reason string) {
	v.OK, v.Problem, v.Line, v.headless = false, reason, 1, true
}

func verifyFrom(a *app.App, reader *journal.Reader, audit *catalog.Audit, v *Verdict) {
	for e, err := range reader.Scan() {
		if err != nil {
			v.damaged(err)
			return
		}
		v.Events = e.Seq
		audit.Apply(e, reader.Position())
		if err := projection.Validate(e); err != nil {
			a.Notice(fmt.Sprintf("Session %s, line %d: %s", v.ID, e.Seq, tty.Safe(err.Error())))
		}
	}
}

// mend removes the caches that are wrong. That they could not be removed is no
// reason to call the session damaged.
func mend(a *app.App, s catalog.Session, audit *catalog.Audit) {
	mended, err := audit.RemoveInvalid()
	for _, what := range mended {
		a.Notice(mendedText(s.ID, what, err))
	}
}

// chain checks the sums alone.
func (v *Verdict) chain(reader *journal.Reader) {
	if err := reader.CheckChain(); err != nil {
		v.damaged(err)
	}
	v.Events = reader.Position().Seq
}

func (v *Verdict) damaged(err error) {
	v.OK, v.Problem, v.unread = false, err.Error(), catalog.IsReadError(err)
	var corrupt *journal.CorruptError
	if errors.As(err, &corrupt) {
		v.Problem, v.Line, v.Offset = corrupt.Reason, corrupt.Line, corrupt.Offset
		if corrupt.TooLong > 0 {
			v.help = app.AllowText(corrupt.TooLong)
		}
	}
}

// remark says what is no damage.
func remark(a *app.App, s catalog.Session, v Verdict, torn journal.Torn) {
	if torn.Bytes > 0 {
		a.Notice(view.TornText(s.ID, torn))
	}
	if s.Truncated && v.OK {
		a.Notice(app.TruncatedText(s))
	}
}

func (cmd *Verify) print(a *app.App, v Verdict) error {
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, v)
	}
	if v.OK {
		_, err := fmt.Fprintf(a.Stdout, "%s  ok  %s\n", v.ID, app.Count(int(v.Events), "event"))
		return err
	}
	if v.unread {
		_, err := fmt.Fprintf(a.Stdout, "%s  unreadable  %s\n", v.ID, tty.Safe(v.Problem))
		return err
	}
	if v.headless {
		text := tty.Safe(v.Problem)
		if v.Events > 0 {
			text += fmt.Sprintf("; %s check", app.Count(int(v.Events), "event"))
		}
		_, err := fmt.Fprintf(a.Stdout, "%s  damaged  %s\n", v.ID, text)
		return err
	}
	_, err := fmt.Fprintf(a.Stdout, "%s  damaged  line %d (byte %d): %s; %s before it are sound\n", v.ID, v.Line, v.Offset, tty.Safe(v.Problem), app.Count(int(v.Events), "event"))
	return err
}
