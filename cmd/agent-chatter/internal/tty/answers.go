package tty

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// maxAnswer is the maximum length of an answer to a question, in bytes.
const maxAnswer = 16 << 10

// Answers reads the user's answers to questions, one per line. It reads ahead, so
// nothing else may read the input.
type Answers struct{ lines *lines.Reader }

// NewAnswers returns the answers in r.
func NewAnswers(r io.Reader) *Answers { return &Answers{lines.NewReader(r, maxAnswer)} }

// Next returns the next line without spaces around it. The last line needs no newline.
// Next returns io.EOF at the end of the input, and another error for a line that is too long.
func (a *Answers) Next() (string, error) {
	line, err := a.lines.Next()
	switch {
	case errors.Is(err, lines.ErrTooLong):
		return "", fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	case err == io.EOF && len(a.lines.Rest()) > 0: // a last line without a newline
		last := strings.TrimSpace(string(a.lines.Rest()))
		a.lines = lines.NewReader(strings.NewReader(""), maxAnswer)
		return last, nil
	case err != nil:
		return "", err
	}
	return strings.TrimSpace(string(line)), nil
}
