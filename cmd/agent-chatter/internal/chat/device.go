package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A deviceSource is a lineSource that takes lines of other devices, too.
type deviceSource interface {
	lineSource
	Enter(line tty.Line) error
	TakeBack(id string) (tty.Line, bool)
	Cancel(member string)
}

// An inbox takes what is entered on other devices. It implements live.Inbox.
type inbox struct{ *repl }

// errNoSource is the error of a conversation that takes lines only from its terminal.
var errNoSource = errors.New("the terminal of this conversation has no input box; it takes no lines of other devices")

// Enter implements live.Inbox.
func (r inbox) Enter(in live.Input) error {
	source, ok := r.input.(deviceSource)
	switch {
	case !ok:
		return errNoSource
	case len(in.Text) > maxEnteredText:
		return errors.New("the message is too long: attach what is in a file with @PATH")
	case strings.TrimSpace(in.Text) == "" && len(in.Files) == 0:
		return errors.New("the message is empty")
	case live.HasControl(in.Text):
		return errors.New("the message has control characters")
	}
	if err := mayEnter(in.Role, in.Text); err != nil && !(r.hosted && in.Role == web.RoleAll && leaves(in.Text)) {
		return err
	}
	text := in.Text
	for _, f := range in.Files {
		label, ok := r.pasted.Add(f.Name, f.Data)
		if !ok {
			return errors.New("an attached file is no picture that agents take")
		}
		text = strings.TrimSpace(label + " " + text)
	}
	return source.Enter(tty.Line{ID: in.ID, Text: text, Device: in.From, Role: string(in.Role)})
}

// maxEnteredText is how long what another device enters may be, in bytes: all devices are shown it while it waits.
const maxEnteredText = 1 << 20

// TakeBack implements live.Inbox.
func (r inbox) TakeBack(id string) (text string, ok bool) {
	source, ok := r.input.(deviceSource)
	if !ok {
		return "", false
	}
	line, ok := source.TakeBack(id)
	return line.Text, ok
}

// Cancel implements live.Inbox.
func (r inbox) Cancel(member string) {
	if source, ok := r.input.(deviceSource); ok {
		source.Cancel(member)
	}
}

// Complete implements live.Inbox.
func (r inbox) Complete(role web.Role, text string) (c live.Completion) {
	c.Choices = []live.Choice{}
	known := r.completes.Load()
	if known == nil || len(text) > maxCompleted {
		return c
	}
	own := *known
	own.Commands = slices.DeleteFunc(slices.Clone(own.Commands), func(c editor.Choice) bool {
		return mayEnter(role, c.Text) != nil
	})
	line := text[strings.LastIndexByte(text, '\n')+1:]
	choices, word := editor.Complete(line, line == text, own)
	c.From = len(text) - word
	for _, choice := range choices {
		c.Choices = append(c.Choices, live.Choice{Insert: choice.Text, Help: choice.Help})
	}
	return c
}

// maxCompleted is how long a text may be that is completed, in bytes.
const maxCompleted = 64 << 10

// deviceCommands are the commands that another device may enter, with the role that it needs. The others need the
// terminal: they write files, start programs that were not asked for, or show something on it.
var deviceCommands = map[string]web.Role{
	"/help": web.RoleAnswer, "/status": web.RoleAnswer, "/members": web.RoleAnswer, "/queue": web.RoleAnswer,
	"/context": web.RoleAnswer, "/usage": web.RoleAnswer, "/cancel": web.RoleAnswer, "/retry": web.RoleAnswer,
	"/model": web.RoleAll, "/permissions": web.RoleAll, "/compact": web.RoleAll, "/save": web.RoleAll,
	"/task": web.RoleAll, "/pin": web.RoleAll, "/unpin": web.RoleAll, "/rename": web.RoleAll,
	"/budget": web.RoleAll, "/files": web.RoleAll, "/rewind": web.RoleAll, "/fork": web.RoleAll, "/remove": web.RoleAll,
}

// mayEnter returns an error unless a device with a role may enter a text.
func mayEnter(role web.Role, text string) error {
	if role != web.RoleAnswer && role != web.RoleAll {
		return errors.New("this device may only read")
	}
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return nil
	}
	command, name, args := parseSlash(text)
	if command == nil {
		if role == web.RoleAll {
			return nil // an own command, or one that is unknown
		}
		return errors.New(notOnDeviceText(name))
	}
	needs, ok := deviceCommands[command.name]
	values := strings.Fields(args)
	switch {
	case !ok, needs == web.RoleAll && role != web.RoleAll:
		return errors.New(notOnDeviceText(command.name))
	case command.name == "/budget" && args != "": // a limit is for those who pay
		return errors.New(notOnDeviceText(command.name + " " + args))
	case command.name == "/permissions" && len(values) > 0 && widens(values):
		return errors.New(notOnDeviceText(command.name + " " + values[len(values)-1]))
	}
	return nil
}

// widens reports whether the arguments of /permissions let an agent do more than to ask. One word is the only agent, or
// a value for it: host.Members checks one that is not known here.
func widens(values []string) bool {
	value := values[len(values)-1]
	return agent.Permits(value) > agent.Permits(agent.Ask) &&
		(len(values) > 1 || slices.Contains(agent.Policies, value))
}

// notOnDeviceText is for a command that a device may not enter.
func notOnDeviceText(command string) string {
	return tty.SafeLine(command) + " cannot be entered here: it takes the terminal on which the conversation runs"
}

// noKeys reports whether no key can be asked for: no user is present, or the line that runs is of another device.
func (r *repl) noKeys() bool { return r.scripted || r.hosted || r.device != "" }

// share lets other devices take part in the conversation.
func (r *repl) share() {
	r.live = live.New(inbox{r})
	r.listed = sync.OnceValue(func() editor.Sources {
		known := sources(r.app, func() {})
		known.Files = nil // it is used by several goroutines
		return known
	})
	r.app.Heard = func(m app.Message) {
		if m.Text != "" {
			text := r.app.Render(m)
			r.heard.Store(text)
			r.live.Notice(text)
		}
	}
}

// conversation returns the conversation if it is that of a session; otherwise nil.
func (r *repl) conversation(session string) *live.Conversation {
	if own := r.own.Load(); own != nil && own.Name() == session {
		return r.live
	}
	return nil
}

// showLive shows other devices whether a person is next, and who is queued.
func (r *repl) showLive(person bool) {
	if r.live == nil {
		return
	}
	var people []string
	for _, m := range r.c.Team().Members {
		if waiting := r.c.Status().Waiting; person && m.Type == team.Human && (waiting == "" || waiting == m.ID) {
			people = append(people, m.DisplayName)
		}
	}
	next := r.queuedNames()
	r.live.Set(func(s *live.State) { s.Waiting, s.Next = people, next })
	if person {
		known := r.listed()
		known.Members = members(r.c.Team())
		r.completes.Store(&known)
	}
}

// maxSent is how many inputs other devices learn of that were sent.
const maxSent = 100

// queuedNames returns the names of the members that are queued.
func (r *repl) queuedNames() (names []string) {
	for _, q := range r.c.Queued() {
		names = append(names, q.Member.DisplayName)
	}
	return names
}

// queuedOf describes lines for other devices.
func queuedOf(lines []tty.Line) (queued []live.Queued) {
	for _, l := range lines {
		queued = append(queued, live.Queued{ID: l.ID, Text: l.Text, From: l.Device})
	}
	return queued
}

// shownQueued is how much of a queued line other devices show, in bytes. They get it with each change.
const shownQueued = 2 << 10

// showQueue shows other devices the lines that are queued.
func (r *repl) showQueue(lines []tty.Line) {
	if r.live == nil {
		return
	}
	queue := queuedOf(lines)
	for i, q := range queue {
		if len(q.Text) > shownQueued {
			queue[i].Text = runecut.Prefix(q.Text, shownQueued) + "…"
		}
	}
	r.live.Set(func(s *live.State) { s.Queue = queue })
}

// deviceOf returns the device on which a line was entered.
func deviceOf(l tty.Line) coordinator.Device {
	return coordinator.Device{Name: l.Device, InputID: l.ID}
}

// returnLines gives other devices back what was queued for a turn that was cancelled.
func (r *repl) returnLines(lines []tty.Line) { r.live.Return(queuedOf(lines)) }

// followLive shows other devices what an event changes.
func (r *repl) followLive(e coordinator.Event) {
	if r.live == nil {
		return
	}
	r.live.Event(e.Seq)
	if p, ok := e.Payload.(projection.TurnEnded); ok {
		r.live.EndTurn(p.TurnID)
	}
	next := r.queuedNames()
	r.live.Set(func(s *live.State) {
		s.Next = next
		switch p := e.Payload.(type) {
		case projection.TurnStarted:
			s.Speaking = append(s.Speaking, live.Speaking{
				Turn: p.TurnID, Member: p.MemberID, Name: r.display.DisplayName(p.MemberID), Since: e.Time,
			})
		case projection.InputReceived:
			if p.InputID != "" {
				s.Sent = append(s.Sent, p.InputID)
				s.Sent = s.Sent[max(0, len(s.Sent)-maxSent):]
			}
		case projection.TurnEnded:
			s.Speaking = slices.DeleteFunc(s.Speaking, func(t live.Speaking) bool { return t.Turn == p.TurnID })
		}
	})
}

// askEverywhere asks a question here and on the other devices. The first answer counts. The context that here gets is
// done when a device has answered.
func (r *repl) askEverywhere(
	ctx context.Context, q coordinator.Question, here func(context.Context) coordinator.Answer,
) coordinator.Answer {
	if r.live == nil {
		return here(ctx)
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	open := r.live.Ask(q)
	go func() {
		if _, ok := open.Wait(asking); ok {
			stop()
		}
	}()
	answer := here(asking)
	if other, ok := open.Close(); ok {
		other.Answer.Device = other.By
		r.app.Notice(answeredOnText(q.Member.DisplayName, other))
		r.noteRefusal(q, other.Reason, other.By)
		return other.Answer
	}
	return answer
}

// answeredOnText says which device has answered a question of a member.
func answeredOnText(member string, a live.Answer) string {
	return fmt.Sprintf("%s was answered on %s: %s",
		tty.SafeLine(member), tty.SafeLine(a.By), strings.TrimSpace(answeredText(a.Decision)))
}

// hostedLines are the lines of a conversation without a terminal: they are entered on other devices.
type hostedLines struct {
	*live.Queue
	returned func([]tty.Line)  // takes what was queued for a turn that was cancelled
	run      func(line string) // answers a command that changes nothing, while a turn runs

	mu      sync.Mutex
	cancel  func(member string) // of Watch; nil: no turn runs
	running sync.WaitGroup      // commands
}

// Enter implements deviceSource.
func (h *hostedLines) Enter(line tty.Line) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cancel == nil || !readOnly(line.Text) {
		return h.Queue.Enter(line)
	}
	h.running.Go(func() { h.run(line.Text) })
	return nil
}

// Next implements lineSource.
func (h *hostedLines) Next(_ string, quit <-chan struct{}) (tty.Line, error) {
	return h.Queue.Next(quit)
}

// Watch implements lineSource. There are no keys.
func (h *hostedLines) Watch(onCancel func(string), _ func(), steer func(tty.Line) bool) func() {
	h.setCancel(onCancel)
	stop := h.Queue.Watch(steer)
	return func() {
		h.setCancel(nil)
		stop()
		h.running.Wait()
	}
}

func (h *hostedLines) setCancel(cancel func(string)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cancel = cancel
}

// Cancel implements deviceSource.
func (h *hostedLines) Cancel(member string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cancel == nil {
		return
	}
	if member == "" {
		h.returned(h.Queue.Cancel())
	}
	h.cancel(member)
}
