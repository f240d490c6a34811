package console

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/keys"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
)

// errInterrupted reports that Ctrl+C, Ctrl+D or the end of the terminal ended the input.
var errInterrupted = tty.ErrInterrupted

const (
	// frameInterval is the least time between frames that need not be drawn at once.
	frameInterval = 16 * time.Millisecond
	// maxPending is how many bytes wait to be drawn before what prints them waits, too, and maxKept how many there
	// are at most while a terminal that takes no output is not waited for any more.
	maxPending = 1 << 20
	maxKept    = 16 << 20
	// leaveTime is how long another Ctrl+C leaves after the first.
	leaveTime = 2 * time.Second
	// quietTime is how long after output, unless a key is pressed, and after a resize the cursor is parked: while the
	// terminal changes the rows, it is not known where they are.
	quietTime = 250 * time.Millisecond
	// stallTime is how long a terminal that takes no output is waited for. Then agents, and the journal, continue.
	stallTime = 5 * time.Second
)

// Options connect a Console to a conversation.
type Options struct {
	// ReadOnly reports whether a command can be answered while an agent speaks; Run answers it, on a goroutine of its
	// own.
	ReadOnly func(command string) bool
	Run      func(command string)
	// Find returns earlier messages of people that contain a text, the newest first.
	Find func(ctx context.Context, text string) []string
	// Calls yields the tool calls that began before an event, 0 being the end of the session, the newest first: batches
	// in the order of the session, and each before the last one. nil: there are none but those of the transcript.
	Calls func(ctx context.Context, before uint64) iter.Seq2[[]view.Call, error]
	Keys  keys.Bindings
	// Notify are the ways to report a question, or the end of a long turn, while the terminal does not have the focus.
	Notify []home.NotifyWay
	// Desktop runs the platform's program for notifications, without waiting for it.
	Desktop func(text string)
	Lent    *atomic.Int32 // is not 0 while an editor or the browser has the terminal, so that Ctrl+C is for that
	// Clipboard returns how the input box shows the picture of the system's clipboard; nil: it is not read.
	Clipboard func(ctx context.Context) (label string, err error)
	// Queue is called with what is queued after it has changed, and Return with what was entered on other devices for a
	// turn that was cancelled. nil: there are no other devices.
	Queue  func([]tty.Line)
	Return func([]tty.Line)
}

// A Console runs the live region on a terminal. It is a source of lines, and a writer of what is printed above the
// region: whole lines, safe for the terminal.
type Console struct {
	terminal *tty.Terminal // nil: nothing is read
	screen   *tty.Screen
	app      *app.App
	streams  app.IO // of app, before Open
	out      *app.Output
	o        Options

	mu        sync.Mutex
	drawn     *sync.Cond // signals that done was taken, or that nothing waits for it any more
	model     Model
	done      []string            // lines to print
	pending   int                 // their bytes
	dropped   int                 // lines that were to be printed beyond maxKept
	stalled   bool                // the terminal has taken no output for stallTime
	holds     bool                // by Hold
	waiting   []string            // lines that others print meanwhile
	line      string              // output without its newline
	printed   bool                // by Print, since Say
	escape    func(member string) // of Watch; nil: a person is next
	interrupt func()
	steer     func(tty.Line) bool
	queue     []tty.Line         // of the last call of Options.Queue
	held      string             // what was being said in the last frame
	output    time.Time          // when the last frame with new output was drawn; zero: before the last key
	resized   time.Time          // when the terminal was resized last
	steering  bool               // the first of model.Queued is given to the agent
	steered   *sync.Cond         // signals that steering has ended
	takesBack bool               // it is text to edit if the agent does not take it
	cancelled bool               // the turn: printing does not wait
	ended     bool               // the input
	stopFind  context.CancelFunc // of the running search
	attention attention

	stallTime time.Duration

	running sync.WaitGroup // commands
	entered chan struct{}  // something was entered, or the input has ended
	answers chan string
	redraw  chan struct{} // soon
	drawNow chan struct{}
	tasks   chan func() // what the goroutine that draws has to do
	stop    chan struct{}
	stopped chan struct{}
}

// Open takes the terminal of an App and starts to draw. Until Close, what the App prints goes above the live region.
func Open(a *app.App, o Options) (*Console, error) {
	t, err := tty.Open(a.Stdin, a.Stdout.(*app.Output).File)
	if err != nil {
		return nil, err
	}
	screen := tty.NewScreen(t)
	if !a.NoColor && a.Theme() == "" {
		_ = screen.AskBackground() // an error is one of the next frame, too
	}
	c := start(a, t, screen, o)
	go c.read()
	return c, nil
}

// OpenOutput returns the Surface of a conversation without input: a Console that reads nothing if standard output is a
// terminal, else a Printer.
func OpenOutput(a *app.App) (s Surface, closeIt func(context.Context) error) {
	style := view.OutputStyle(a)
	if style.Plain {
		return &Printer{Out: a.Stdout, Model: Model{Style: style}}, func(context.Context) error { return nil }
	}
	c := start(a, nil, tty.NewOutput(a.Stdout.(*app.Output).File), Options{})
	return c, c.Close
}

func start(a *app.App, t *tty.Terminal, screen *tty.Screen, o Options) *Console {
	c := &Console{
		terminal: t, screen: screen, app: a, streams: a.IO, out: a.Stdout.(*app.Output), o: o,
		stallTime: stallTime,
		entered:   make(chan struct{}, 1), answers: make(chan string, 1), redraw: make(chan struct{}, 1),
		drawNow: make(chan struct{}, 1), tasks: make(chan func(), 1),
		stop: make(chan struct{}), stopped: make(chan struct{}),
		model: Model{Style: view.OutputStyle(a), OnlyShows: t == nil},
	}
	c.drawn, c.steered = sync.NewCond(&c.mu), sync.NewCond(&c.mu)
	a.Stdout = c
	if tty.IsTerminal(a.Stderr) {
		a.Stderr = c
	}
	a.HideProgress()
	go c.drawFrames()
	return c
}

// Close draws what is left, removes the live region and gives the terminal back. When ctx is done, it does not wait
// much longer for a terminal that takes no output.
func (c *Console) Close(ctx context.Context) error {
	c.app.IO = c.streams
	close(c.stop)
	closed := make(chan error, 1)
	go func() { closed <- c.finish() }()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-closed:
		return err
	case <-time.After(c.stallTime):
		return ctx.Err()
	}
}

func (c *Console) finish() error {
	<-c.stopped
	c.mu.Lock()
	if c.line != "" {
		c.done, c.line = append(c.done, c.line), ""
	}
	done := append(c.done, c.waiting...)
	c.done, c.waiting = nil, nil
	c.ended = true
	c.drawn.Broadcast()
	c.mu.Unlock()
	if c.terminal == nil {
		return c.screen.Draw(done, nil, nil)
	}
	return errors.Join(c.screen.Draw(append(done, ""), nil, nil), c.terminal.Close())
}

// Change changes the Model.
func (c *Console) Change(change func(*Model)) {
	c.mu.Lock()
	change(&c.model)
	c.mu.Unlock()
	notify(c.redraw)
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Columns returns the width of the terminal.
func (c *Console) Columns() int {
	columns, _ := c.screen.Size()
	return columns
}

// Fd returns the file descriptor of the terminal.
func (c *Console) Fd() uintptr { return c.out.Fd() }

// Print prints lines above the live region. It waits while very much is to be drawn, unless the turn was cancelled or
// the terminal takes no output.
func (c *Console) Print(lines ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.printed = c.printed || len(lines) > 0
	c.print(lines)
	c.wait()
}

// Say implements Surface. It prints with a blank line after what Print has printed, and waits as Print does.
func (c *Console) Say(change func(*Model) []view.Block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := c.model.lines(change(&c.model), c.Columns())
	if c.printed && len(lines) > 0 && lines[0] != "" {
		c.print([]string{""})
	}
	c.printed = c.printed && len(lines) == 0
	c.print(lines)
	c.wait()
}

// wait waits as Print does. The lock is held.
func (c *Console) wait() {
	waits := func() bool {
		return c.pending > maxPending && !c.ended && !c.cancelled && !c.stalled && !c.holds && !c.model.whole()
	}
	if !waits() {
		return
	}
	stall := time.AfterFunc(c.stallTime, func() {
		c.mu.Lock()
		c.stalled = c.stalled || waits()
		c.mu.Unlock()
		c.drawn.Broadcast()
	})
	defer stall.Stop()
	for waits() {
		notify(c.redraw)
		c.drawn.Wait()
	}
}

func (c *Console) print(lines []string) {
	if c.pending > maxKept {
		c.dropped += len(lines)
		return
	}
	if c.holds {
		c.waiting = append(c.waiting, lines...)
	} else {
		c.done = append(c.done, lines...)
	}
	for _, line := range lines {
		c.pending += len(line)
	}
	notify(c.redraw)
}

// Hold makes what others print wait until end is called: a question of an agent, which print prints, and its answers
// stay together. Nothing blocks meanwhile.
func (c *Console) Hold() (print func(lines ...string), end func()) {
	c.mu.Lock()
	c.holds = true
	c.mu.Unlock()
	print = func(lines ...string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.done, c.printed = append(c.done, lines...), true
		notify(c.redraw)
	}
	return print, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.done, c.waiting, c.holds = append(c.done, c.waiting...), nil, false
		notify(c.redraw)
	}
}

// Write prints whole lines, and keeps the rest until its newline.
func (c *Console) Write(p []byte) (int, error) {
	c.mu.Lock()
	text, _ := tty.EscapeControls(p)
	lines := strings.Split(c.line+string(text), "\n")
	c.line = lines[len(lines)-1]
	c.mu.Unlock()
	c.Print(lines[:len(lines)-1]...)
	return len(p), nil
}

// Clear makes the screen empty. What was on it is in the scrollback.
func (c *Console) Clear() { c.draw(c.screen.Clear) }

// draw runs a function on the goroutine that draws, and returns when it has run.
func (c *Console) draw(do func()) {
	done := make(chan struct{})
	select {
	case c.tasks <- func() { do(); close(done) }:
	case <-c.stop:
		return
	}
	select {
	case <-done:
	case <-c.stopped:
	}
}

// Next waits for a line. While it does, the prompt says who is next; without a prompt, the line is the answer to a
// question, which Escape and Ctrl+C answer with an empty line.
func (c *Console) Next(prompt string, quit <-chan struct{}) (tty.Line, error) {
	defer c.Change(func(m *Model) { m.Prompt, m.asks, m.sends = "", false, false })
	for {
		c.mu.Lock()
		over, asks := c.ended, prompt == ""
		// An answer is typed here.
		i := slices.IndexFunc(c.model.Queued, func(l tty.Line) bool { return !asks || l.Device == "" })
		var line tty.Line
		switch {
		case i >= 0:
			line = c.model.Queued[i]
			c.model.Queued = slices.Delete(c.model.Queued, i, i+1)
		case !over:
			c.model.Prompt, c.model.asks = prompt, asks
		}
		c.mu.Unlock()
		notify(c.drawNow)
		switch {
		case line.Text == endOfInput, i < 0 && over:
			return tty.Line{}, errInterrupted
		case i >= 0:
			c.echo(prompt, line.Text)
			return line, nil
		}
		select {
		case <-c.entered:
		case <-quit:
			return tty.Line{}, errInterrupted
		}
	}
}

// Queued returns what was entered while agents speak.
func (c *Console) Queued() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.model.queued()
}

// echo prints the answer to a question. The transcript has the messages, and Echo prints commands.
func (c *Console) echo(prompt, entered string) {
	if prompt == "" && strings.TrimSpace(entered) != "" {
		c.Echo(entered)
	}
}

// Echo prints what was entered.
func (c *Console) Echo(entered string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.print([]string{"", c.model.styled(dim, busyPrompt+tty.SafeLine(entered))})
}

// Watch calls onEscape when Escape, if Status has it, or Ctrl+C is pressed, and onInterrupt when Ctrl+C is pressed once
// more. onEscape gets the id of the member whose turn is to be cancelled, and "" for all. It answers commands that only
// look, and gives what is entered to steer, one after another. All this ends when stop is called. What steer does not
// take, as it returns false, waits for Next.
func (c *Console) Watch(onEscape func(member string), onInterrupt func(), steer func(tty.Line) bool) (stop func()) {
	c.mu.Lock()
	c.escape, c.interrupt, c.steer, c.cancelled = onEscape, onInterrupt, steer, false
	c.attention.began = time.Now()
	over := c.ended
	c.mu.Unlock()
	c.setPatient(true)
	if over {
		onInterrupt()
	}
	return func() {
		c.mu.Lock()
		c.escape, c.interrupt, c.steer = nil, nil, nil
		if time.Since(c.attention.began) > longTurn {
			c.attention.ask(textTurnEnded)
		}
		c.attention.worked = true
		c.mu.Unlock()
		notify(c.redraw)
		c.setPatient(false)
		c.running.Wait()
		c.mu.Lock()
		c.cancelled = false
		c.mu.Unlock()
	}
}

// setPatient is for a turn, which Escape cancels. A console that reads nothing has no terminal.
func (c *Console) setPatient(patient bool) {
	if c.terminal != nil {
		c.terminal.SetPatient(patient)
	}
}

// Ask shows a question and waits for the answer: a key, and after it its text. The answer is "" if quit is closed or
// the input has ended.
func (c *Console) Ask(q Question, quit <-chan struct{}) string {
	c.mu.Lock()
	q.unseen = q.Choices != nil
	q.Waits = !c.model.Editor.Empty()
	over := c.ended
	select {
	case <-c.answers: // of a question that was withdrawn
	default:
	}
	if !over {
		c.model.Question = &q
	}
	if q.Asks != "" {
		c.attention.ask(q.Asks)
	}
	c.mu.Unlock()
	if over {
		return ""
	}
	notify(c.redraw)
	defer c.Change(func(m *Model) {
		if m.Question == &q {
			m.endTyped()
			m.Question = nil
		}
	})
	select {
	case answer := <-c.answers:
		return answer
	case <-quit:
		return ""
	}
}

// ReadKey waits for a key. One that types no character is utf8.RuneError.
func (c *Console) ReadKey(quit <-chan struct{}) (rune, error) {
	for _, key := range c.Ask(Question{}, quit) {
		return key, nil
	}
	return 0, errInterrupted
}
