package teams

import (
	"fmt"
	"io"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// The texts of a question that a key answers.
const (
	textKeys     = "[Y] Run it  [N] Cancel"
	textKeyAgain = "Press Y to run it, N or Escape to cancel."
)

// ByKey returns a Loader's Ask that prints to out and reads keys. A key that cannot be read is a no.
func ByKey(out io.Writer, readKey func() (rune, error)) func(question string) (bool, error) {
	return func(question string) (bool, error) {
		fmt.Fprintf(out, "%s\n%s\n", question, textKeys)
		for {
			switch key, err := readKey(); {
			case err != nil, key == 'n', key == 'N', key == tty.KeyEscape:
				return false, nil
			case key == 'y', key == 'Y':
				return true, nil
			}
			fmt.Fprintln(out, textKeyAgain)
		}
	}
}
