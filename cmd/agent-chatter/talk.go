package main

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

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
)

// talk is a chat line by line: from flags, from a pipe, or from a person.
type talk struct {
	app      *app
	screen   *screen
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
	next(prompt string, quit <-chan struct{}) (line, error)
	// watch calls these when a person asks for it, until stop.
	watch(onEscape, onInterrupt func()) (stop func())
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
	t.screen.begin(p.team)
	t.screen.saved = func() { t.tidying.use(p.team.ID) }
	for _, m := range p.team.Members {
		t.app.noticeUnheeded(m)
	}
	t.c = t.connect(p.store)
	return t.c.SetTeam(context.Background(), p.team, coordinator.SetTeamOptions{ResumeSessionID: p.resume})
}

// greet shows where the conversation stands.
func (t *talk) greet() {
	session := t.c.Session()
	if session == nil {
		if !t.scripted {
			t.app.notice(greetingText(t.c.Team()))
		}
		return
	}
	t.app.notice(safeLine(session.Title))
	had, allowed := t.c.Rounds()
	t.app.notice(resumingText(session.UpdatedAt, session.Stats.Turns, had, allowed))
	if t.screen.json || !t.screen.terminal {
		return
	}
	last := lastOf(session.Recent)
	if older := session.Stats.Messages - len(last); older > 0 {
		t.app.notice(olderText(older, cmp.Or(t.sessionFile, session.ID)))
	}
	for _, entry := range last {
		t.screen.showEntry(entry)
	}
	if member, ok := t.c.Team().Member(session.Interrupted); ok {
		t.app.notice(interruptedTurnText(member.DisplayName))
	}
}

// loop obeys line after line until there are no more.
func (t *talk) loop() (reason string, err error) {
	for !t.c.RunOver() {
		line, err := t.input.next(t.prompt(), t.quit)
		switch {
		case errors.Is(err, errInterrupted):
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
		t.app.notice(unsaidText(len(m.rest)))
	}
}

// prompt is what stands before the line that is typed.
func (t *talk) prompt() string {
	if t.scripted {
		return ""
	}
	if t.screen.unsaved {
		t.app.notice(textNotSaved)
	}
	var names []string
	for _, m := range t.c.Team().Members {
		if m.Type == team.Human && (t.c.Waiting() == "" || t.c.Waiting() == m.ID) {
			names = append(names, safeLine(m.Name))
		}
	}
	return strings.Join(names, " or ") + "> "
}

// handle obeys one line: a command, or a message.
func (t *talk) handle(l line) error {
	switch {
	case strings.TrimSpace(l.text) == "" && !t.fromFlags():
		return nil
	case l.message:
	case strings.HasPrefix(l.text, "//"):
		l.text = l.text[1:]
	case strings.HasPrefix(l.text, "/"):
		return t.command(l.text)
	}
	return t.work(func(ctx context.Context) error { return t.c.SayAs(ctx, l.from, l.text) })
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
	stopWatching := t.input.watch(escape, interrupt)
	stopListening := onClose(t.quit, interrupt)
	err := do(ctx)
	stopListening()
	stopWatching()
	t.screen.endLine()
	if interrupted.Load() {
		return &exitError{code: exitInterrupted}
	}
	t.judge(err)
	return nil
}

// asker asks the person at the console whether an agent may do something. Escape and Ctrl+C
// cancel the turn, at a question as elsewhere in it.
func (t *talk) asker(c *console) func(context.Context, team.Member, agent.Permission) bool {
	return func(ctx context.Context, m team.Member, asked agent.Permission) bool {
		t.screen.endLine()
		allowed := c.ask(ctx, askLeaveText(m.DisplayName, asked))
		if ctx.Err() == nil {
			t.screen.goOn(thinkingText(m.DisplayName))
		}
		return allowed
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
		t.app.notice(typedInChat(explain(err)))
	}
}

// refuse says why a line was not obeyed.
func (t *talk) refuse(format string, args ...any) {
	t.failed = true
	t.app.notice(fmt.Sprintf(format, args...))
}

// end ends the conversation, saved, and says how to go on with it.
func (t *talk) end(reason string) error {
	t.screen.endLine()
	session := t.c.Session()
	err := t.c.Stop(reason)
	if err == nil && session != nil && session.Stats.Messages > 0 && !t.screen.json && !t.noSave {
		t.app.notice(resumeCommandText(t.howToResume(session.ID)))
	}
	return err
}

// howToResume names the session as it has to be named from elsewhere.
func (t *talk) howToResume(id string) string {
	how := "--resume " + id
	if t.sessionFile != "" {
		how = "--session-file " + hint.Quote(t.sessionFile)
	}
	return how
}

func (t *talk) close(reason string, err error) error {
	stopErr := t.end(reason)
	t.tidying.end()
	switch {
	case err != nil:
		return err
	case stopErr != nil, t.failed && t.scripted:
		return &exitError{code: exitFailed} // it has been said
	}
	return nil
}
