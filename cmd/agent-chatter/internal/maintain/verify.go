package maintain

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Verify is the command that checks journals and their caches.
type Verify struct {
	ID     []string `arg:"" optional:"" help:"The sessions, or paths of journals (default: all)."`
	Chain  bool     `help:"Check only the checksums, several times as fast."`
	Output string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples.
func (Verify) Help() string {
	return `Examples:
  agent-chatter verify
  agent-chatter verify latest --output json
  agent-chatter verify --chain`
}

// verdict is what verify prints for a session.
type verdict struct {
	ID      string `json:"id"`
	OK      bool   `json:"ok"`
	Events  uint64 `json:"events"` // events with a matching checksum, before the first line without
	Problem string `json:"problem,omitempty"`
	Line    int64  `json:"line,omitempty"`
	Offset  int64  `json:"offset,omitempty"`

	// Field is the JSON pointer to what is invalid in the line, if its checksum matches.
	Field         string `json:"field,omitempty"`
	InvalidEvents int    `json:"invalidEvents,omitempty"`
	Newer         bool   `json:"newer,omitempty"` // a newer version of the program wrote to it

	// WithoutSyncMark is how many events at the end no sync mark covers; 0 if it is only
	// the last one. If one of them is damaged, it looks like a torn write.
	WithoutSyncMark uint64 `json:"withoutSyncMark,omitempty"`

	unreadable bool         // the journal could not be read: OK is false, but it may be intact
	torn       journal.Torn // the torn write that follows the events, if it has any bytes
	shrunk     bool         // the index recorded more events
	sumsMatch  bool         // every checksum matches, although OK is false
	help       string
	files      []messageFile // of its messages
}

func (v verdict) isTorn() bool { return v.torn.Bytes > 0 }

// helpFor returns what helps with a session; nothing if it is intact. file is nil if no path named the session.
func (v verdict) helpFor(s catalog.Session, file *app.FileError) app.Message {
	switch {
	case v.OK:
		return app.Message{}
	case v.unreadable:
		return app.Message{}.With(app.To("diagnose this", "doctor"))
	case v.Newer:
		return app.Text(textUpgrade)
	case v.help != "":
		return app.Message{Text: v.help}
	}
	return app.DamageHelp(s, file)
}

// Run implements the command.
func (cmd *Verify) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	list := view.FindingsOnTerminal(a, cmd.Output)
	sessions, err := a.Named(ctx, cmd.ID, a.FindOrOpen)
	if err != nil {
		return err
	}
	if len(cmd.ID) == 0 {
		sessions = append(sessions, emptyJournals(ctx, a)...)
	}
	teams := map[string]*catalog.Dir{}
	t := tally{sessions: len(sessions)}
	for i, s := range sessions {
		if teams[s.Dir()] == nil {
			teams[s.Dir()] = a.Catalog.At(s.Dir())
		}
		var file *app.FileError
		if len(cmd.ID) > 0 {
			file = app.ByPath(cmd.ID[i])
		}
		end := a.Begin("Verifying session " + s.ID)
		v, err := verifySession(ctx, a, teams[s.Dir()], s, cmd.Chain, file == nil)
		end()
		if err != nil {
			return err
		}
		help := v.helpFor(s, file)
		t.add(v, s.Bytes, help)
		if err := cmd.print(a, list, s, v, help); err != nil {
			return err
		}
	}
	if len(cmd.ID) == 0 {
		if err := cmd.checkRetention(ctx, a, list, &t); err != nil {
			return err
		}
		if err := reportOtherFiles(a); err != nil {
			return err
		}
	}
	if t.unsealed > 0 {
		a.Show(unsealedText(t.unsealed, cmd.ID))
	}
	return list.End(verifiedText(t, a.HasUnreadable()), t.err(a.HasUnreadable()))
}

// A tally counts verdicts.
type tally struct {
	sessions, unreadable, unsealed, newer int

	bytes int64
	helps []app.Message // one for each damaged session
}

// add counts the verdict on a session of so many bytes.
func (t *tally) add(v verdict, bytes int64, help app.Message) {
	t.bytes += bytes
	switch {
	case v.unreadable:
		t.unreadable++
	case v.Newer:
		t.newer++
	case !v.OK:
		t.helps = append(t.helps, help)
	// After a torn write, the next writer sets the torn tail aside and writes a sync mark.
	case v.WithoutSyncMark > 0 && !v.isTorn():
		t.unsealed++
	}
}

// err returns the error of a run, which is nil if all sessions are intact. incomplete reports that some could not be
// listed.
func (t *tally) err(incomplete bool) error {
	var faults []app.Message
	switch {
	case t.unreadable > 0:
		faults = append(faults, unreadableText(t.unreadable, t.sessions))
	case incomplete:
		faults = append(faults, app.NotAllReadText())
	}
	if t.newer > 0 {
		faults = append(faults, newerText(t.newer))
	}
	code := app.ExitFailed
	if len(t.helps) > 0 {
		code, faults = app.ExitDamaged, append(faults, app.DamagedCountText(t.helps, t.sessions))
	}
	if len(faults) == 0 {
		return nil
	}
	all := faults[0]
	for _, m := range faults[1:] {
		all.Text += "\n" + m.Text
		all = all.With(m.Help...)
	}
	return app.Exit(code, all)
}

// emptyJournals returns the files that are named like the journal of a session, have bytes, and no valid line. Lists do
// not show them.
func emptyJournals(ctx context.Context, a *app.App) (found []catalog.Session) {
	teams, err := a.Catalog.Teams()
	if err != nil {
		return nil // reportOtherFiles returns it
	}
	for _, t := range teams {
		empty, err := t.EmptyJournals(ctx)
		if err != nil && ctx.Err() == nil {
			a.ReportUnreadable(t.Journals().Path(), err)
		}
		found = append(found, empty...)
	}
	return found
}

// checkRetention checks the journals in which retention is recorded, and adds those that are not sound to the tally. An
// invalid line counts as damage even if no sync mark covers it: a crash leaves only a part of one.
func (cmd *Verify) checkRetention(ctx context.Context, a *app.App, list *view.Findings, t *tally) error {
	teams, err := a.Catalog.Teams()
	if err != nil {
		return nil // reportOtherFiles returns it
	}
	for _, team := range teams {
		torn, err := team.CheckRetention(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && torn.FirstSeq == 0 {
			continue
		}
		s := catalog.Session{ID: filepath.Join(filepath.Base(team.Journals().Path()), "retention.jsonl")}
		v := verdict{ID: s.ID, OK: true}
		if err != nil {
			v.fail(err)
		} else {
			v.OK, v.Problem, v.Line, v.Offset = false, torn.Reason, int64(torn.FirstSeq), torn.Offset
		}
		v.help = textRetentionHelp
		t.sessions++
		help := v.helpFor(s, nil)
		t.add(v, 0, help)
		if err := cmd.print(a, list, s, v, help); err != nil {
			return err
		}
	}
	return nil
}

// reportOtherFiles reports files in the directories of the teams that agent-chatter did not create.
func reportOtherFiles(a *app.App) error {
	teams, err := a.Catalog.Teams()
	if err != nil {
		return err
	}
	for _, t := range teams {
		unknown, err := t.UnknownFiles()
		for _, name := range unknown {
			a.Notice(unknownFileText(filepath.Join(t.Journals().Path(), name)))
		}
		if err != nil {
			a.ReportUnreadable(t.Journals().Path(), err)
		}
	}
	return nil
}

func (cmd *Verify) print(
	a *app.App, list *view.Findings, s catalog.Session, v verdict, help app.Message,
) error {
	if list != nil {
		return list.Add(v.finding(help))
	}
	if v.isTorn() {
		a.Notice(view.TornText(v.ID, v.torn))
	}
	if v.shrunk {
		a.Notice(app.TruncatedText(s))
	}
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, v)
	}
	_, err := fmt.Fprintf(a.Stdout, "%s  %s  %s\n", v.ID, v.status(), v.detail())
	return err
}

// finding returns the verdict as a terminal shows it.
func (v verdict) finding(help app.Message) app.Finding {
	f := app.Finding{State: app.StateOK, What: v.ID + "  " + v.detail(), Help: help.Text, Commands: help.Help}
	if !v.OK {
		f.State, f.What = app.StateWrong, v.ID+"  "+v.status()+": "+v.detail()
	} else if v.isTorn() || v.shrunk || v.WithoutSyncMark > 0 {
		f.State = app.StateNote
	}
	var meanings []string
	if v.shrunk {
		meanings = append(meanings, textShrunk)
	}
	if v.isTorn() {
		torn, meaning := view.DescribeTorn(v.torn)
		f.What += "; " + torn
		meanings = append(meanings, meaning)
	}
	if f.Help != "" {
		meanings = append(meanings, f.Help)
	}
	f.Help = strings.Join(meanings, "\n")
	return f
}

func (v verdict) status() string {
	switch {
	case v.OK:
		return "ok"
	case v.unreadable:
		return "unreadable"
	case v.Newer:
		return "newer"
	case v.InvalidEvents > 0:
		return "invalid"
	}
	return "damaged"
}

func (v verdict) detail() string {
	events, problem := app.Count(int(v.Events), "event"), tty.SafeLine(v.Problem)
	switch {
	case v.OK && v.WithoutSyncMark > 0:
		return events + "; " + withoutSyncMarkText(v.WithoutSyncMark)
	case v.OK:
		return events
	case v.unreadable, v.Newer:
		return problem
	case v.InvalidEvents > 0:
		return fmt.Sprintf("line %d (byte %d), %s: %s; invalid events: %d of %d",
			v.Line, v.Offset, tty.SafeLine(v.Field), problem, v.InvalidEvents, v.Events)
	case v.sumsMatch && v.Events > 0:
		return problem + "; checksums match for " + events
	case v.sumsMatch:
		return problem
	}
	return fmt.Sprintf("line %d (byte %d): %s; valid before it: %s", v.Line, v.Offset, problem, events)
}

const (
	textNoSessions = "There are no sessions."

	textUpgrade = "Upgrade to verify."
	textShrunk  = "The index recorded more events. If the end is missing, restore the file from a backup."
)

func unreadableText(sessions, of int) app.Message {
	return app.Text("%d of %s could not be read.", sessions, app.Count(of, "session")).
		With(app.To("diagnose this", "doctor"))
}

func newerText(sessions int) app.Message {
	return app.Text("%s not verified: written by a newer agent-chatter. "+textUpgrade,
		app.Count(sessions, "session"))
}

// verifiedText is the last line on a terminal. incomplete reports that some sessions could not be listed.
func verifiedText(t tally, incomplete bool) string {
	text := app.Count(t.sessions, "session") + ", " + app.Bytes(uint64(t.bytes))
	var faults []string
	for _, fault := range []struct {
		n    int
		what string
	}{{len(t.helps), "damaged"}, {t.newer, "not verified"}, {t.unreadable, "unreadable"}} {
		if fault.n > 0 {
			faults = append(faults, fmt.Sprintf("%d %s", fault.n, fault.what))
		}
	}
	if incomplete {
		faults = append(faults, "some not listed")
	}
	switch {
	case len(faults) > 0:
		return text + ": " + strings.Join(faults, ", ") + "."
	case t.sessions == 0:
		return textNoSessions
	}
	return text + ", all checksums match."
}

func withoutSyncMarkText(events uint64) string {
	return fmt.Sprintf("%d events at the end have no sync mark", events)
}

// unsealedText is for sessions with events that no sync mark covers. names are the
// arguments of the command.
func unsealedText(sessions int, names []string) app.Message {
	return app.Text("%s without a sync mark at the end: after a crash, while open, or from an earlier version.\n"+
		"Corruption there would look like a torn write.", app.Count(sessions, "session")).
		With(app.To("seal them", append([]string{"repair", "--seal"}, names...)...))
}

// invalidCacheText is for a cache that contradicted its journal; err is why it could
// not be removed, or nil.
func invalidCacheText(id, problem string, err error) string {
	if err != nil {
		return fmt.Sprintf("Session %s: %s, and could not be removed: %s.\n"+
			"It is a cache: remove it, and it will be rebuilt.", id, problem, tty.SafeLine(err.Error()))
	}
	return fmt.Sprintf("Session %s: %s. The file was removed: it is a cache and will be rebuilt.", id, problem)
}

// emptyText is for a file of so many bytes that is named like a journal and has no valid line.
func emptyText(bytes int64) string {
	return fmt.Sprintf("it is not a session: its %d bytes contain no valid line", bytes)
}

const textRetentionHelp = "It records what was archived, trashed and purged; no session depends on it. " +
	"Restore the file from a backup, or move it away."

const textOtherHelp = "Another program renamed or copied the file, or a hub sent it: do not trust it. " +
	"To keep it, import it from outside of the home."

const textEmptyHelp = "A power cut interrupted its creation, or another program wrote it. " +
	"Restore the file from a backup, or move it away."

// unknownFileText is for a file that agent-chatter did not create.
func unknownFileText(path string) string {
	return fmt.Sprintf("%s is not a file of agent-chatter and was not changed.", tty.SafeLine(path))
}
