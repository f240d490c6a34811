package console

import (
	"io"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
)

// A Surface is where a conversation is shown.
type Surface interface {
	// Say changes the Model and prints the blocks that the function returns.
	Say(change func(*Model) []view.Block)
}

// Stream returns a change for Say: a turn streams text.
func Stream(turnID, text string) func(*Model) []view.Block {
	return func(m *Model) []view.Block {
		if m.Transcript == nil {
			return nil
		}
		return m.Transcript.Stream(turnID, text)
	}
}

// A Printer prints a conversation line by line, without a live region.
type Printer struct {
	Out       io.Writer
	Model     Model
	Cancelled func() bool // whether the rest of a long text is left out; nil: never

	mu      sync.Mutex
	holds   bool // by Hold
	waiting []string
}

// printedAtOnce is about how many bytes a Printer prints before the next call of Cancelled.
const printedAtOnce = 64 << 10

// Say implements Surface.
func (p *Printer) Say(change func(*Model) []view.Block) {
	lines := p.Model.lines(change(&p.Model), tty.Columns(p.Out))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holds {
		p.waiting = append(p.waiting, lines...)
		return
	}
	p.print(lines)
}

// Hold makes what is said wait until end is called: it must not be taken for a part of a question. It may be called by
// any goroutine.
func (p *Printer) Hold() (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holds = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.print(p.waiting)
		p.waiting, p.holds = nil, false
	}
}

func (p *Printer) print(lines []string) {
	var b strings.Builder
	for i, line := range lines {
		b.WriteString(line + "\n")
		if b.Len() < printedAtOnce && i < len(lines)-1 {
			continue
		}
		_, _ = io.WriteString(p.Out, b.String()) // standard output keeps its error
		b.Reset()
		if p.Cancelled != nil && p.Cancelled() {
			return
		}
	}
}
