package tty

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

func TestAnswersAreTrimmedLines(t *testing.T) {
	answers := NewAnswers(strings.NewReader("yes\n no \r\n\nlast"))
	for _, want := range []string{"yes", "no", "", "last"} {
		if got, err := answers.Next(); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if got, err := answers.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %q, %v", got, err)
	}
}

// endless is a line without an end, such as /dev/zero.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

func TestAnswersAreLimited(t *testing.T) {
	longest := strings.Repeat("x", maxAnswer-1)
	for input, want := range map[string]string{
		longest + "\n": longest, longest + "y": longest + "y", // a last line has no newline
		longest + "y\n": "", longest + "yy": "", longest + "yyy\n": "",
	} {
		got, err := NewAnswers(strings.NewReader(input)).Next()
		if got != want || (err == nil) != (want != "") {
			t.Errorf("of %d bytes: %d, %v", len(input), len(got), err)
		}
	}
	line := &endless{}
	if got, err := NewAnswers(line).Next(); err == nil || !strings.Contains(err.Error(), "longer than 16384 bytes") {
		t.Errorf("of an endless line: %d, %v", len(got), err)
	}
	if line.read > 100*maxAnswer {
		t.Errorf("%d bytes of an endless line were read", line.read)
	}
}

func TestNoAnswerIsReadTwice(t *testing.T) {
	answers := NewAnswers(strings.NewReader("one\ntwo"))
	var got []string
	for range 5 {
		if answer, err := answers.Next(); err == nil {
			got = append(got, answer)
		}
	}
	if !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("the answers are %q", got)
	}
}
