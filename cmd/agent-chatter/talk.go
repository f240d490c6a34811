package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/agent-chatter/agent-chatter/coordinator"
)

// talk is a chat line by line: from flags, from a pipe, or from a person.
type talk struct {
	app      *app
	screen   *screen
	c        *coordinator.Coordinator
	messages []string // said instead of reading lines
	scripted bool     // nobody sits there: a failed turn is a failure of the program

	lines  <-chan string
	ended  <-chan error // why there are no more lines
	failed bool         // a turn did not end well
}

// errEnd ends a chat in order.
var errEnd = errors.New("the conversation is over")

func (t *talk) run() error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	t.open()
	t.greet()
	reason, err := t.loop(signals)
	return t.close(reason, err)
}

// open starts to read lines, or gives out the messages of the command line.
func (t *talk) open() {
	lines, ended := make(chan string), make(chan error, 1)
	t.lines, t.ended = lines, ended
	if len(t.messages) > 0 {
		go func() {
			defer close(lines)
			for _, m := range t.messages {
				lines <- m
			}
		}()
		return
	}
	go readLines(t.app.stdin, lines, ended)
}

func readLines(r io.Reader, lines chan<- string, ended chan<- error) {
	defer close(lines)
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			lines <- strings.TrimRight(line, "\r\n")
		}
		if err != nil {
			if err != io.EOF {
				ended <- err
			}
			return
		}
	}
}

// greet shows somebody who resumes where the conversation stands.
func (t *talk) greet() {
	session := t.c.Session()
	if session == nil {
		if !t.scripted {
			t.app.notice(fmt.Sprintf("You talk to the team %s: %s. /help shows what you can type.", safeLine(t.c.Team().DisplayName), memberNames(t.c.Team())))
		}
		return
	}
	t.app.notice(safeLine(session.Title))
	if t.screen.json || !t.screen.terminal {
		return
	}
	for _, entry := range history(session) {
		t.screen.show(entry.Message, false)
	}
	for _, open := range session.OpenTurns {
		t.app.notice(fmt.Sprintf("%s was interrupted in its last turn.", safeLine(open.MemberID)))
	}
}

// loop says line after line until there are no more, and returns why.
func (t *talk) loop(signals <-chan os.Signal) (reason string, err error) {
	for !t.screen.endOfRun {
		t.prompt()
		select {
		case <-signals:
			return "signal", nil
		case line, ok := <-t.lines:
			if !ok {
				return "end of input", t.readError()
			}
			switch err := t.handle(line, signals); {
			case errors.Is(err, errEnd):
				return "end", nil
			case err != nil:
				return "interrupted", err
			}
		}
	}
	return "rounds", nil
}

func (t *talk) readError() error {
	select {
	case err := <-t.ended:
		return fmt.Errorf("standard input: %w", err)
	default:
		return nil
	}
}

func (t *talk) prompt() {
	if t.scripted {
		return
	}
	if t.screen.unsaved {
		t.app.notice("This conversation is not being saved. The next message tries again.")
	}
	name := "you"
	if m, ok := t.c.Team().Member(t.c.Waiting()); ok {
		name = m.Name
	}
	fmt.Fprintf(t.app.stdout, "%s> ", safeLine(name))
}

// handle obeys one line: a command, or a message.
func (t *talk) handle(line string, signals <-chan os.Signal) error {
	if strings.TrimSpace(line) == "" && len(t.messages) == 0 {
		return nil
	}
	if strings.HasPrefix(line, "//") {
		return t.say(line[1:], signals)
	}
	if strings.HasPrefix(line, "/") {
		return t.command(line)
	}
	return t.say(line, signals)
}

// command obeys a line that starts with a slash.
func (t *talk) command(line string) error {
	switch name := strings.Fields(line)[0]; name {
	case "/help":
		fmt.Fprintln(t.app.stderr, chatHelp)
		return nil
	case "/end", "/exit", "/quit":
		return errEnd
	default:
		t.failed = true
		t.app.notice(fmt.Sprintf("There is no command %s; nothing was sent. /help shows those there are; a message that starts with / is typed with two: /%s", safeLine(name), safeLine(line)))
		return nil
	}
}

const chatHelp = `What you type is said to the team. To say who answers, write [NEXT: name].
  /help               this
  /end, /exit, /quit  end the conversation; it is saved
  //…                 a message that starts with /`

// say says a text, and cancels the turns that follow when a signal comes.
func (t *talk) say(text string, signals <-chan os.Signal) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	done := make(chan struct{})
	interrupted := make(chan bool, 1)
	go func() {
		select {
		case <-signals:
			interrupted <- true
			cancel(errors.New("interrupted"))
		case <-done:
			interrupted <- false
		}
	}()
	err := t.c.Say(ctx, text)
	close(done)
	if <-interrupted {
		return &exitError{code: exitInterrupted}
	}
	return t.judge(err)
}

// judge decides what an error of Say means for the chat.
func (t *talk) judge(err error) error {
	if err == nil {
		return nil
	}
	t.failed = true
	var turn *coordinator.TurnError
	if !errors.As(err, &turn) { // a turn that failed has been said
		t.app.notice(explain(err))
	}
	return nil
}

// close ends the conversation and says how to go on with it.
func (t *talk) close(reason string, err error) error {
	t.screen.endLine()
	session := t.c.Session()
	stopErr := t.c.Stop(reason)
	if session != nil && session.Stats.Messages > 0 && !t.screen.json {
		if stopErr == nil {
			t.app.notice(fmt.Sprintf("To go on: agent-chatter chat --resume %s", session.ID))
		}
	}
	switch {
	case err != nil:
		return err
	case stopErr != nil:
		return &exitError{code: exitFailed} // it has been said
	case t.failed && t.scripted:
		return &exitError{code: exitFailed}
	}
	return nil
}
