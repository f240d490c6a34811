package console

import (
	"strings"
	"sync"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
)

// out records what a Printer writes.
type out struct {
	text   string
	writes int
}

func (o *out) Write(p []byte) (int, error) {
	o.text += string(p)
	o.writes++
	return len(p), nil
}

// saying returns the blocks of a message of an agent.
func saying(content string) func(*Model) []view.Block {
	return func(m *Model) []view.Block {
		return m.Transcript.Message(projection.Message{
			Speaker: projection.Speaker{ID: "ada", DisplayName: "Ada"}, Content: content,
		})
	}
}

func TestPrinterPrintsLinesAtOnce(t *testing.T) {
	o := &out{}
	p := &Printer{Out: o, Model: Model{Transcript: &view.Transcript{}, Style: view.Style{Plain: true}, Mark: "> "}}
	p.Say(saying("one\n\ntwo"))
	if o.text != "> Ada: one\n>\n> two\n" || o.writes != 1 {
		t.Errorf("it prints %q in %d writes", o.text, o.writes)
	}
}

func TestPrinterLeavesOutTheRestAfterCancellation(t *testing.T) {
	o := &out{}
	p := &Printer{
		Out: o, Model: Model{Transcript: &view.Transcript{}, Style: view.Style{Plain: true}},
		Cancelled: func() bool { return len(o.text) > 0 },
	}
	long := strings.Repeat("a line\n", printedAtOnce)
	if p.Say(saying(long)); len(o.text) > 2*printedAtOnce {
		t.Errorf("of %d bytes %d are printed after the cancellation", len(long), len(o.text))
	}
}

// newConsole returns a Console without a terminal.
func newConsole() *Console {
	c := &Console{
		entered: make(chan struct{}, 1), answers: make(chan string, 1), redraw: make(chan struct{}, 1),
		drawNow: make(chan struct{}, 1),
	}
	c.drawn, c.steered = sync.NewCond(&c.mu), sync.NewCond(&c.mu)
	return c
}

func TestTypedKeysAreHandledTogether(t *testing.T) {
	for _, tt := range []struct {
		name     string
		question bool
		after    []tty.Event // after the key a
		text     string
		queued   string
		left     int // events
	}{
		{"one key", false, nil, "a", "", 0},
		{"text", false, []tty.Event{key('b', 0), key('c', 0)}, "abc", "", 0},
		{"text before Enter", false, []tty.Event{key('b', 0), key(tty.Enter, 0), key('c', 0)}, "", "ab", 1},
		{"text before a paste", false, []tty.Event{tty.Paste{Text: "b"}, key('c', 0)}, "ab", "", 1},
		{"an answer", true, []tty.Event{key('b', 0)}, "a", "", 1},
	} {
		c := newConsole()
		if tt.question {
			c.model.Question = &Question{Choices: []KeyChoice{{Key: 'a'}}}
		}
		events := make(chan tty.Event, 3)
		for _, e := range tt.after {
			events <- e
		}
		c.handle(key('a', 0), events)
		if queued := texts(c.model.Queued, " "); c.model.Editor.Text() != tt.text || queued != tt.queued || len(events) != tt.left {
			t.Errorf("%s: the text is %q, queued is %q, %d events are left", tt.name, c.model.Editor.Text(), queued, len(events))
		}
		if len(c.drawNow) != 1 || len(c.entered) != strings.Count(tt.queued, "ab") {
			t.Errorf("%s: not drawn at once, or the reader is not notified", tt.name)
		}
	}
}

func TestEscapeInterrupts(t *testing.T) {
	for _, tt := range []struct {
		name               string
		watched, permitted bool
		interrupts         bool
	}{
		{"a turn", true, true, true}, {"a turn that only Ctrl+C interrupts", true, false, false}, {"no turn", false, true, false},
	} {
		c, interrupts := newConsole(), 0
		if tt.watched {
			c.escape = func(string) { interrupts++ }
		}
		c.model.Status.Escape = tt.permitted
		c.model.Queued = typed("queued")
		c.update(key(tty.Escape, 0))
		want := ""
		if tt.interrupts {
			want = "queued"
		}
		if (interrupts == 1) != tt.interrupts || c.cancelled != tt.interrupts || c.model.Editor.Text() != want ||
			(len(c.model.Queued) == 0) != tt.interrupts {
			t.Errorf("%s: %d interrupts, input %q, queued %q", tt.name, interrupts, c.model.Editor.Text(), c.model.queued())
		}
	}
}

func TestEscapeAnswersWithoutATurn(t *testing.T) {
	c := newConsole()
	c.model.Question = &Question{}
	c.choose(string(rune(tty.KeyEscape)))
	if len(c.answers) != 1 || c.model.Question != nil {
		t.Error("Escape is no answer")
	}
	c, interrupts := newConsole(), 0
	c.model.Question, c.escape, c.model.Status.Escape = &Question{}, func(string) { interrupts++ }, true
	c.choose(string(rune(tty.KeyEscape)))
	if len(c.answers) != 0 || interrupts != 1 || c.model.Question == nil {
		t.Error("Escape does not only interrupt the turn")
	}
}

func TestEndOfInput(t *testing.T) {
	c, interrupts := newConsole(), 0
	c.interrupt = func() { interrupts++ }
	c.end()
	if !c.ended || interrupts != 1 || len(c.entered) != 1 || <-c.answers != "" {
		t.Errorf("over: %v, %d interrupts", c.ended, interrupts)
	}
	if answer := c.Ask(Question{}, nil); answer != "" || c.model.Question != nil {
		t.Errorf("after it, a question is answered with %q", answer)
	}
	c.Watch(nil, func() { interrupts++ }, nil)()
	if interrupts != 2 {
		t.Error("after it, what is watched is not interrupted")
	}
}

func TestReadOnlyCommands(t *testing.T) {
	for _, watched := range []bool{false, true} {
		c, looked := newConsole(), ""
		c.o.ReadOnly = func(text string) bool { return text == "/status" }
		c.o.Run = func(text string) { looked = text }
		if watched {
			c.escape = func(string) {}
		}
		c.enter(tty.Line{Text: "hello"})
		c.enter(tty.Line{Text: "/status"})
		c.running.Wait()
		if queued := texts(c.model.Queued, " "); watched && (looked != "/status" || queued != "hello") ||
			!watched && (looked != "" || queued != "hello /status") || printed(c) != "" {
			t.Errorf("watched: %v; it looks with %q, queued is %q", watched, looked, queued)
		}
	}
}

func TestEndOfReasonKeepsText(t *testing.T) {
	m := newModel()
	m.Editor.Set("text")
	m.endTyped()
	m.Question = &Question{before: "before"}
	if m.endTyped(); m.Editor.Text() != "text" {
		t.Errorf("without a reason, the text is %q", m.Editor.Text())
	}
	m.Question.typed = &KeyChoice{}
	if m.endTyped(); m.Editor.Text() != "before" || m.Question.typed != nil {
		t.Errorf("after a reason, the text is %q", m.Editor.Text())
	}
}
