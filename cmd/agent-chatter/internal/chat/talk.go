package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/setup"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/marker"
	"github.com/clipperhouse/displaywidth"
)

func greetingText(t *team.Team) string {
	return fmt.Sprintf("You talk to the team %s: %s. /help shows what you can type.", tty.SafeLine(t.DisplayName), view.MemberNames(t))
}

// retry is the slash command that repeats an interrupted turn.
var retry = app.Help{Purpose: "retry", Command: hint.Hint{Kind: hint.Slash, Argv: []string{"retry"}}}

func interruptedTurnText(member string) app.Message {
	return app.Text("%s was interrupted in the last turn.", tty.SafeLine(member)).With(retry)
}

// slashForm returns the slash command for a command of the program, or nil if the chat
// has none.
func slashForm(argv []string) []string {
	switch command := strings.Join(argv, " "); command {
	case "sessions", "team list":
		return argv
	}
	return nil
}

// shownInput is how many bytes of what a tool would be given a question shows.
const shownInput = 1000

// askLeaveText asks whether an agent may do something.
func askLeaveText(member string, asked agent.Permission) string {
	input := ""
	if asked.Input != nil {
		input = string(asked.Input)
		if len(input) > shownInput {
			input = fmt.Sprintf("%s… (%d bytes)", input[:shownInput], len(input))
		}
		input = "\n  " + tty.SafeLine(input)
	}
	return fmt.Sprintf("%s asks whether it may do this: %s%s\n[Y] Allow  [N] Refuse  [Esc] Cancel the turn",
		tty.SafeLine(member), tty.SafeLine(cmp.Or(asked.Title, asked.Tool)), input)
}

// unsaidText says that messages came behind the end of a run.
func unsaidText(n int) string {
	return fmt.Sprintf("Not said, because the agents have had their turns of this run: %s.", app.Count(n, "message"))
}

// taskSetText says which task the agents are told from now on.
func taskSetText(task string) string { return "The team's task is now: " + tty.Safe(task) }

// renamedText says how the running session is called.
func renamedText(title string) string {
	return "This session is now called " + tty.SafeLine(title) + "."
}

// roundsText says where the turns of agents stand; "" when they have no limit.
func roundsText(had, allowed int) string {
	if allowed == 0 {
		return ""
	}
	return fmt.Sprintf("Since your last message agents have had %s of %d: %d left.", app.Count(had, "turn"), allowed, max(0, allowed-had))
}

// resumingText says from where a session goes on.
func resumingText(updated time.Time, turns, had, allowed int) string {
	text := fmt.Sprintf("Resuming session from %s, after %s of agents.", updated.Local().Format("2006-01-02 15:04"), app.Count(turns, "turn"))
	return strings.TrimSpace(text + " " + roundsText(had, allowed))
}

// queueText says who speaks next and why, and what was decided last.
func queueText(waiting []coordinator.Queued, decided []projection.QueueChange) string {
	var b strings.Builder
	if len(waiting) == 0 {
		b.WriteString("Nobody waits; you are next.\n")
	} else {
		b.WriteString("After you:\n")
	}
	for i, w := range waiting {
		fmt.Fprintf(&b, "  %d. %s, to %s %s", i+1, tty.SafeLine(w.Member.Name), intentText(w.Intent), tty.SafeLine(w.AskedBy))
		if words := tty.SafeLine(firstWords(w.Text)); words != "" {
			b.WriteString(": " + words)
		}
		b.WriteString("\n")
	}
	if len(decided) > 0 {
		b.WriteString("Decided since your last message:\n")
	}
	for _, d := range decided {
		fmt.Fprintf(&b, "  %s was %s: %s\n", tty.SafeLine(d.MemberID), tty.SafeLine(string(d.Action)), tty.SafeLine(d.Reason))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// intentText is what somebody waits for.
func intentText(i marker.Intent) string {
	switch i {
	case marker.Interrupt:
		return "interrupt (P1) for"
	case marker.Extend:
		return "add to (P3)"
	}
	return "answer"
}

// firstWords is the beginning of a message, to know it by.
func firstWords(text string) string {
	const most = 50
	if r := []rune(text[:min(len(text), 4*most+4)]); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// restoreQuestion is asked when a team with an earlier session is deployed.
func restoreQuestion(r projection.Row, now time.Time) string {
	return fmt.Sprintf("Found previous session (%s, %s)\n  %s\n[R] Resume  [N] Start New",
		longAge(r.UpdatedAt, now), app.Count(r.MessageCount, "message"), tty.SafeLine(r.Summary()))
}

// recentText offers sessions to be resumed.
// On a terminal of so many columns each takes one line; 0: it may take more.
func recentText(found []catalog.Session, now time.Time, columns int) string {
	short := catalog.ShortIDs(found)
	var b strings.Builder
	b.WriteString("Recent Sessions:\n")
	for i, s := range found {
		before, behind := fmt.Sprintf("  %d. [%s] ", i+1, short[s.ID]), fmt.Sprintf(" (%s)", sessions.Age(s.UpdatedAt, now))
		title := tty.SafeLine(s.Title)
		if columns > 0 {
			title = displaywidth.TruncateString(title, max(columns-1-displaywidth.String(before+behind), tty.LeastShown), "…")
		}
		b.WriteString(before + title + behind + "\n")
	}
	b.WriteString("Enter number or session ID to resume (or press Enter to cancel):")
	return b.String()
}

// longAge is how long ago something was, in words.
func longAge(t, now time.Time) string {
	if n, unit := app.Elapsed(t, now); n > 0 {
		return app.Count(n, unit) + " ago"
	}
	return "just now"
}

// notRegularText is for a destination that is no regular file: a pipe would block the
// conversation.
func notRegularText(path string) app.Message {
	return app.Text("%s is not a regular file. A chat exports only to files.", tty.SafeLine(path)).
		With(app.To("export elsewhere", "sessions", "export", "latest", "-o", path))
}

// talk is a chat line by line: from flags, from a pipe, or from a person.
type talk struct {
	app      *app.App
	screen   *view.Screen
	c        *coordinator.Coordinator
	input    input
	scripted bool // nobody sits there: a failed turn is a failure of the program, and nothing is asked

	connect func(store.Store) *coordinator.Coordinator

	noSave      bool     // nothing goes to the disk
	sessionFile string   // the absolute path of the journal that was named by one; "": none was
	tidying     *tidying // nil: there is no retention

	quit   chan struct{} // closed when a signal ends the program
	failed bool          // something that was typed did not work
}

// input is where lines come from.
type input interface {
	// next waits for a line. io.EOF: there are no more; errInterrupted: a
	// person or a signal ended the conversation.
	Next(prompt string, quit <-chan struct{}) (tty.Line, error)
	// watch calls these when a person asks for it, until stop.
	Watch(onEscape, onInterrupt func()) (stop func())
}

// errEnd ends a chat in order.
var errEnd = errors.New("the conversation is over")

func (t *talk) run() error {
	t.quit = make(chan struct{})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	go func() {
		<-signals
		close(t.quit)
	}()
	t.greet()
	return t.close(t.loop())
}

// begin starts with a team, or goes on with one of its sessions.
func (t *talk) begin(p plan) error {
	t.screen.Begin(p.team)
	t.screen.Saved = func() { t.tidying.use(p.team.ID) }
	for _, m := range p.team.Members {
		setup.WarnIneffective(t.app, m)
	}
	t.c = t.connect(p.store)
	return t.c.SetTeam(context.Background(), p.team, coordinator.SetTeamOptions{ResumeSessionID: p.resume})
}

// greet shows where the conversation stands.
func (t *talk) greet() {
	session := t.c.Session()
	if session == nil {
		if !t.scripted {
			t.app.Notice(greetingText(t.c.Team()))
		}
		return
	}
	t.app.Notice(tty.SafeLine(session.Title))
	had, allowed := t.c.Rounds()
	t.app.Notice(resumingText(session.UpdatedAt, session.Stats.Turns, had, allowed))
	if t.screen.JSON || !t.screen.Terminal {
		return
	}
	last := lastOf(session.Recent)
	if older := session.Stats.Messages - len(last); older > 0 {
		t.app.Show(olderText(older, cmp.Or(t.sessionFile, session.ID)))
	}
	for _, entry := range last {
		t.screen.ShowEntry(entry)
	}
	if member, ok := t.c.Team().Member(session.Interrupted); ok {
		t.app.Show(interruptedTurnText(member.DisplayName))
	}
}

// loop obeys line after line until there are no more.
func (t *talk) loop() (reason string, err error) {
	for !t.c.RunOver() {
		line, err := t.input.Next(t.prompt(), t.quit)
		switch {
		case errors.Is(err, tty.ErrInterrupted):
			return "interrupted", nil
		case err == io.EOF:
			return "end of input", nil
		case errors.Is(err, errNoMessage):
			t.refuse("%v", err)
			continue
		case errors.Is(err, journal.ErrTooLong):
			t.judge(err)
			continue
		case err != nil:
			return "error", fmt.Errorf("standard input: %w", err)
		}
		switch err := t.handle(line); {
		case errors.Is(err, errEnd):
			return "end", nil
		case err != nil:
			return "interrupted", err
		}
	}
	t.sayUnsaid()
	return "rounds", nil
}

// sayUnsaid says how many messages of the command line came too late for this
// run.
func (t *talk) sayUnsaid() {
	if m, ok := t.input.(*messages); ok && len(m.rest) > 0 {
		t.app.Notice(unsaidText(len(m.rest)))
	}
}

// prompt is what stands before the line that is typed.
func (t *talk) prompt() string {
	if t.scripted {
		return ""
	}
	if t.screen.Unsaved {
		t.app.Notice(app.TextNotSaved)
	}
	var names []string
	for _, m := range t.c.Team().Members {
		if waiting := t.c.Status().Waiting; m.Type == team.Human && (waiting == "" || waiting == m.ID) {
			names = append(names, tty.SafeLine(m.Name))
		}
	}
	return strings.Join(names, " or ") + "> "
}

// handle obeys one line: a command, or a message.
func (t *talk) handle(l tty.Line) error {
	switch {
	case strings.TrimSpace(l.Text) == "" && !t.fromFlags():
		return nil
	case l.Message:
	case strings.HasPrefix(l.Text, "//"):
		l.Text = l.Text[1:]
	case strings.HasPrefix(l.Text, "/"):
		return t.command(l.Text)
	}
	return t.work(func(ctx context.Context) error { return t.c.SayAs(ctx, l.From, l.Text) })
}

// fromFlags reports whether messages come from -m, where an empty one is a
// mistake and not a key that was pressed.
func (t *talk) fromFlags() bool {
	_, ok := t.input.(*messages)
	return ok
}

// work lets agents speak. Escape cancels them; Ctrl+C and signals end the
// program, too.
func (t *talk) work(do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var interrupted atomic.Bool
	interrupt := func() {
		interrupted.Store(true)
		cancel()
	}
	escape := cancel
	if !t.c.Team().AllowEscCancel {
		escape = func() {}
	}
	stopWatching := t.input.Watch(escape, interrupt)
	stopListening := onClose(t.quit, interrupt)
	err := do(ctx)
	stopListening()
	stopWatching()
	t.screen.EndLine()
	if interrupted.Load() {
		return &app.ExitError{Code: app.ExitInterrupted}
	}
	t.judge(err)
	return nil
}

// askOn returns a function that asks for permission on the console. Escape and Ctrl+C cancel the turn.
func askOn(c *tty.Console) func(context.Context, coordinator.Question) coordinator.Answer {
	return func(ctx context.Context, q coordinator.Question) coordinator.Answer {
		if c.Ask(ctx, askLeaveText(q.Member.DisplayName, q.Permission)) {
			return coordinator.Allowed
		}
		return coordinator.Refused
	}
}

// onClose calls f when a channel is closed, until stop.
func onClose(c <-chan struct{}, f func()) (stop func()) {
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-c:
			f()
		case <-done:
		}
	}()
	return func() {
		close(done)
		<-over
	}
}

// judge says what went wrong, unless the screen has said it already.
func (t *talk) judge(err error) {
	if err == nil {
		return
	}
	t.failed = true
	var turn *coordinator.TurnError
	if !errors.As(err, &turn) {
		t.app.Show(app.Explain(err))
	}
}

// refuse says why a line was not obeyed.
func (t *talk) refuse(format string, args ...any) {
	t.failed = true
	t.app.Notice(fmt.Sprintf(format, args...))
}

// end ends the conversation, saved, and says how to go on with it.
func (t *talk) end(reason string) error {
	t.screen.EndLine()
	session := t.c.Session()
	err := t.c.Stop(reason)
	if err == nil && session != nil && session.Stats.Messages > 0 && !t.screen.JSON && !t.noSave {
		t.app.Notice("", t.howToResume(session.ID))
	}
	return err
}

// howToResume is the command that resumes the session from a shell.
func (t *talk) howToResume(id string) app.Help {
	if t.sessionFile != "" {
		return app.To("resume", "chat", "--session-file", t.sessionFile)
	}
	return app.To("resume", "chat", "--resume", id)
}

func (t *talk) close(reason string, err error) error {
	stopErr := t.end(reason)
	t.tidying.end()
	switch {
	case err != nil:
		return err
	case stopErr != nil, t.failed && t.scripted:
		return &app.ExitError{Code: app.ExitFailed} // it has been said
	}
	return nil
}
