//go:build unix

package ttytest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

// session is the name of the session that has the terminal.
const session = "terminal"

// control is a client of tmux in control mode. It takes commands as lines, so that a test that waits starts no program
// for each look at the screen. It is in a session of its own: programs notice a client of theirs, which has the focus.
type control struct {
	in  io.Writer
	out *bufio.Reader
}

// attach starts a client of a server, with which it ends.
func attach(socket string) (*control, error) {
	client := exec.Command("tmux", "-N", "-S", socket, "-C", "new-session", "-f", "no-output", "cat")
	in, err := client.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := client.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := client.Start(); err != nil {
		return nil, err
	}
	return &control{in, bufio.NewReader(out)}, nil
}

// quoted replaces what a string in single quotes cannot have in a line of control mode.
var quoted = strings.NewReplacer("'", `'\''`, "\n", `'\n'`)

// forTerminal are the commands that are for the terminal.
var forTerminal = []string{"capture-pane", "display-message", "paste-buffer", "resize-window", "send-keys"}

// run runs a command and returns its output, each line of which ends with a newline.
func (c *control) run(name string, args ...string) (string, error) {
	line := name
	if slices.Contains(forTerminal, name) {
		line += " -t " + session + ":"
	}
	for _, arg := range args {
		line += " '" + quoted.Replace(arg) + "'"
	}
	if _, err := fmt.Fprintln(c.in, line); err != nil {
		return "", err
	}
	return c.reply()
}

// reply reads the output of a command. It is between the lines "%begin ID 1" and "%end ID 1", or "%error ID 1" if the
// command failed; where ID has two numbers. Other lines are notifications, and the reply to new-session.
func (c *control) reply() (string, error) {
	var id string
	var text strings.Builder
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("the client of tmux has ended: %w", err)
		}
		switch {
		case id == "":
			if begun, ok := strings.CutPrefix(line, "%begin "); ok && strings.HasSuffix(line, " 1\n") {
				id = begun
			}
		case line == "%end "+id:
			return text.String(), nil
		case line == "%error "+id:
			return "", errors.New(strings.TrimSpace(text.String()))
		default:
			text.WriteString(line)
		}
	}
}
