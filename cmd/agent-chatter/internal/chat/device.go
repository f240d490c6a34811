package chat

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live/remote"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator"
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
	if !ok {
		return errNoSource
	}
	if err := mayEnter(in.Role, in.Text); err != nil && !(r.hosted && in.Role == web.RoleAll && leaves(in.Text)) {
		return err
	}
	line, err := in.Line(&r.pasted)
	if err != nil {
		return err
	}
	return source.Enter(line)
}

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
func (r inbox) Complete(role web.Role, text string) live.Completion {
	known := r.completes.Load()
	if known == nil {
		known = &editor.Sources{}
	}
	return live.Complete(*known, text, func(command string) bool { return mayEnter(role, command) == nil })
}

// mayEnter returns an error unless a device with a role may enter a text.
func mayEnter(role web.Role, text string) error {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return nil
	}
	command, name, args := parseSlash(text)
	if command != nil {
		name = command.name
	}
	return live.Permit(role, name, command == nil, args)
}

// noKeys reports whether no key can be asked for: no user is present, or the line that runs is of another device.
func (r *repl) noKeys() bool { return r.scripted || r.hosted || r.device != "" }

// share lets other devices take part in the conversation. The host is nil for that of a terminal.
func (r *repl) share(h *Host) {
	r.live = live.New(inbox{r})
	r.listener = remote.NewServer(r.app.Home, r.app.Log, r.conversation)
	if h != nil {
		r.listener = h.others
	}
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
	r.live.ShowNext(r.c, person)
	if person {
		known := r.listed()
		known.Members = live.Members(r.c.Team())
		r.completes.Store(&known)
	}
}

// showQueue shows other devices the lines that are queued.
func (r *repl) showQueue(lines func() []tty.Line) {
	if r.live != nil {
		r.live.ShowQueue(lines)
	}
}

// askEverywhere asks a question here and on the other devices. The first answer counts. The context that here gets is
// done when a device has answered.
func (r *repl) askEverywhere(
	ctx context.Context, q coordinator.Question, here func(context.Context) coordinator.Answer,
) coordinator.Answer {
	if r.live == nil {
		return here(ctx)
	}
	answer, other := r.live.AskAlso(ctx, q, here)
	if other != nil {
		r.app.Notice(host.AnsweredOnText(q.Member.DisplayName, other.By, other.Decision))
		r.noteRefusal(q, other.Reason, other.By)
	}
	return answer
}

// hostedLines are the lines of a conversation without a terminal: they are entered on other devices.
type hostedLines struct {
	*live.Queue
	run func(line string) // answers a command that changes nothing, while a turn runs

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
		h.Queue.Cancel()
	}
	h.cancel(member)
}
