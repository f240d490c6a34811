package console

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
)

// read handles the events of the terminal until it has gone away.
func (c *Console) read() {
	events := c.terminal.Events()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				c.mu.Lock()
				c.end()
				c.mu.Unlock()
				return
			}
			if e, ok = c.bound(e); ok {
				c.handle(e, events)
			}
		case <-c.stop:
			return
		}
	}
}

// bound returns the event that a key stands for; ok is false if it has no effect.
func (c *Console) bound(e tty.Event) (effect tty.Event, ok bool) {
	if k, isKey := e.(tty.Key); isKey {
		return c.o.Keys.Of(k)
	}
	return e, true
}

// handle handles an event. Keys that type text, and have arrived already, are handled at once.
func (c *Console) handle(e tty.Event, events <-chan tty.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer notify(c.drawNow)
	c.attention.see(e, time.Now())
	switch e := e.(type) {
	case tty.Resize:
		c.resized = time.Now()
	case tty.Focus:
		return
	case tty.Background:
		if e.Light {
			c.app.SetLight()
			c.model.Style.Profile = view.ProfileOf(c.app)
		}
		return
	default:
		c.output = time.Time{}
	}
	for {
		k, ok := e.(tty.Key)
		if !ok || !k.IsText() || c.model.modal() || c.model.panelChooses() {
			c.update(e)
			return
		}
		typed := []rune{rune(k.Code)}
		var next tty.Event
		for next == nil && len(events) > 0 {
			bound, ok := c.bound(<-events)
			if !ok {
				continue
			}
			next = bound
			if k, isKey := next.(tty.Key); isKey && k.IsText() {
				typed, next = append(typed, rune(k.Code)), nil
			}
		}
		c.model.Type(string(typed))
		if next == nil {
			return
		}
		e = next
	}
}

// update does what an event causes. The lock is held.
func (c *Console) update(e tty.Event) {
	if p, ok := e.(tty.Paste); ok && p.Dropped > 0 {
		c.print([]string{droppedText(p.Dropped)})
	}
	switch effect, text := c.model.Update(e); effect {
	case Sent:
		c.enter(tty.Line{Text: text})
	case Cancel:
		c.stopShown()
	case End:
		c.leave()
	case Chosen:
		c.choose(text)
	case Clear:
		c.later(c.screen.Clear)
	case Suspend:
		c.later(func() { _ = c.terminal.Suspend() })
	case Extern:
		c.later(c.editExternally)
	case Output:
		c.showCalls()
	case Find:
		c.find()
	case TakeBack:
		c.takeBack()
	case PastePicture:
		c.pastePicture()
	}
}

// pastePicture pastes how the input box shows the picture of the clipboard, which may take seconds.
func (c *Console) pastePicture() {
	if c.o.Clipboard == nil {
		return
	}
	go func() {
		label, err := c.o.Clipboard(context.Background())
		if err != nil {
			c.Print(tty.SafeLine(err.Error()))
			return
		}
		c.Change(func(m *Model) {
			m.Editor.Paste(label + " ")
			m.complete()
		})
	}()
}

// takeBack makes what was queued last text to edit, unless the agent takes it.
func (c *Console) takeBack() {
	last := len(c.model.Queued) - 1
	if last < 0 {
		c.takeSharedBack()
		return
	}
	if last == 0 && c.steering {
		c.takesBack = true
		return
	}
	line := c.model.Queued[last]
	c.model.Queued = c.model.Queued[:last]
	c.model.Return([]string{line.Text})
}

// later runs a function on the goroutine that draws, unless another one waits there.
func (c *Console) later(do func()) {
	select {
	case c.tasks <- do:
	default:
	}
}

// enter queues what was entered, or answers a command that changes nothing.
func (c *Console) enter(line tty.Line) {
	if c.escape != nil && c.o.ReadOnly(line.Text) {
		c.running.Go(func() { c.o.Run(line.Text) })
		return
	}
	if c.model.Prompt != "" || c.model.asks && line.Device == "" { // Next returns it
		c.model.Prompt, c.model.sends = "", true
	}
	c.model.Queued = append(c.model.Queued, line)
	c.giveNext()
	notify(c.entered)
}

// giveNext gives the first message that is queued to the agent that works, and then the next. The lock is held.
func (c *Console) giveNext() {
	if c.steer == nil || c.steering || c.cancelled || len(c.model.Queued) == 0 || c.model.Queued[0].Text == endOfInput {
		return
	}
	c.steering = true
	first, steer := c.model.Queued[0], c.steer
	c.running.Go(func() {
		taken := steer(first)
		c.mu.Lock()
		defer c.mu.Unlock()
		takesBack := c.takesBack
		c.steering, c.takesBack = false, false
		c.steered.Broadcast()
		switch {
		case taken:
			c.model.Queued = c.model.Queued[1:]
			c.giveNext()
		case takesBack:
			c.takeBack()
		case c.cancelled:
			c.returnQueued()
		}
		notify(c.drawNow)
	})
}

// stopShown stops the turn of a panel that is shown; soon after that, or if no other runs, all turns.
func (c *Console) stopShown() {
	switch shown := c.model.Panel.shown(); {
	case !c.model.Status.Escape:
	case shown == nil, c.model.stops, c.model.Panel.running() == 1:
		c.cancel()
	default:
		c.cancelTurn(shown.member)
	}
}

// cancelTurn cancels the turn of a member.
func (c *Console) cancelTurn(member string) {
	if c.escape == nil {
		return
	}
	c.model.stops = true
	time.AfterFunc(leaveTime, func() { c.Change(func(m *Model) { m.stops = false }) })
	c.escape(member)
}

// leave is Ctrl+C without text: it cancels the turn, and leaves when it is pressed once more.
func (c *Console) leave() {
	switch {
	case c.escape != nil && !c.cancelled:
		c.cancel()
	case c.interrupt != nil:
		c.interrupt()
	case c.model.leaves:
		c.end()
	default:
		c.model.leaves = true
		time.AfterFunc(leaveTime, func() { c.Change(func(m *Model) { m.leaves = false }) })
	}
}

// cancel interrupts the agents, and nothing that was queued is sent.
func (c *Console) cancel() {
	if c.escape == nil {
		return
	}
	c.cancelled = true
	c.drawn.Broadcast()
	c.returnQueued()
	c.escape("")
}

// returnQueued makes what is queued text to edit, but for what the agent may have taken.
func (c *Console) returnQueued() {
	kept := 0
	if c.steering {
		kept = 1
	}
	var typed []string
	var others []tty.Line
	for _, line := range c.model.Queued[min(kept, len(c.model.Queued)):] {
		if line.Device != "" {
			others = append(others, line)
		} else {
			typed = append(typed, line.Text)
		}
	}
	c.model.Queued = c.model.Queued[:min(kept, len(c.model.Queued))]
	if len(typed) > 0 {
		c.model.Return(typed)
	}
	if len(others) > 0 {
		c.o.Return(others)
	}
}

// choose answers the question. Escape cancels the turn that asks.
func (c *Console) choose(answer string) {
	if answer == string(rune(tty.KeyEscape)) && c.escape != nil {
		switch member := c.model.Question.Member; {
		case !c.model.Status.Escape:
		case member != "" && c.model.Panel.running() > 1:
			c.cancelTurn(member)
		default:
			c.cancel()
		}
		return
	}
	c.model.Question = nil // the next key is no answer
	select {
	case c.answers <- answer:
	default:
	}
}

// end ends the input. The lock is held.
func (c *Console) end() {
	c.ended = true
	c.drawn.Broadcast()
	notify(c.entered)
	if c.interrupt != nil {
		c.interrupt()
	}
	select {
	case c.answers <- "":
	default:
	}
}

// drawFrames draws until Close: at once after a key and when the user is next, otherwise at most every frameInterval.
func (c *Console) drawFrames() {
	defer close(c.stopped)
	spin := time.NewTicker(spinnerInterval)
	defer spin.Stop()
	for {
		select {
		case <-c.stop:
			return
		case do := <-c.tasks:
			do()
		case <-c.drawNow:
		case <-c.redraw:
			select {
			case <-time.After(frameInterval):
			case <-c.drawNow:
			case <-c.stop:
				return
			}
		case <-spin.C:
			c.mu.Lock()
			spins := c.model.Status.spins() || c.model.Panel.running() > 0 || c.model.Parked
			c.mu.Unlock()
			if !spins {
				continue
			}
		}
		c.frame()
	}
}

// frame draws a frame.
func (c *Console) frame() {
	c.reportQueue()
	columns, rows := c.screen.Size()
	c.mu.Lock()
	if c.model.whole() { // what is printed waits
		shown := c.model.wholeRows(columns, rows)
		c.mu.Unlock()
		_ = c.screen.Page(shown)
		return
	}
	done := c.done
	if c.dropped > 0 {
		done = append(done, missingText(c.dropped))
	}
	c.done, c.dropped, c.stalled = nil, 0, false
	if !c.holds {
		c.pending = 0
	}
	if c.model.Question != nil {
		c.model.Question.unseen = false
	}
	early, held := c.model.Held(columns, rows)
	if said := slices.Concat(early, held); c.printed && len(said) > 0 && said[0] != "" {
		done, c.printed = append(done, ""), false
	}
	done = append(done, early...)
	if c.line != "" {
		held = append(held, c.line)
	}
	now := time.Now()
	if said := strings.Join(held, "\n"); len(done) > 0 || said != c.held {
		c.held, c.output = said, now
	}
	c.model.Parked = now.Sub(c.resized) < quietTime || now.Sub(c.output) < quietTime
	live, caret := c.model.Live(columns, rows, held, now)
	report := c.report(now)
	c.drawn.Broadcast()
	c.mu.Unlock()
	_ = c.screen.Draw(done, live, caret) // an error is one of the next read, too
	if report != nil {
		report()
	}
}

// find searches for the text of the open Search. The lock is held.
func (c *Console) find() {
	s := c.model.Search
	if c.stopFind != nil {
		c.stopFind()
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stopFind, s.Running = stop, true
	text := s.Text
	go func() {
		defer stop()
		found := c.o.Find(ctx, text)
		c.Change(func(*Model) {
			if ctx.Err() == nil && s.Text == text {
				s.Found, s.Running = found, false
			}
		})
	}()
}
