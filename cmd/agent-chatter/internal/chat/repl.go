package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/attach"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/keys"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live/remote"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/serve"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/setup"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

func interruptedTurnText(members ...string) app.Message {
	if len(members) > 1 {
		return app.Text("The turns of %s were interrupted.", tty.SafeLine(strings.Join(members, ", "))).With(view.Retry)
	}
	return app.Text("%s's turn was interrupted.", tty.SafeLine(members[0])).
		With(view.Retry)
}

// notSentText is for the messages of -m flags after the last turn of a run.
func notSentText(n int) string {
	return fmt.Sprintf("Not sent: %s (--max-rounds reached).", app.Count(n, "message"))
}

// roundsText returns how many turns the agents had since the last message of a user, and
// "" if their number is unlimited, or far from the default limit.
func roundsText(had, limit int) string {
	if limit == 0 || limit == team.DefaultMaxRounds && had < limit-coordinator.LastRounds {
		return ""
	}
	return fmt.Sprintf("Agent turns since your last message: %d of %d.", had, limit)
}

// restoredText is the banner of a resumed conversation on a terminal.
func restoredText(updated time.Time) string {
	return "Restored - " + updated.Local().Format("Jan 2, 03:04 PM")
}

// resumingText starts a resumed conversation without a terminal.
func resumingText(updated time.Time, turns, had, limit int) string {
	text := fmt.Sprintf("Resuming session from %s (%s).",
		updated.Local().Format("2006-01-02 15:04"), app.Count(turns, "agent turn"))
	return strings.TrimSpace(text + " " + roundsText(had, limit))
}

// A repl reads lines and runs them as messages or slash commands.
type repl struct {
	app         *app.App
	display     *display
	c           *coordinator.Coordinator
	input       lineSource // nil: a terminal that is not open yet
	closeOutput func(context.Context) error
	lent        atomic.Int32                   // not 0: an editor or the browser has the terminal
	scripted    bool                           // no user is present: a failed turn fails the program, agents cannot ask
	hosted      bool                           // only other devices show the conversation
	attached    bool                           // another process hosts the conversation
	device      string                         // that entered the line that runs; "": the terminal
	live        *live.Conversation             // with other devices; nil: there are none
	listener    *remote.Server                 // for other processes that take part; with live
	completes   atomic.Pointer[editor.Sources] // what other devices complete; nil: nothing yet
	listed      func() editor.Sources          // without the members
	page        *serve.Page                    // of the conversation; nil: it is not open
	endPage     func() error
	entered     bool         // Next was called
	heard       atomic.Value // the last message of the program, a string; only with live
	created     func()       // is called when the session has events; nil: nothing is

	connect func(store.Store) *coordinator.Coordinator

	noSave     bool     // nothing is kept on disk
	manualSave bool     // the conversation is in memory until /save or its end
	models     []string // of --model, for the first conversation

	statusFacts []home.StatusFact // nil: all
	notify      []home.NotifyWay
	keys        keys.Bindings
	turns       context.Context                    // of the running turns
	cancelTurns atomic.Pointer[context.CancelFunc] // nil: none run

	hub         *host.Hub       // nil: there is none
	sessionFile string          // absolute path of the journal that is resumed in place; "": none
	retention   *host.Retention // nil: automatic retention is off

	pasted   attach.Pasted
	own      atomic.Pointer[catalog.Key] // the session, for goroutines that must not call the Coordinator; nil: none
	uses     commandUses
	failed   atomic.Bool // a line failed
	refusing sync.Mutex  // of refusals, while turns run: several questions may be open
	refusals []tty.Line  // the reasons of refusals, which are sent as messages when a person is next
	statuses statusCache
}

// errEnd is returned by a slash command that ends the chat.
var errEnd = errors.New("the conversation has ended")

// begin starts a new session or resumes one.
func (r *repl) begin(ctx context.Context, c opening) error {
	if r.display.Surface == nil {
		if err := r.open(); err != nil {
			return err
		}
	}
	if len(r.models) > 0 {
		models, err := teams.Models(r.app, c.team, r.models)
		if err != nil {
			return err
		}
		c.chosen.Models = models
	}
	r.sessionFile = c.file
	r.own.Store(nil)
	r.display.begin(c.team)
	r.display.Saved = func() { r.retention.Saved(c.team.ID) }
	r.c = r.connect(c.store)
	options := coordinator.SetTeamOptions{ResumeSessionID: c.resume, SessionID: c.id, Chosen: c.chosen}
	if err := r.c.SetTeam(ctx, c.team, options); err != nil {
		return err
	}
	r.models = nil
	if c.resume != "" {
		r.setOwn(c.resume)
		if r.live != nil {
			inputs := r.c.Session().Inputs
			r.live.Set(func(s *live.State) { s.Sent = inputs })
		}
	}
	for _, m := range r.c.Team().Members {
		setup.WarnIneffective(r.app, m)
	}
	return nil
}

// run runs lines until the input ends, the user ends the chat, or ctx is done. Then it
// saves.
func (r *repl) run(ctx context.Context) error {
	if !r.scripted {
		r.app.Slash = func(argv []string) []string {
			switch strings.Join(argv, " ") {
			case "sessions", "team list":
				return argv
			}
			if n := len(argv); n > 2 && argv[n-2] == "--budget" {
				return []string{"budget", argv[n-1]}
			}
			return nil
		}
		r.app.HideArchiving()
		if _, hidden := ownCommands(r.app); len(hidden) > 0 {
			r.app.Notice(hiddenCommandsText(hidden))
		}
	}
	if r.live != nil && !r.hosted {
		defer r.listener.Close()
		defer r.live.End()
	}
	r.banner()
	if c := r.display.console; c != nil {
		go r.recallEarlier(ctx, c)
	}
	reason, err := r.loop(ctx)
	saveErr := r.end(reason)
	r.saveUses()
	r.hub.End(ctx)
	r.retention.Close()
	switch {
	case err != nil:
		return err
	case saveErr != nil, r.failed.Load() && r.scripted:
		return &app.ExitError{Code: app.ExitFailed} // the error was printed
	}
	return nil
}

// saveUses saves how often commands were used on a terminal.
func (r *repl) saveUses() {
	if r.display.console == nil || r.noSave {
		return
	}
	if err := r.uses.save(r.app.Home); err != nil {
		r.app.Log.Warn("the uses of commands were not saved", "error", err)
	}
}

// banner prints the team of a new conversation, or the newest messages of a resumed one.
func (r *repl) banner() {
	session := r.c.Session()
	if session == nil {
		if unset := r.c.Team().WithoutPermissions(); len(unset) > 0 && !r.scripted {
			defer func() { r.app.Notice(unsetPermissionsText(unset)) }()
		}
		if c := r.display.console; c != nil {
			c.Print(bannerLines(r.c.Team(), view.OutputStyle(r.app))...)
		} else if !r.scripted {
			r.app.Notice(bannerText(r.c.Team()))
		}
		return
	}
	if r.scripted {
		had, limit := r.c.Rounds()
		r.app.Notice(resumingText(session.UpdatedAt, session.Stats.Turns, had, limit))
		r.inChat().showInterrupted(session)
		return
	}
	r.app.Notice(restoredText(session.UpdatedAt))
	r.inChat().showRounds()
	if r.display.JSON {
		return
	}
	r.display.showFacts()
	recent, older, err := r.newest(session)
	if err != nil {
		r.report(err)
	}
	if older > 0 {
		r.app.Show(olderText(older, cmp.Or(r.sessionFile, session.ID)))
	}
	for _, i := range recent {
		r.display.showItem(i)
	}
	r.inChat().showInterrupted(session)
}

// showInterrupted prints whose turns were interrupted, if any were.
func (r invocation) showInterrupted(session *coordinator.Session) {
	var names []string
	for _, id := range session.Interrupted {
		names = append(names, r.display.DisplayName(id))
	}
	if len(names) > 0 {
		r.app.Show(interruptedTurnText(names...))
	}
}

// newest returns the newest messages of the session, and how many precede them.
func (r *repl) newest(session *coordinator.Session) (recent []*conversation.Item, older int, err error) {
	dir, _, err := r.place(session.ID)
	if err != nil {
		return nil, 0, err
	}
	members := view.NewTranscript(r.c.Team()).Members
	return newestItems(context.Background(), dir, session.ID, journal.Position{}, members, session.Stats.Messages)
}

// loop runs lines. reason is why it ended, for the journal.
func (r *repl) loop(ctx context.Context) (reason string, err error) {
	for !r.c.RunOver() {
		if err := r.followSplit(ctx); err != nil {
			return "error", err
		}
		line, err := r.next(ctx)
		switch {
		case errors.Is(err, tty.ErrInterrupted):
			return "interrupted", nil
		case err == io.EOF:
			return "end of input", nil
		case errors.Is(err, errNotMessage), errors.Is(err, errDropped):
			r.reject("%v", err)
			continue
		case errors.Is(err, journal.ErrTooLong):
			r.report(err)
			continue
		case err != nil:
			return "error", fmt.Errorf("standard input: %w", err)
		}
		switch err := r.runLine(ctx, line); {
		case errors.Is(err, errEnd):
			return "end", nil
		case err != nil:
			return "interrupted", err
		}
	}
	if m, ok := r.input.(*flagLines); ok && len(m.Rest) > 0 {
		r.app.Notice(notSentText(len(m.Rest)))
	}
	return "rounds", nil
}

// next returns the next line: the reason of a refusal, or what is entered.
func (r *repl) next(ctx context.Context) (tty.Line, error) {
	if len(r.refusals) > 0 {
		first := r.refusals[0]
		r.refusals = r.refusals[1:]
		return first, nil
	}
	if r.hosted && r.entered && r.own.Load() == nil {
		return tty.Line{}, io.EOF // its first message was not taken: nothing remains
	}
	r.entered = true
	prompt := r.prompt()
	r.showLive(true)
	line, err := r.input.Next(prompt, ctx.Done())
	if r.scripted && err == nil {
		r.hub.ShowState()
	}
	return line, err
}

// prompt returns the names of the users who can type the next line.
func (r *repl) prompt() string {
	if r.scripted {
		return ""
	}
	if r.display.Unsaved {
		r.app.Notice(r.notSavedText())
	}
	r.hub.ShowState()
	var names []string
	for _, m := range r.c.Team().Members {
		if waiting := r.c.Status().Waiting; m.Type == team.Human && (waiting == "" || waiting == m.ID) {
			names = append(names, tty.SafeLine(m.Name))
		}
	}
	return strings.Join(names, " or ") + "> "
}

// notSavedText is for a conversation that is only in memory.
func (r *repl) notSavedText() string {
	if r.manualSave {
		return "This conversation is not saved yet. To save it, type: /save"
	}
	return app.TextNotSaved
}

// runLine runs a slash command or sends a message.
func (r *repl) runLine(ctx context.Context, l tty.Line) error {
	r.device = l.Device
	defer func() { r.device = "" }()
	_, fromFlag := r.input.(*flagLines) // where an empty message is an error
	switch {
	case strings.TrimSpace(l.Text) == "" && !fromFlag:
		return nil
	case l.Message:
	case strings.HasPrefix(l.Text, "//"):
		l.Text = l.Text[1:]
	case strings.HasPrefix(l.Text, "/"):
		return r.runSlash(ctx, l.Text)
	}
	files, err := r.files(l)
	if err != nil {
		r.report(err)
		if c := r.display.console; c != nil && l.Device == "" { // to be corrected
			c.Change(func(m *console.Model) { m.Return([]string{l.Text}) })
		}
		return nil
	}
	r.pasted.Forget(l.Text)
	return r.runTurns(ctx, func(ctx context.Context) error {
		return r.c.SayOn(ctx, live.DeviceOf(l), l.From, l.Text, files...)
	})
}

// files returns the files that a line attaches: none if it is no line that was typed.
func (r *repl) files(l tty.Line) ([]coordinator.File, error) {
	if l.Message {
		return nil, nil
	}
	isMember := func(name string) bool { _, ok := r.c.Team().Match(name); return ok }
	files, err := attach.Files(l.Text, r.app.Cwd, isMember)
	return append(r.pasted.Files(l.Text), files...), err
}

// runTurns calls do, which runs turns of agents. Escape and Ctrl+C cancel them, or end a capture of files that takes
// long; another Ctrl+C and the end of ctx also end the program.
func (r *repl) runTurns(ctx context.Context, do func(context.Context) error) error {
	turns, cancel := context.WithCancel(ctx)
	defer cancel()
	r.turns = turns
	r.cancelTurns.Store(&cancel)
	defer r.cancelTurns.Store(nil)
	var interrupted atomic.Bool
	interrupt := func() {
		interrupted.Store(true)
		cancel()
	}
	r.statuses.Set(statusOf(r.c))
	r.showLive(false)
	onCancel := func(member string) {
		switch {
		case r.c.SkipFiles():
		case member == "":
			cancel()
		default:
			r.c.CancelTurn(member) // unless it has just ended
		}
	}
	stopWatching := r.input.Watch(onCancel, interrupt, r.steer)
	err := do(turns)
	stopWatching()
	r.statuses.Set(nil)
	if turns.Err() != nil {
		r.refusals = nil
	}
	if interrupted.Load() || ctx.Err() != nil {
		return &app.ExitError{Code: app.ExitInterrupted}
	}
	r.report(err)
	return nil
}

// steer gives a message to the agent that works, and returns false if it has to wait.
func (r *repl) steer(line tty.Line) bool {
	text := line.Text
	switch {
	case strings.HasPrefix(text, "//"):
		text = text[1:]
	case strings.HasPrefix(text, "/"):
		return false
	}
	if files, err := r.files(tty.Line{Text: text}); len(files) > 0 || err != nil {
		return false // it is a message of its own
	}
	return r.c.SteerOn(live.DeviceOf(line), "", text)
}

// report prints the error of a line.
func (r *repl) report(err error) { r.inChat().report(err) }

// reject prints why a line was not run.
func (r *repl) reject(format string, args ...any) { r.inChat().reject(format, args...) }

// report prints the error of a line. The display has printed a *coordinator.TurnError, and
// a canceled command needs no text.
func (r invocation) report(err error) {
	if err == nil {
		return
	}
	var turn *coordinator.TurnError
	isTurn := errors.As(err, &turn)
	if !isTurn && errors.Is(err, context.Canceled) {
		return
	}
	r.failed.Store(true)
	if !isTurn {
		r.app.Show(app.Explain(err))
	}
}

// reject prints why a line was not run.
func (r invocation) reject(format string, args ...any) {
	r.failed.Store(true)
	r.app.Notice(fmt.Sprintf(format, args...))
}

// end saves and ends the conversation, and prints the command that resumes it.
func (r *repl) end(reason string) error {
	session := r.c.Session()
	err := r.c.Stop(reason)
	if err == nil && session != nil && session.Stats.Messages > 0 && !r.display.JSON && !r.noSave {
		purpose, argv := "resume", []string{"chat", "--resume", session.ID}
		if r.sessionFile != "" {
			argv = []string{"chat", "--session-file", r.sessionFile}
		}
		if r.display.Next != "" {
			purpose, argv = "continue", append(argv, "-m", fmt.Sprintf("continue [NEXT: %s]", r.display.Next))
		}
		r.app.Notice("", app.To(purpose, argv...))
	}
	return err
}

// unsetPermissionsText is for members that ask because the team file does not say what they may do.
func unsetPermissionsText(names []string) string {
	return fmt.Sprintf(
		"Unset \"permissions\": %s. They ask before they change anything; see agent-chatter guide agents.",
		tty.SafeLine(strings.Join(names, ", ")))
}
