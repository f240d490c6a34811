package chat

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// Lines that are entered during a turn go to steer, but for what waits for something else.
func TestPlainLinesAreSteered(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	enter := func(line string) {
		if _, err := io.WriteString(w, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	p := newPlainLines(r, asked(func(text string) {
		if text == "May I?\n" {
			go io.WriteString(w, "yes\n")
		}
	}), 100)
	steered := make(chan string)
	stop := p.Watch(nil, nil, func(line tty.Line) bool {
		steered <- line.Text
		return line.Text != "refused"
	})
	expect := func(want string) {
		if got := <-steered; got != want {
			t.Errorf("steered: %q, want %q", got, want)
		}
	}
	enter("one")
	expect("one")
	if answer, err := p.Answer("May I?\n", nil); err != nil || answer.Text != "yes" {
		t.Errorf("the answer is %q, %v", answer.Text, err)
	}
	enter("two")
	expect("two")
	enter("refused")
	expect("refused")
	enter("after it")
	enter("")
	stop()
	enter("last")
	for _, want := range []string{"refused", "after it", "", "last"} {
		if line, err := p.Next("> ", nil); err != nil || line.Text != want {
			t.Errorf("the next line is %q, %v, want %q", line.Text, err, want)
		}
	}
}

// Ctrl+C cancels a turn once, and leaves if it is pressed again: soon, without a turn.
func TestCtrlCOfPlainLines(t *testing.T) {
	var shown strings.Builder
	p := newPlainLines(strings.NewReader(""), &shown, 100)
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	cancels := 0
	stop := p.Watch(func(string) { cancels++ }, nil, nil)
	if !p.Interrupt(noon) || cancels != 1 {
		t.Errorf("in a turn: %d cancels", cancels)
	}
	if p.Interrupt(noon.Add(time.Hour)) || cancels != 1 {
		t.Error("in a turn that does not end, the second one does not leave")
	}
	stop()
	for _, late := range []time.Duration{0, leaveTime, 3 * leaveTime} {
		if !p.Interrupt(noon.Add(late)) {
			t.Errorf("after %v it leaves", late)
		}
	}
	if p.Interrupt(noon.Add(4*leaveTime - 1)) {
		t.Error("the second one does not leave")
	}
	if got := strings.Count(shown.String(), textLeaves); got != 3 || cancels != 1 {
		t.Errorf("it asks %d times, and cancels %d turns", got, cancels)
	}
}
