package chat

import (
	"io"
	"testing"
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
	stop := p.Watch(nil, nil, func(text string) bool {
		steered <- text
		return text != "refused"
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
