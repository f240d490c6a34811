package acp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// An inbox takes what is entered in other front ends of a session. It implements live.Inbox.
type inbox struct{ *session }

// share lets other front ends take part in the session once it has events.
func (o *session) share() {
	o.live = live.New(inbox{o})
	o.queue = live.NewQueue(o.queueChanged, o.live.Return)
	o.app.Heard = func(m app.Message) {
		if m.Text != "" {
			o.live.Notice(o.app.Render(m))
		}
	}
}

// conversation returns the conversation of a session that is open, as catalog.Key.Name names it; nil: none is.
func (s *server) conversation(name string) *live.Conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.sessions {
		if key := o.key.Load(); key != nil && key.Name() == name {
			return o.live
		}
	}
	return nil
}

// setKey makes the session one that other front ends find. It has events.
func (o *session) setKey() {
	key := catalog.Key{Dir: o.app.Catalog.Team(o.c.Team().ID).Journals().Path(), ID: o.id}
	o.key.Store(&key)
	o.live.Set(func(s *live.State) { s.Session = key.Name() })
	o.server.others.Start()
}

// Enter implements live.Inbox.
func (o inbox) Enter(in live.Input) error {
	if err := permit(in.Role, in.Text, o.ownCommands()); err != nil {
		return err
	}
	if o.isEnding() {
		return live.ErrEnded
	}
	line, err := in.Line(&o.pasted)
	if err != nil {
		return err
	}
	return o.queue.Enter(line)
}

// permit returns an error unless a front end with a role may enter a text; own are the person's own commands. What
// looks like a command and is none, such as one that only a chat has, is no message: agents would act on it.
func permit(role web.Role, text string, own []host.OwnCommand) error {
	name, args := splitCommand(text)
	if !strings.HasPrefix(name, "/") {
		return nil
	}
	isOwn := slices.ContainsFunc(own, func(c host.OwnCommand) bool { return c.Name == name })
	switch {
	case commandOf(name) != nil || isOwn:
		return live.Permit(role, name, isOwn, args)
	case strings.Contains(name[1:], "/"): // a path
		return nil
	}
	return errors.New(noCommandText(name))
}

func noCommandText(name string) string {
	return fmt.Sprintf("%.40s is no command of a session in an editor; nothing was sent. Type / to see the commands, "+
		"or begin the message with another character", tty.SafeLine(name))
}

// TakeBack implements live.Inbox.
func (o inbox) TakeBack(id string) (text string, ok bool) {
	line, ok := o.queue.TakeBack(id)
	return line.Text, ok
}

// Cancel implements live.Inbox.
func (o inbox) Cancel(member string) {
	if member != "" {
		o.c.CancelTurn(member)
		return
	}
	o.cancel(errStopped)
}

// errStopped is the cause of turns that another front end has cancelled. The client does not know that they are.
var errStopped = errors.New("another front end canceled it")

// Complete implements live.Inbox.
func (o inbox) Complete(role web.Role, text string) live.Completion {
	var known editor.Sources
	for _, c := range commands() {
		known.Commands = append(known.Commands, editor.Choice{Text: "/" + c.name, Help: c.description})
	}
	own := o.ownCommands()
	for _, c := range own {
		known.Commands = append(known.Commands, editor.Choice{Text: c.Name, Help: c.Description})
	}
	o.mu.Lock()
	known.Members = live.Members(o.team)
	o.mu.Unlock()
	return live.Complete(known, text, func(command string) bool { return permit(role, command, own) == nil })
}

// queueChanged shows what is queued, and sends it when no prompt runs.
func (o *session) queueChanged() {
	o.live.ShowQueue(o.queue.Queued)
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue.Queued()) > 0 && !o.sending {
		o.sending = true
		go o.sendQueued()
	}
}

// sendQueued sends what is queued until nothing is.
func (o *session) sendQueued() {
	for {
		o.turn.Lock()
		o.mu.Lock()
		more := len(o.queue.Queued()) > 0
		o.sending = more
		o.mu.Unlock()
		if more {
			o.sendNext()
		}
		o.turn.Unlock() // for a prompt of the client that waits
		if !more {
			return
		}
	}
}

// sendNext sends the first line that is queued, if there is one. The caller holds the turn lock.
func (o *session) sendNext() {
	if o.closed || o.isEnding() {
		o.cancel(errEnded)
		return
	}
	line, err := o.queue.Next(closed)
	if err != nil {
		return // it was taken back
	}
	files := o.pasted.Files(line.Text)
	o.pasted.Forget(line.Text)
	message := promptMessage{Text: line.Text, Files: files}
	_, err = o.run(context.Background(), message, live.DeviceOf(line))
	if err != nil && !errors.As(err, new(*coordinator.TurnError)) { // that was said
		o.app.Show(app.Explain(err))
	}
}

// closed is a channel that is closed.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// steer gives a message of another front end to the agent that works, and returns false if it has to wait.
func (o *session) steer(line tty.Line) bool {
	if command, _ := splitCommand(line.Text); strings.HasPrefix(command, "/") || len(o.pasted.Files(line.Text)) > 0 {
		return false
	}
	return o.c.SteerOn(live.DeviceOf(line), "", line.Text)
}

// cancel cancels the turns that run, if any do. What is queued is returned.
func (o *session) cancel(cause error) {
	o.queue.Cancel()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cancelTurns != nil {
		o.cancelTurns(cause)
	}
}

// splitCommand divides a text after its first word, which names a command if it begins with a slash.
func splitCommand(text string) (name, args string) {
	line := strings.TrimSpace(text)
	name = line[:strings.IndexFunc(line+" ", unicode.IsSpace)]
	return name, strings.TrimSpace(line[len(name):])
}

// askEverywhere asks a question in the client and the other front ends. The first answer counts. If the agent does not
// take the reason of a refusal, that is queued as a message.
func (l *listener) askEverywhere(
	ctx context.Context, q coordinator.Question, here func(context.Context) coordinator.Answer,
) coordinator.Answer {
	answer, other := l.session.live.AskAlso(ctx, q, here)
	if other != nil {
		l.session.app.Notice(host.AnsweredOnText(q.Member.DisplayName, other.By, answer.Decision))
		if answer.Reason != "" && !q.Permission.TakesReason {
			text := host.RefusalText(q.Member.Name, q.Permission, answer.Reason)
			if err := l.session.queue.Enter(tty.Line{Text: text, Device: other.By}); err != nil {
				l.session.app.Show(app.Explain(err))
			}
		}
	}
	return answer
}
