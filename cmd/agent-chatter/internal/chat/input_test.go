package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// FuzzParseLine checks that a line of JSON input is a message with exactly its content,
// blank, or rejected with a text that is safe for a terminal.
func FuzzParseLine(f *testing.F) {
	for _, seed := range []string{
		"", " \t", "hello", "null", "[]", "\x1b[31m{\"content\"", "\xef\xbb\xbf{\"content\":\"x\"}",
		`{"content":"hello"}`, `{"content":"a\nb","from":"ann"}`, `{"from":"ann"}`,
		`{"content":""}`, `{"content":1}`, `{"content":null}`, `{"content":"x`,
		`{"CONTENT":"x"}`, `{"content":"x","later":1}`, `{"content":"x","content":"y"}`,
		"{\"content\":\"x\"} \t", `{"content":"x"} y`,
		`{"content":"x"}{"content":"y"}`, // the second message must not be lost
		`{"content":"\ud800"}`, "{\"content\":\"\xff\"}",
		`{"content":` + strings.Repeat("[", 3000),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parseLine(text)
		var want struct {
			Content *string `json:"content"`
			From    string  `json:"from"`
		}
		jsonErr := json.Unmarshal([]byte(text), &want)
		switch {
		case strings.TrimSpace(text) == "":
			if l != (tty.Line{}) || err != nil {
				t.Errorf("a blank line is parsed as %+v, %v", l, err)
			}
		case err != nil:
			if !errors.Is(err, errNotMessage) {
				t.Errorf("%q: %v", text, err)
			}
			if r, found := apptest.Acting(err.Error()); found {
				t.Errorf("%q: the error contains %U", text, r)
			}
		case jsonErr != nil || want.Content == nil || *want.Content != l.Text || want.From != l.From || !l.Message:
			t.Errorf("%q is parsed as %+v (%v)", text, l, jsonErr)
		}
	})
}

func TestInputLineMemoryIsLimited(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{"hello\nagain\n", "hello 6|again 6|"},
		{"no end", "no end 6|"},
		{"\n\n", " 1| 1|"},
		{"", ""},
		{"12345678\nshort", "12345678 9|short 5|"},
		{"123456789", "123456789 9|"},
		{"123456789\nshort\n", " 10|short 6|"},
		{"1234567890", " 10|"},
		{strings.Repeat("x", 10_000) + "\nshort\n", " 10001|short 6|"},
		{strings.Repeat("x", 10_000), " 10000|"},
	} {
		r := lines.NewReader(strings.NewReader(c.input), 9)
		var got strings.Builder
		for {
			line, err := readLine(r)
			if line.bytes > 0 {
				fmt.Fprintf(&got, "%s %d|", line.text, line.bytes)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if got.String() != c.want {
			t.Errorf("%.20q is read as %q, want %q", c.input, got.String(), c.want)
		}
	}
}

// terminal is a user who enters a line, another one when a question is printed, and then waits.
type terminal struct {
	reads int
	ahead chan struct{} // closed when the first line was read
	asked chan struct{} // closed when the question is printed
}

func (t *terminal) Read(p []byte) (int, error) {
	t.reads++
	switch t.reads {
	case 1:
		return copy(p, "yes\n"), nil
	case 2:
		close(t.ahead)
		<-t.asked
		return copy(p, "no\n"), nil
	}
	return 0, io.EOF
}

func (t *terminal) Write(p []byte) (int, error) {
	if string(p) == "May I?\n" {
		close(t.asked)
	}
	return len(p), nil
}

func TestLineBeforeAQuestionIsNoAnswer(t *testing.T) {
	user := &terminal{ahead: make(chan struct{}), asked: make(chan struct{})}
	p := newPlainLines(user, user, 100)
	<-user.ahead
	if answer, err := p.Answer("May I?\n", nil); err != nil || answer.Text != "no" {
		t.Errorf("the answer is %q, %v", answer.Text, err)
	}
	if line, err := p.Next("> ", nil); err != nil || line.Text != "yes" {
		t.Errorf("the next line is %q, %v", line.Text, err)
	}
	if _, err := p.Next("> ", nil); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

// asked is called with what is printed.
type asked func(text string)

func (a asked) Write(p []byte) (int, error) { a(string(p)); return len(p), nil }

func TestManyLinesBeforeAQuestionAreNoAnswer(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	p := newPlainLines(r, asked(func(text string) {
		if text == "May I?\n" {
			go io.WriteString(w, "no\n")
		}
	}), 100)
	for range 2000 {
		if _, err := io.WriteString(w, "yes\n"); err != nil {
			t.Fatal(err)
		}
	}
	for p.mu.Lock(); len(p.entered) < 2000; p.mu.Lock() {
		p.mu.Unlock()
		<-p.changed
	}
	p.mu.Unlock()
	if answer, err := p.Answer("May I?\n", nil); err != nil || answer.Text != "no" {
		t.Errorf("the answer is %q, %v", answer.Text, err)
	}
	for i := range 2000 {
		if line, err := p.Next("> ", nil); err != nil || line.Text != "yes" {
			t.Fatalf("line %d is %q, %v", i, line.Text, err)
		}
	}
	if p.bytes != 0 {
		t.Errorf("%d bytes remain", p.bytes)
	}
}

func TestTooMuchInputAheadIsReported(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	p := newPlainLines(r, io.Discard, 100)
	long := strings.Repeat("y", 99) + "\n"
	fit := maxEntered / (len(long) + lineOverhead)
	for range fit + 3 {
		if _, err := io.WriteString(w, long); err != nil {
			t.Fatal(err)
		}
	}
	for p.mu.Lock(); p.dropped < 3*len(long); p.mu.Lock() {
		p.mu.Unlock()
		<-p.changed
	}
	p.mu.Unlock()
	if line, err := p.Answer("May I?\n", nil); !errors.Is(err, errDropped) {
		t.Errorf("the answer is %q, %v", line.Text, err)
	}
	for i := range fit {
		if line, err := p.Next("> ", nil); err != nil || line.Text+"\n" != long {
			t.Fatalf("line %d is %q, %v", i, line.Text, err)
		}
	}
	if line, err := p.Next("> ", nil); !errors.Is(err, errDropped) || !strings.HasSuffix(err.Error(), "the last 300 bytes were dropped") {
		t.Errorf("after the dropped lines: %q, %v", line.Text, err)
	}
	go io.WriteString(w, "again\n")
	if line, err := p.Next("> ", nil); err != nil || line.Text != "again" {
		t.Errorf("the next line is %q, %v", line.Text, err)
	}
}

func TestContinuedLineAtTheEndIsKept(t *testing.T) {
	p := newPlainLines(strings.NewReader("one\\\ntwo\\\n"), io.Discard, 100)
	if line, err := p.Next("> ", nil); err != nil || line.Text != "one\ntwo" {
		t.Errorf("the line is %q, %v", line.Text, err)
	}
	if line, err := p.Next("> ", nil); err != io.EOF {
		t.Errorf("at the end: %q, %v", line.Text, err)
	}
}

func TestErrorQuotesWholeCharacters(t *testing.T) {
	p := newPipeLines(strings.NewReader(strings.Repeat("a", 59)+"é\n"), true, 100)
	if _, err := p.Next("", nil); !errors.Is(err, errNotMessage) || !strings.HasPrefix(err.Error(), strings.Repeat("a", 59)+": ") {
		t.Error(err)
	}
}

func TestQuitEndsTheInput(t *testing.T) {
	quit := make(chan struct{})
	close(quit)
	flags := &flagLines{Rest: []string{"one"}}
	waits, w := io.Pipe() // a reader that has no line
	defer w.Close()
	for name, source := range map[string]lineSource{
		"flags": flags, "a pipe": newPipeLines(waits, false, 100), "a terminal": newPlainLines(strings.NewReader("one\n"), io.Discard, 100),
	} {
		if line, err := source.Next("> ", quit); err != tty.ErrInterrupted || line != (tty.Line{}) {
			t.Errorf("%s: %+v, %v", name, line, err)
		}
		source.Watch(nil, nil, nil)()
	}
	for _, want := range []error{nil, io.EOF} {
		if line, err := flags.Next("", nil); err != want || (line.Text == "one") != (err == nil) {
			t.Errorf("after it: %+v, %v", line, err)
		}
	}
}
